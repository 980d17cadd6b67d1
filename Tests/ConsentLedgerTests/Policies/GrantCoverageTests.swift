// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import ConsentLedger

@Suite("Requests covered by an `always` grant")
struct GrantCoverageTests {
  private func covers(
    _ granted: ConsentSubject, _ asked: ConsentSubject,
    by requester: ConsentRequester = .phone, of owner: ConsentRequester = .phone
  ) -> Bool {
    GrantCoverage.covers(
      ConsentGrant(
        id: .make(.grant), requester: owner, subject: granted, created: 0, grantedBy: "x"),
      ConsentRequest(asked, by: requester, reply: .socket))
  }

  @Test("A grant covers the same request, not the same network id with another name or team")
  func same() {
    #expect(covers(.preferred, .preferred))
    let id = ConsentNetwork.home.id
    let name = ConsentNetwork.home.name
    for other in [
      ConsentNetwork(id: id, name: "renamed", keyFingerprint: "5ca1ab1e"),
      ConsentNetwork(id: id, name: name, team: "evil", keyFingerprint: "5ca1ab1e"),
    ] {
      #expect(!covers(.preferred, .subject("preferred/get", other)))
      #expect(!covers(.subject("preferred/get", other), .preferred))
    }
    let composed = ConsentNetwork(id: id, name: name, team: "jos\u{E9}", keyFingerprint: "5")
    let decomposed = ConsentNetwork(id: id, name: name, team: "jose\u{301}", keyFingerprint: "5")
    #expect(!covers(.subject("network/get", composed), .subject("network/get", decomposed)))
  }

  @Test("A grant does not cover another command, home or network")
  func otherSubject() {
    #expect(!covers(.preferred, .subject("network/get", .home)))
    #expect(!covers(.preferred, .subject("preferred/get", home: "cabin", .home)))
    #expect(!covers(.preferred, .subject("preferred/get", .guest)))
    let namesake = ConsentNetwork.sample("3333333344444444", ConsentNetwork.home.name)
    #expect(!covers(.preferred, .subject("preferred/get", namesake)))
  }

  @Test(
    "A grant does not cover another network key, and a grant without a key covers nothing")
  func otherKey() {
    let changed = ConsentSubject.subject(
      "preferred/get", .sample("1111111122222222", "home-thread", key: "0ddba11"))
    let unbound = ConsentSubject.subject(
      "preferred/get", .sample("1111111122222222", "home-thread", key: nil))
    #expect(!covers(.preferred, changed) && !covers(changed, .preferred))
    #expect(!covers(unbound, .preferred), "a grant of an earlier version")
    #expect(!covers(unbound, unbound), "a request without a key")
    for outdated in [changed, unbound] {
      #expect(isOutdated(outdated, .preferred))
      #expect(!isOutdated(outdated, .subject("preferred/get", .guest)))
    }
    #expect(!isOutdated(.preferred, .preferred))
  }

  private func isOutdated(_ granted: ConsentSubject, _ asked: ConsentSubject) -> Bool {
    GrantCoverage.isOutdated(
      ConsentGrant(
        id: .make(.grant), requester: .phone, subject: granted, created: 0, grantedBy: "x"),
      for: ConsentRequest(asked, by: .phone, reply: .socket))
  }

  @Test("A grant covers some of its networks, but not more networks or none")
  func several() {
    let both = ConsentSubject.subject("networks/nearby", .home, .guest)
    #expect(covers(both, .subject("networks/nearby", .guest)))
    #expect(covers(both, .subject("networks/nearby", .guest, .home)))
    #expect(!covers(.subject("networks/nearby", .guest), both))
    #expect(!covers(both, .subject("networks/nearby")), "nothing")
  }

  @Test("A grant does not cover another login, system user, team or key fingerprint")
  func otherRequester() {
    #expect(!covers(.preferred, .preferred, by: .tablet))
    #expect(!covers(.preferred, .preferred, by: .app))
    #expect(
      !covers(.preferred, .preferred, by: ConsentRequester(.mqttUser("phone"), team: "other")))
    #expect(
      !covers(
        .preferred, .preferred, by: ConsentRequester(.mqttUser("jose\u{301}"), team: "t"),
        of: ConsentRequester(.mqttUser("jos\u{E9}"), team: "t")))
    func phone(_ fingerprint: String?) -> ConsentRequester {
      ConsentRequester(.mqttUser("phone"), team: "phone", fingerprint: fingerprint)
    }
    #expect(covers(.preferred, .preferred, by: phone("3f2a"), of: phone("3f2a")))
    #expect(!covers(.preferred, .preferred, by: phone("91c0"), of: phone("3f2a")))
    #expect(!covers(.preferred, .preferred, by: phone("91c0"), of: phone(nil)))
    #expect(!covers(.preferred, .preferred, by: phone(nil), of: phone("3f2a")))
    let other = ConsentRequester(.systemUser(1000), team: "user/uid-1000", program: "other")
    #expect(
      covers(.preferred, .preferred, by: other, of: .app), "a program's name is not checked")
  }
}

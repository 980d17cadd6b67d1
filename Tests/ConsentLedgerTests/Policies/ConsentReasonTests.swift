// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import ConsentLedger

@Suite("Reason of a consent request")
struct ConsentReasonTests {
  @Test("The reason names the requester, the network and the consequence")
  func oneNetwork() {
    #expect(
      ConsentReason.sentence(requester: .phone, subject: .preferred)
        == #"login phone (team phone) would get the network key of "home-thread" (1111111122222222): "#
        + "with it,"
        + " devices can be put onto the network and what is said on it can be read, also after"
        + " the consent is taken back")
  }

  @Test("The reason names the home when there are several")
  func severalHomes() {
    let sentence = ConsentReason.sentence(
      requester: .phone, subject: .preferred, namingHome: true)
    #expect(
      sentence.hasPrefix(
        #"login phone (team phone) would get the network key of "home-thread" (1111111122222222), home"#
          + " \(ConsentSubject.preferred.home): with it,"))
  }

  @Test("The reason names the first five of many networks and counts the others")
  func manyNetworks() {
    let networks = (0..<9).map { ConsentNetwork.sample("000000000000000\($0)", "n\($0)") }
    let subject = ConsentSubject(home: "home", command: "networks/nearby", networks: networks)
    let sentence = ConsentReason.sentence(requester: .app, subject: subject)
    #expect(
      sentence.hasPrefix(
        #"uid 1000 (team user/uid-1000), program calls itself "homes" would get the network keys of "#
          + #"9 networks: "n0" (0000000000000000), "#))
    #expect(sentence.contains(#""n4" (0000000000000004) and 4 more:"#))
  }
}

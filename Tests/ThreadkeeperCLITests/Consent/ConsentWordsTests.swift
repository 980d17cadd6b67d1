// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import ThreadkeeperCLI
@testable import ThreadkeeperDaemon

@Suite("What the commands about consent say to who decides")
struct ConsentWordsTests {
  private static let grant = "g-0123456789abcdef"
  private static let hungUp = ConsentReport.Obstacle(
    code: "hung_up", message: "who asked has hung up")
  private static let changed = ConsentReport.Obstacle(
    code: "changed", message: "what was asked for has changed")
  private static let attic = ConsentReport.Router(
    agent: "deadbeefcafe0042", name: "Attic", networkName: "guest-thread")

  /// What the daemon tells of an approval: one that has given something, unless there is an obstacle.
  private func approval(
    _ command: String, of router: ConsentReport.Router? = nil,
    _ obstacle: ConsentReport.Obstacle? = nil, grant: String? = nil
  ) -> ConsentReport.Decision {
    ConsentReport.Decision(
      request: .init(
        id: "c-\(String(UInt64.random(in: 1 << 60 ... .max), radix: 16))",
        requester: "login anna (team a)", team: "a", home: "home", command: command,
        networks: [.init(id: "1111111122222222", name: "home-thread", team: nil)], router: router,
        createdAt: "2026-11-21T04:36:00Z"),
      more: .init(
        outcome: "approved", decidedAt: "2026-11-21T04:37:00Z", decidedBy: "uid 0 (command line)",
        scope: grant == nil ? "once" : "always", grant: grant, given: obstacle == nil ? nil : false,
        notGiven: obstacle))
  }

  @Test("Who approves hears why nothing is given: of a router it has changed, nobody has hung up")
  func notGivenWords() {
    let hungUp = ConsentApproveCommand.text(approval("preferred/get", Self.hungUp))
    #expect(hungUp == "login anna (team a) has hung up: nothing is given. It has to ask again.\n")
    let other = ConsentReport.Obstacle(code: "not_found", message: "there is no\npreferred network")
    let text = ConsentApproveCommand.text(approval("preferred/get", other))
    #expect(
      text
        == "Nothing is given to login anna (team a). It is told why: there is no\\u{a}preferred network.\n"
    )
    let always = ConsentApproveCommand.text(
      approval("preferred/get", other, grant: Self.grant))
    #expect(always.contains(#"It gets "home-thread" (1111111122222222) the next times."#))
    #expect(always.hasSuffix("threadkeeper consent revoke \(Self.grant)\n"))
    for command in ["dataset/set", "dataset/renew"] {
      let text = ConsentApproveCommand.text(approval(command, of: Self.attic, Self.changed))
      #expect(text.contains("what was asked for has changed") && !text.contains("hung up"))
    }
  }

  @Test("Who approves hears which router gets it, and that a grant is for all of them")
  func approved() {
    let once = ConsentApproveCommand.text(
      approval("dataset/set", of: Self.attic))
    #expect(
      once
        == #"login anna (team a) is sent "home-thread" (1111111122222222) for deadbeefcafe0042 "Attic", "#
        + "this once, as soon as the daemon is connected to the broker.\n")
    let always = ConsentApproveCommand.text(
      approval("dataset/set", of: Self.attic, grant: Self.grant))
    #expect(
      always.contains(#"deadbeefcafe0042 "Attic", and from now on for all routers of its own"#))
    let own = ConsentApproveCommand.text(approval("preferred/get"))
    #expect(own == #"login anna (team a) gets "home-thread" (1111111122222222), this once."# + "\n")
  }

  @Test(
    "Who approves or is asked about credentials that somebody offers hears that nobody is given any"
  )
  func offered() {
    let used = ConsentApproveCommand.text(approval("credentials/accept"))
    #expect(
      used
        == #"The credentials of "home-thread" (1111111122222222) that login anna (team a) has are used "#
        + "from now on.\n")
    let changed = ConsentApproveCommand.text(approval("credentials/accept", Self.changed))
    #expect(changed.hasSuffix("has are not used: what was asked for has changed.\n"))
    var request = approval("credentials/accept").request
    request.fingerprint = "0123-4567"
    let soon = ConsentReport.Pending(
      request: request, more: .init(reason: "Use them?", expiresAt: "2999-11-21T04:38:00Z"))
    let text = ConsentListCommand.text([soon])
    #expect(
      text.contains(" h\n") && !text.contains("--always") && !text.contains("0123-4567"), "\(text)")
    #expect(
      ConsentNews.asked(request, nil).text.contains(#" offers the credentials of "home-thread""#))
  }

  private func question(_ router: ConsentReport.Router) -> ConsentReport.Pending {
    let past = approval("dataset/set", of: router)
    return .init(
      request: past.request,
      more: .init(
        reason: "\(router.networkName) matters", expiresAt: "2026-11-21T04:38:00Z"))
  }

  @Test("Of two routers of one login each row, reason and line says which one it is about")
  func routers() {
    let garage = ConsentReport.Router(
      agent: "a1b2c3d4e5f60718", name: "Gar\u{1B}[2Jage", networkName: "cabin-thread")
    let both = [question(Self.attic), question(garage)]
    let names = [#"deadbeefcafe0042 "Attic""#, #"a1b2c3d4e5f60718 "Gar[2Jage""#]
    let lines = ConsentListCommand.text(both).split(separator: "\n")
    for (one, name) in zip(both, names) {
      #expect(lines.count { $0.hasPrefix("\(one.id)  ") && $0.contains(name) } == 1)
      #expect(lines.contains("\(one.id): \(one.router?.networkName ?? "") matters."))
      #expect(
        ConsentNews.asked(one.request, one.more).text.hasSuffix(
          #"wants dataset/set of "home-thread" (1111111122222222) for \#(name)"# + "\n"))
    }
    #expect(lines.contains("threadkeeper consent deny ID"), "neither is meant more than the other")
    let only = ConsentListCommand.text([both[1]])
    #expect(only.contains("threadkeeper consent deny \(both[1].id)\n"))
  }

  @Test("History and --follow name the router, and say what was not given and why")
  func past() {
    let changed = approval("dataset/set", of: Self.attic, Self.changed)
    let alone = approval("preferred/get", Self.hungUp)
    let given = approval("dataset/set", of: Self.attic)
    let rows = ConsentListCommand.text([changed, alone, given]).split(separator: "\n")
      .dropFirst()
    #expect(rows.map { $0.contains(#"deadbeefcafe0042 "Attic""#) } == [true, false, true])
    #expect(
      rows.map { $0.contains("approved once, not given: changed  ") } == [true, false, false])
    #expect(
      rows.map { $0.contains("approved once, not given: hung_up  ") } == [false, true, false])
    let ends = [changed, alone, given].map { ConsentNews.ended($0).text }
    #expect(
      ends.map { $0.split(separator: "  ").last } == [
        #"approved once by uid 0 (command line), for deadbeefcafe0042 "Attic", not given: "#
          + "what was asked for has changed\n",
        "approved once by uid 0 (command line), not given: who asked has hung up\n",
        #"approved once by uid 0 (command line), for deadbeefcafe0042 "Attic""# + "\n",
      ])
  }
}

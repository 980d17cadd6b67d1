// SPDX-License-Identifier: Apache-2.0

import Testing
import ThreadDataset

@testable import ConsentLedger
@testable import ThreadkeeperCLI
@testable import ThreadkeeperDaemon

@Suite("What the commands about consent say to who decides")
struct ConsentWordsTests {
  /// What the daemon tells of an approval; one that has given nothing, unless another is asked for.
  private func approval(
    _ command: String, of router: ConsentRouter? = nil, _ obstacle: ConsentObstacle? = nil,
    grant: ConsentID? = nil, given: Bool? = false
  ) throws -> ConsentReport.Decision {
    let network = ConsentNetwork(
      id: try #require(ExtendedPANID(hex: "1111111122222222")), name: "home-thread")
    let subject = ConsentSubject(
      home: "home", command: command, networks: [network], router: router)
    return ConsentReport.Decision(
      ConsentRecord(
        id: .make(.request), outcome: .approved,
        requester: ConsentRequester(.mqttUser("anna"), team: "a"), subject: subject, created: 1,
        decided: 2, decidedBy: "uid 0 (command line)", scope: grant == nil ? .once : .always,
        grant: grant, given: given,
        obstacle: obstacle))
  }

  private func attic() throws -> ConsentRouter {
    ConsentRouter(
      agent: try #require(BorderAgentID(hex: "deadbeefcafe0042")), name: "Attic",
      networkName: "guest-thread")
  }

  @Test("Who approves hears why nothing is given: of a router it has changed, nobody has hung up")
  func notGivenWords() throws {
    for obstacle in [nil, ConsentObstacle.hungUp] {
      let text = ConsentApproveCommand.text(try approval("preferred/get", obstacle))
      #expect(
        text == "login anna (team a) has hung up: nothing is given. It has to ask again.\n")
    }
    let other = ConsentObstacle(code: "not_found", message: "there is no\npreferred network")
    let text = ConsentApproveCommand.text(try approval("preferred/get", other))
    #expect(
      text
        == "Nothing is given to login anna (team a). It is told why: there is no\\u{a}preferred network.\n"
    )
    let grant = ConsentID.make(.grant)
    let always = ConsentApproveCommand.text(
      try approval("preferred/get", other, grant: grant))
    #expect(always.contains(#"It gets "home-thread" (1111111122222222) the next times."#))
    #expect(always.hasSuffix("threadkeeper consent revoke \(grant)\n"))
    // Also of a command that comes later.
    for command in ["dataset/set", "dataset/renew"] {
      let text = ConsentApproveCommand.text(try approval(command, of: attic()))
      #expect(text.contains("what was asked for has changed") && !text.contains("hung up"))
    }
  }

  @Test("Who approves hears which router gets it, and that a grant is for all of them")
  func approved() throws {
    let once = ConsentApproveCommand.text(
      try approval("dataset/set", of: attic(), given: nil))
    #expect(
      once
        == #"login anna (team a) is sent "home-thread" (1111111122222222) for deadbeefcafe0042 "Attic", "#
        + "this once, as soon as the daemon is connected to the broker.\n")
    let always = ConsentApproveCommand.text(
      try approval("dataset/set", of: attic(), grant: .make(.grant), given: nil))
    #expect(
      always.contains(#"deadbeefcafe0042 "Attic", and from now on for all routers of its own"#))
    let own = ConsentApproveCommand.text(try approval("preferred/get", given: nil))
    #expect(own == #"login anna (team a) gets "home-thread" (1111111122222222), this once."# + "\n")
  }

  private func question(_ router: ConsentRouter?) throws -> ConsentReport.Pending {
    let past = try approval("dataset/set", of: router)
    return .init(
      request: past.request,
      more: .init(
        reason: "\(router?.networkName ?? "it") matters", expiresAt: "2026-11-21T04:38:00Z"))
  }

  @Test("Of two routers of one login each row, reason and line says which one it is about")
  func routers() throws {
    let garage = ConsentRouter(
      agent: try #require(BorderAgentID(hex: "a1b2c3d4e5f60718")), name: "Gar\u{1B}[2Jage",
      networkName: "cabin-thread")
    let both = [try question(attic()), try question(garage)]
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
  func past() throws {
    let changed = try approval("dataset/set", of: attic(), .changed)
    let before = try approval("preferred/get")
    let given = try approval("dataset/set", of: attic(), given: nil)
    let rows = ConsentListCommand.text([changed, before, given]).split(separator: "\n")
      .dropFirst()
    #expect(rows.map { $0.contains(#"deadbeefcafe0042 "Attic""#) } == [true, false, true])
    #expect(
      rows.map { $0.contains("approved once, not given: changed  ") } == [true, false, false])
    #expect(rows.map { $0.contains("not given  ") } == [false, true, false])
    let ends = [changed, before, given].map { ConsentNews.ended($0).text }
    #expect(
      ends.map { $0.split(separator: "  ").last } == [
        #"approved once by uid 0 (command line), for deadbeefcafe0042 "Attic", not given: "#
          + "what was asked for has changed\n",
        "approved once by uid 0 (command line), not given\n",
        #"approved once by uid 0 (command line), for deadbeefcafe0042 "Attic""# + "\n",
      ])
  }
}

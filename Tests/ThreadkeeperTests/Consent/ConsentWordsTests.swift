import Testing

@testable import Threadkeeper

@Suite("What the commands about consent say to who decides") struct ConsentWordsTests {
  private static let grant = "g-0123456789abcdef"
  private static let hungUp = ConsentReport.Obstacle(code: "hung_up", message: "who asked has hung up")
  private static let changed = ConsentReport.Obstacle(code: "changed", message: "what was asked for has changed")
  private static let attic = ConsentReport.Router(agent: "deadbeefcafe0042", name: "Attic", networkName: "guest-thread")

  /// What the daemon tells of an approval: one that has given something, unless there is an obstacle.
  private func approval(
    _ command: String, of router: ConsentReport.Router? = nil, _ obstacle: ConsentReport.Obstacle? = nil,
    grant: String? = nil
  ) -> ConsentReport.Decision {
    ConsentReport.Decision(
      request: .init(
        id: "c-\(String(UInt64.random(in: 1 << 60 ... .max), radix: 16))", requester: "login anna (team a)", team: "a",
        home: "home", command: command, networks: [.init(id: "1111111122222222", name: "home-thread", team: nil)],
        router: router, createdAt: "2026-11-21T04:36:00Z"),
      more: .init(
        outcome: "approved", decidedAt: "2026-11-21T04:37:00Z", decidedBy: "uid 0 (command line)",
        scope: grant == nil ? "once" : "always", grant: grant, given: obstacle == nil ? nil : false, notGiven: obstacle)
    )
  }

  @Test("Who approves hears why nothing is given: of a router it has changed, nobody has hung up") func notGivenWords()
  {
    let hungUp = ConsentApproveCommand.text(approval("preferred/get", Self.hungUp))
    #expect(hungUp == "login anna (team a) has hung up: nothing is given. It has to ask again.\n")
    let other = ConsentReport.Obstacle(code: "not_found", message: "there is no\npreferred network")
    let text = ConsentApproveCommand.text(approval("preferred/get", other))
    #expect(
      text == "Nothing is given to login anna (team a). The answer says why: there is no\\u{a}preferred network.\n")
    let always = ConsentApproveCommand.text(approval("preferred/get", other, grant: Self.grant))
    #expect(always.contains(#"It gets "home-thread" (1111111122222222) the next times."#))
    #expect(always.hasSuffix("threadkeeper consent revoke \(Self.grant)\n"))
    for command in ["dataset/set", "dataset/renew"] {
      let text = ConsentApproveCommand.text(approval(command, of: Self.attic, Self.changed))
      #expect(text.contains("what was asked for has changed") && !text.contains("hung up"))
    }
  }

  @Test("Who approves hears which router gets it, and that a grant is for all of them") func approved() {
    let once = ConsentApproveCommand.text(approval("dataset/set", of: Self.attic))
    #expect(
      once == #"login anna (team a) is sent "home-thread" (1111111122222222) for deadbeefcafe0042 "Attic", "#
        + "this once, as soon as the daemon is connected to the broker.\n")
    let always = ConsentApproveCommand.text(approval("dataset/set", of: Self.attic, grant: Self.grant))
    #expect(always.contains(#"deadbeefcafe0042 "Attic", and from now on for all routers of its own"#))
    let own = ConsentApproveCommand.text(approval("preferred/get"))
    #expect(own == #"login anna (team a) gets "home-thread" (1111111122222222), this once."# + "\n")
  }

  @Test("Who approves or is asked about credentials that somebody offers hears that nobody is given any") func offered()
  {
    let used = ConsentApproveCommand.text(approval("credentials/accept"))
    #expect(
      used == #"The credentials of "home-thread" (1111111122222222) that login anna (team a) has are used "#
        + "from now on.\n")
    let changed = ConsentApproveCommand.text(approval("credentials/accept", Self.changed))
    #expect(changed.hasSuffix("has are not used: what was asked for has changed.\n"))
    var request = approval("credentials/accept").request
    request.fingerprint = "0123-4567"
    let soon = ConsentReport.Pending(
      request: request, more: .init(reason: "Use them?", expiresAt: "2999-11-21T04:38:00Z"))
    let text = ConsentListCommand.text([soon])
    #expect(text.contains(" h\n") && !text.contains("--always") && !text.contains("0123-4567"), "\(text)")
    #expect(ConsentNews.asked(request, nil).text.contains(#" offers the credentials of "home-thread""#))
  }

  @Test("Who approves a change of a store reads when it is made, and is offered no \"always\"") func storeChange() {
    let made = ConsentApproveCommand.text(approval("dataset/delete"))
    #expect(
      made == #""home-thread" (1111111122222222) is changed in the store of login anna (team a) as soon as its agent "#
        + "listens, within a day.\n")
    let changed = ConsentApproveCommand.text(approval("border_agent/prefer", of: Self.attic, Self.changed))
    #expect(changed.hasPrefix("Nothing is changed about ") && changed.hasSuffix("what was asked for has changed.\n"))
    let pending = ConsentReport.Pending(
      request: approval("dataset/delete").request, more: .init(reason: "Delete it?", expiresAt: "2999-11-21T04:38:00Z"))
    #expect(!ConsentListCommand.text([pending]).contains("--always"))
  }

  private func question(_ router: ConsentReport.Router) -> ConsentReport.Pending {
    let past = approval("dataset/set", of: router)
    return .init(
      request: past.request,
      more: .init(reason: "\(router.networkName ?? "") matters", expiresAt: "2026-11-21T04:38:00Z"))
  }

  @Test("Of two routers of one login each row, reason and line says which one it is about") func routers() {
    let garage = ConsentReport.Router(agent: "a1b2c3d4e5f60718", name: "Gar\u{1B}[2Jage", networkName: "cabin-thread")
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

  @Test("History and --follow name the router, and say what was not given and why") func past() {
    let changed = approval("dataset/set", of: Self.attic, Self.changed)
    let alone = approval("preferred/get", Self.hungUp)
    let given = approval("dataset/set", of: Self.attic)
    let rows = ConsentListCommand.text([changed, alone, given]).split(separator: "\n").dropFirst()
    #expect(rows.map { $0.contains(#"deadbeefcafe0042 "Attic""#) } == [true, false, true])
    #expect(rows.map { $0.contains("approved once, not given: changed  ") } == [true, false, false])
    #expect(rows.map { $0.contains("approved once, not given: hung_up  ") } == [false, true, false])
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

@Suite("What is new about the questions that wait") struct ConsentFollowerTests {
  private static let beginning = "2026-11-21T04:36:00Z"
  private static let expiry = "2026-11-21T04:38:00Z"

  private func request(_ id: String, by requester: String) -> ConsentReport.Request {
    .init(
      id: id, requester: requester, team: "hub", home: "home", command: "preferred/get", networks: [],
      createdAt: Self.beginning)
  }

  private func question(_ id: String) -> ConsentReport.Pending {
    .init(request: request(id, by: "uid 1000 (a\u{1B}[2Jb)"), more: .init(reason: "it matters", expiresAt: Self.expiry))
  }

  private func decision(_ id: String, _ outcome: String) -> ConsentReport.Decision {
    .init(
      request: request(id, by: "uid 1000"),
      more: .init(outcome: outcome, decidedAt: "2026-11-21T04:37:00Z", decidedBy: "uid 0 (command line)", scope: "once")
    )
  }

  private func asked(_ question: ConsentReport.Pending) -> ConsentNews { .asked(question.request, question.more) }

  /// What distinguishes a line from others.
  private func heads(_ news: [ConsentNews]) -> [String] {
    news.map {
      switch $0 {
      case .asked(let question, let more): "\(question.id) asked\(more == nil ? " before" : "")"
      case .ended(let end): "\(end.id) \(end.outcome)"
      }
    }
  }

  @Test("Each question is reported once, and its end as soon as it is known") func life() {
    let old = decision("z", "denied")
    var follower = ConsentFollower(before: [old])
    #expect(heads(follower.news([question("a")], [old])) == ["a asked"])
    #expect(heads(follower.news([question("a"), question("b")], [old])) == ["b asked"])
    #expect(follower.news([question("b")], [old]).isEmpty, "it is not written down yet")
    let end = decision("a", "approved")
    #expect(heads(follower.news([question("b")], [end, old])) == ["a approved"])
    #expect(follower.news([question("b")], [end, old]).isEmpty)
    #expect(heads(follower.news([], [decision("b", "expired"), end])) == ["b expired"])
  }

  @Test("What came and was decided between two looks is reported, the older first; no revocation") func between() {
    var follower = ConsentFollower(before: [decision("z", "denied")])
    let history = [
      decision("g-1", "revoked"), decision("b", "denied"), decision("a", "approved"), decision("z", "denied"),
    ]
    #expect(heads(follower.news([], history)) == ["a asked before", "a approved", "b asked before", "b denied"])
    #expect(follower.news([], history).isEmpty)
  }

  @Test("After days each question is still reported once, and no more is remembered than before") func forLong() {
    var history: [ConsentReport.Decision] = []
    var follower = ConsentFollower(before: history)
    for number in 0..<3_000 {
      let waits = question("waits")
      #expect(
        heads(follower.news([waits, question("c-\(number)")], history))
          == (number == 0 ? ["waits asked", "c-0 asked"] : ["c-\(number) asked"]))
      history = Array(([decision("c-\(number)", "denied")] + history).prefix(100))
      #expect(heads(follower.news([waits], history)) == ["c-\(number) denied"])
      #expect(follower.idCount <= ConsentFollower.remembered + 2)
    }
  }

  @Test("As text one line each, which moves no cursor; as JSON the fields beside the event") func lines() throws {
    let asked = asked(question("c-1"))
    #expect(asked.text == "\(Self.beginning)  c-1  asked     uid 1000 (a\\u{1b}[2Jb) wants preferred/get of \n")
    #expect(
      ConsentNews.ended(decision("c-1", "approved")).text
        == "2026-11-21T04:37:00Z  c-1  approved once by uid 0 (command line)\n")
    #expect(
      ConsentNews.ended(decision("c-1", "denied")).text == "2026-11-21T04:37:00Z  c-1  denied by uid 0 (command line)\n"
    )
    let line = try JSONText.line(asked)
    #expect(line.hasSuffix("}\n") && line.dropLast().allSatisfy { $0 != "\n" })
    let short = try JSONText.line(ConsentNews.asked(question("c-1").request, nil))
    #expect(short.contains(#""event":"asked""#) && !short.contains("reason"))
    #expect(line.contains(#""event":"asked""#) && line.contains(#""expires_at":"\#(Self.expiry)""#))
  }
}

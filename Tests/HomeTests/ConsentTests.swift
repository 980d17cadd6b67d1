import Testing

@testable import Home

/// A home that prefers network 1, of which a phone wants the credentials.
@Suite struct ConsentTests {
  var scene = HomeScene()
  let phone = Requester.login("phone")

  init() {
    scene.announce(1, .of(1), from: "hub")
    for user in ["phone", "tablet"] as [ExactName] { scene.enroll(user) }
  }

  private var waiting: [ConsentID] { scene.home.questions.filter { !$0.isDenied }.map(\.id) }

  @discardableResult private mutating func ask(
    _ request: HomeRequest = .getPreferred, by requester: Requester = .login("phone"), at topic: String = "out/phone"
  ) -> HomeAnswer? {
    scene.ask(request, by: requester) { $0.reply = .topic(topic, correlation: nil, transaction: nil) }
  }

  /// What a question owed, once it is settled: the answer, and to whom.
  private var settled: [HomeAnswer] { scene.output.settled.map(\.answer) }

  // MARK: Asking

  @Test("Asked, a person sees who gets which network; the same again joins it; approved, all get it")
  mutating func asked() throws {
    #expect(ask() == .waiting(waiting[0]))
    guard case .asked(let question) = scene.output.events.first else { throw Missing() }
    #expect(question.requester == phone && question.subject.command == .preferred)
    #expect(question.subject.networks == [ConsentNetwork(.of(1), of: nil)])
    #expect(question.expiresAt == scene.now.adding(seconds: 120) && !question.keyHasChanged)
    #expect(ask(at: "out/phone/2") == .waiting(question.id) && scene.output.events.isEmpty)
    #expect(ask(at: "out/phone/2") == .waiting(question.id))

    let answer = scene.decide(.approve(question.id, .once))
    guard case .decided(let record) = answer else { throw Missing() }
    #expect(record.outcome == .approved && record.scope == .once && record.obstacle == nil)
    #expect(scene.output.events == [.decided(record)])
    #expect(scene.output.settled.map(\.to).count == 2 && Set(settled).count == 1)
    guard case .credentials(let given) = settled[0] else { throw Missing() }
    #expect(given.map(\.dataset) == [.of(1)] && given.map(\.secret) == [.home])
    #expect(scene.output.audit.contains(.given(question.subject, to: phone, by: question.id)))
    #expect(scene.home.questions.isEmpty)
    #expect(ask() == .waiting(waiting[0]), "once was once")
  }

  @Test("A request owes eight answers at most") mutating func replies() {
    for number in 1...8 { #expect(ask(at: "out/phone/\(number)") == .waiting(waiting[0])) }
    #expect(ask(at: "out/phone/9") == .refused(.consent(.rateLimited(waiting: 8))))
    scene.approve()
    #expect(scene.output.settled.count == 8)
  }

  @Test("What is to be written into Home Assistant is asked for a day, by a button, and owes its last answer")
  mutating func written() throws {
    func ask(_ number: Int) {
      scene.ask(.getPreferred) {
        $0.writesPreferred = true
        $0.reply = .topic("out/phone/\(number)", correlation: nil, transaction: nil)
      }
    }
    for number in 1...10 { ask(number) }
    let question = try #require(scene.home.questions.first)
    #expect(scene.home.questions.count == 1 && question.subject.command == .write)
    #expect(question.expiresAt == scene.now.adding(seconds: 86_400))
    scene.pass(seconds: 86_000)
    var decision = ConsentDecision(.approve(question.id, .once), by: .login("ha", team: "ha"))
    (decision.extent, decision.button) = (.adoptions, .init(hasToken: true, isAltered: false))
    scene.handle(.decision(decision))
    #expect(scene.output.settled.map(\.to) == [.topic("out/phone/10", correlation: nil, transaction: nil)])
    guard case .credentials? = settled.first else { throw Missing() }
    // Another network or key is another question.
    ask(1)
    scene.prefer(.of(1, at: 2, channel: 20))
    scene.tick()
    #expect(waiting.count == 1)
    scene.prefer(.of(2))
    scene.tick()
    #expect(waiting.isEmpty && settled == [.refused(.expired)])
  }

  /// So many of different requesters wait.
  private mutating func fill(_ users: Range<UInt32>) {
    for user in users {
      for network in 10..<15 as Range<UInt64> {
        scene.ask(.getNetwork(.number(network)), by: Requester(.systemUser(user), team: "x"))
      }
    }
  }

  @Test("5 questions of one requester wait, 90 of all, and 10 more of the daemon's user and root")
  mutating func limits() {
    let empty = scene
    for network in 10..<16 as Range<UInt64> { scene.announce(network, .of(network), from: "hub") }
    fill(1_000..<1_001)
    let sixth = scene.ask(.getNetwork(15), by: Requester(.systemUser(1_000), team: "other"))
    #expect(sixth == .refused(.consent(.rateLimited(waiting: 5))), "in whichever team it is")
    fill(1_001..<1_020)
    #expect(scene.home.questions.count == 90)
    #expect(ask() == .refused(.consent(.rateLimited(waiting: 90))))
    scene.rules.ownUser = 998
    for user in [0, 998] as [UInt32] { fill(user..<user + 1) }
    #expect(scene.home.questions.count == 100)
    // Those whose time is over take no place.
    scene.wait(seconds: 120)
    #expect(ask() == .waiting(scene.home.questions[100].id))
    // Theirs take none of the others' places either.
    scene = empty
    for network in 10..<16 as Range<UInt64> { scene.announce(network, .of(network), from: "hub") }
    scene.rules.ownUser = 998
    for user in [0, 998] as [UInt32] { fill(user..<user + 1) }
    fill(1_000..<1_020)
    #expect(scene.home.questions.count == 100)
  }

  @Test(
    "What is not there, and what could not be sent, no person is asked about",
    arguments: [
      (HomeRequest.getNetwork(9), true, HomeAnswer.refused(.noCredentialsOfNetwork)),
      (.getPreferred, false, .refused(.noKey)), (.nearbyNetworks, true, .credentials([])),
    ]) mutating func notAsked(_ request: HomeRequest, _ hasKey: Bool, _ expected: HomeAnswer)
  {
    scene.publish(.offline, 1, from: "hub")
    let answer = scene.ask(request) { $0.canReceiveSecrets = hasKey }
    #expect(answer == expected && scene.home.questions.isEmpty)
    scene.publish(.heartbeat, 1, from: "hub")
    #expect(scene.ask(.nearbyNetworks) { $0.mostCredentials = 0 } == .refused(.tooMany(0)))
    #expect(scene.home.questions.isEmpty)
  }

  @Test("Without a preferred network, and of one without credentials, nothing is given") mutating func noPreferred() {
    scene.publish(.announce, 2, from: "hub") { $0.thread.network = 7 }
    #expect(scene.prefer(network: 7) == .preferredSet(isChanged: true, hasCredentials: false))
    #expect(ask() == .refused(.preferredWithoutCredentials(7)))
    scene.command(.forgetPreferred)
    #expect(ask() == .refused(.noPreferred))
    #expect(scene.home.questions.isEmpty)
  }

  @Test("A requester sees what it waits for itself, and nothing of others") mutating func pending() {
    ask()
    ask(.nearbyNetworks)
    ask(by: .login("tablet"))
    guard case .questions(let own) = scene.ask(.pendingQuestions) else {
      Issue.record("no list")
      return
    }
    #expect(own.map(\.subject.command) == [.preferred, .nearby])
    scene.decide(.deny(own[0].id))
    #expect(scene.ask(.pendingQuestions) == .questions([own[1]]))
    scene.wait(seconds: 120)
    #expect(scene.ask(.pendingQuestions) == .questions([]))
  }

  // MARK: Without an approval

  @Test("A person who has denied a key is not asked about it by another command, or with other keys beside it")
  func deniedKey() {
    let requests = [HomeRequest.getPreferred, .getNetwork(1), .nearbyNetworks]
    for first in requests {
      var scene = HomeScene { $0.settings.adoptTimeout = 300 }
      scene.announce(1, .of(1), from: "hub")
      scene.announce(2, .of(2, key: 2), from: "vendor")
      scene.enroll("phone")
      scene.ask(first)
      scene.deny()
      for other in requests { #expect(scene.ask(other) == .refused(.consent(.denied))) }
      // With another network it is another set.
      scene.announce(3, .of(3, key: 3), from: "vendor")
      #expect(scene.ask(.nearbyNetworks) == .refused(.consent(.denied)))
      scene.announce(4, .of(9, key: 9), from: "phone")
      scene.live(35)
      #expect(scene.waiting.isEmpty, "nor whether a router of the same login may have it")
      scene.ask(.getPreferred, by: .login("tablet"))
      #expect(scene.waiting.map(\.requester.login) == ["tablet"])
      scene.ask(.getNetwork(3))
      #expect(scene.waiting.count == 2, "another key")
    }
  }

  @Test("Denied: all who wait are answered, and for 120 seconds whoever asked for the key is, at once")
  mutating func denied() {
    ask()
    let id = waiting[0]
    scene.wait(seconds: 100)
    scene.decide(.deny(id))
    #expect(settled == [.refused(.denied)] && scene.home.decisions.last?.outcome == .denied)
    #expect(ask() == .refused(.consent(.denied)))
    #expect(scene.decide(.approve(id, .once)) == .refused(.consent(.staleID(.denied))))
    scene.pass(seconds: 119)
    #expect(ask() == .refused(.consent(.denied)))
    scene.pass(seconds: 1)
    #expect(ask() == .waiting(waiting.last ?? id))
  }

  @Test("Nobody decides in 120 seconds: the tick answers, once") mutating func expired() {
    ask()
    let id = waiting[0]
    scene.wait(seconds: 118)
    scene.tick()
    #expect(settled.isEmpty && waiting == [id])
    scene.tick()
    #expect(settled == [.refused(.expired)] && scene.home.decisions.map(\.outcome) == [.expired])
    #expect(scene.decide(.deny(id)) == .refused(.consent(.staleID(.expired))))
    #expect(scene.tick() == HomeOutput())
  }

  @Test("A question whose time is over is not decided before the tick either") mutating func over() {
    ask()
    scene.wait(seconds: 120)
    #expect(scene.decide(.approve(waiting[0], .once)) == .refused(.consent(.staleID(.expired))))
    #expect(settled.isEmpty)
  }

  @Test("The clock was set back by an hour: the question is over; by seconds: it waits") mutating func setBack() {
    ask()
    scene.wait(seconds: -30)
    #expect(!scene.home.questions[0].isOver(at: scene.now))
    scene.wait(seconds: -3_600)
    scene.tick()
    #expect(settled == [.refused(.expired)])
  }

  @Test("An unknown id is stale") mutating func unknown() {
    #expect(scene.decide(.approve(ConsentID(99), .once)) == .refused(.consent(.staleID(nil))))
    #expect(scene.decide(.revoke(grant: ConsentID(99))) == .refused(.consent(.notFound)))
  }

  // MARK: What is given

  @Test("A caller that has hung up is given nothing; the decision stands") mutating func hungUp() throws {
    for (isThere, obstacle) in [(false, ConsentRecord.Obstacle.hungUp), (true, nil)]
      as [(Bool, ConsentRecord.Obstacle?)]
    {
      scene.rules.isAwaited = { _ in isThere }
      let machine = Requester.program(of: "homes")
      scene.ask(.getPreferred, by: machine)
      guard case .decided(let record)? = scene.approve() else { throw Missing() }
      #expect(record.obstacle == obstacle && settled.count == (isThere ? 1 : 0))
      let note = AuditNote.notGiven(record.subject, to: machine, by: record.id, .hungUp)
      #expect(scene.output.audit.contains(note) != isThere)
      #expect(scene.output.events.contains(.notGiven(record)) != isThere)
    }
  }

  @Test("An answer that cannot be made is noted: with its decision, or where a grant gave it") mutating func notGiven()
    throws
  {
    let phone = Requester.login("phone")
    for scope in [ConsentScope.once, .always] {
      scene.ask(.getPreferred, by: phone)
      guard case .decided(let record)? = scene.approve(scope) else { throw Missing() }
      scene.handle(.notGiven(record.subject, to: phone, by: record.id, .damaged))
      #expect(scene.home.decisions.last?.obstacle == .damaged)
      #expect(scene.output.events.contains { if case .notGiven = $0 { true } else { false } })
      #expect(scene.output.audit == [.notGiven(record.subject, to: phone, by: record.id, .damaged)])
    }
    let (grant, decisions) = (try #require(scene.home.grants.first), scene.home.decisions)
    scene.handle(.notGiven(grant.subject, to: phone, by: grant.id, .tooLarge))
    #expect(scene.output.audit == [.notGiven(grant.subject, to: phone, by: grant.id, .tooLarge)])
    #expect(scene.home.decisions == decisions && scene.output.events.isEmpty)
  }

  @Test("Of two who wait, one is there: it is given, and nothing says that it was not") mutating func oneOfTwo() {
    scene.ask(.getPreferred)
    ask()
    scene.approve()
    #expect(settled.count == 1 && scene.home.decisions.last?.obstacle == nil)
  }

  @Test("Another network, or another key of it, is there by then: nothing is given") mutating func changed() {
    for dataset in [DatasetSummary.of(2), .of(2, key: 2)] {
      ask()
      scene.prefer(dataset)
      scene.approve()
      #expect(settled == [.refused(.changed)])
      #expect(scene.home.decisions.last?.obstacle == .changed)
    }
    // Its other parameters may be others.
    ask()
    scene.prefer(.of(2, key: 2, at: 9, channel: 20))
    scene.approve()
    guard case .credentials(let given) = settled[0] else {
      Issue.record("nothing is given")
      return
    }
    #expect(given.map(\.dataset) == [.of(2, key: 2, at: 9, channel: 20)])
  }

  @Test("A question names each network once, the preferred one first") mutating func named() {
    scene.announce(2, .of(2), from: "anna")
    scene.announce(3, .of(2), from: "anna")
    scene.announce(4, .of(2), from: "bob")
    scene.prefer(.of(3))
    scene.announce(5, .of(3), from: "bob")
    ask(.nearbyNetworks)
    let networks = scene.home.questions[0].subject.networks
    #expect(networks.map(\.id) == [3, 1, 2, 2])
    #expect(networks.map(\.team) == [nil, "hub", "anna", "bob"])
  }

  @Test("Of the networks nearby only those that were agreed to are given") mutating func nearby() {
    scene.announce(2, .of(2), from: "anna")
    ask(.nearbyNetworks)
    let question = scene.home.questions[0]
    #expect(question.subject.networks.map(\.team) == [nil, "anna"])
    scene.publish(.leave, 2, from: "anna")
    scene.announce(3, .of(3), from: "anna")
    scene.decide(.approve(question.id, .once))
    guard case .credentials(let given) = settled[0] else {
      Issue.record("nothing is given")
      return
    }
    #expect(given.map(\.dataset) == [.of(1)])
    let subject = ConsentSubject(.nearby, [question.subject.networks[0]])
    #expect(scene.output.audit.contains(.given(subject, to: phone, by: question.id)))
  }

  @Test("A key that was revoked, or replaced, is given nothing, and the answer says why") mutating func keyIsGone() {
    ask()
    scene.enroll("phone", fingerprint: "new")
    #expect(scene.decide(.approve(waiting[0], .once)) == .refused(.consent(.staleID(.expired))))
    scene.tick()
    #expect(settled == [.refused(.keyIsGone)])
    ask(by: .login("tablet"))
    scene.revoke("tablet", forgets: true)
    scene.tick()
    #expect(settled == [.refused(.keyIsGone)])
    // The daemon's own keys cannot be read.
    scene.enroll("phone")
    ask()
    scene.rules.canSeal = { false }
    scene.approve()
    #expect(settled == [.refused(.keyIsGone)])
    #expect(scene.home.decisions.last?.obstacle == .notEnrolled)
  }

  @Test("A home keeps the last thousand decisions; requests that expired go first, then the oldest")
  mutating func history() throws {
    scene.announce(2, .of(2, key: 2), from: "hub")
    ask()
    scene.deny()
    scene.ask(.getNetwork(2))
    scene.wait(seconds: 120)
    scene.tick()
    let (denied, expired) = (scene.home.decisions[0], scene.home.decisions[1])
    #expect([denied.outcome, expired.outcome] == [.denied, .expired])
    scene.home.decisions += Array(repeating: denied, count: ConsentRecord.kept - 2)
    ask()
    scene.approve()
    #expect(scene.home.decisions.count == ConsentRecord.kept)
    #expect(scene.home.decisions.first == denied && !scene.home.decisions.contains(expired))
    #expect(scene.home.takeChanges().records.contains(.decision(expired.id)), "to be deleted")
    ask()
    scene.approve()
    #expect(scene.home.decisions.count == ConsentRecord.kept)
    #expect(scene.home.decisions.suffix(2).allSatisfy { $0.outcome == .approved })
  }
}

struct Missing: Error {}

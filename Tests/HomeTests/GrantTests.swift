import Testing

@testable import Home

/// "Always", who decides, and whose keys count.
@Suite struct GrantTests {
  var scene = HomeScene { $0.team = { ["anna", "ben"].contains($0) ? "family" : $0 } }

  init() {
    scene.announce(1, .of(1), from: "hub")
    scene.announce(2, .of(2), from: "hub")
    for user in ["phone", "tablet"] as [ExactName] { scene.enroll(user) }
  }

  private var question: ConsentQuestion? { scene.home.questions.first { !$0.isDenied } }

  private mutating func grant(_ request: HomeRequest) throws -> ConsentID {
    scene.ask(request)
    scene.decide(.approve(try #require(question).id, .always))
    return try #require(scene.home.decisions.last?.grant)
  }

  private func isGiven(_ answer: HomeAnswer?) -> Bool { if case .credentials = answer { true } else { false } }

  // MARK: What it covers

  struct Covered: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let granted: HomeRequest
    let asked: HomeRequest
    var requester = Requester.login("phone")
    /// What happens in between.
    var change: @Sendable (inout HomeScene) -> Void = { _ in }
    let isCovered: Bool
  }

  @Test(
    "An `always` answers later requests, for just what was agreed to",
    arguments: [
      Covered(testDescription: "the same", granted: .getPreferred, asked: .getPreferred, isCovered: true),
      Covered(testDescription: "another command", granted: .getPreferred, asked: .getNetwork(1), isCovered: false),
      Covered(testDescription: "another network", granted: .getNetwork(1), asked: .getNetwork(2), isCovered: false),
      Covered(
        testDescription: "another login", granted: .getPreferred, asked: .getPreferred, requester: .login("tablet"),
        isCovered: false),
      Covered(
        testDescription: "the same login in another team", granted: .getPreferred, asked: .getPreferred,
        requester: .login("phone", team: "moved"), isCovered: false),
      Covered(
        testDescription: "a system user of that name", granted: .getPreferred, asked: .getPreferred,
        requester: .program(of: "phone"), isCovered: false),
      Covered(
        testDescription: "another key of the requester", granted: .getPreferred, asked: .getPreferred,
        requester: .login("phone", key: "new"), isCovered: false),
      Covered(
        testDescription: "another program of the same user", granted: .getPreferred, asked: .getPreferred,
        requester: {
          var named = Requester.login("phone")
          named.program = "homes"
          return named
        }(), isCovered: true),
      Covered(
        testDescription: "another preferred network", granted: .getPreferred, asked: .getPreferred,
        change: { $0.prefer(.of(3)) }, isCovered: false),
      Covered(
        testDescription: "another name of the network", granted: .getPreferred, asked: .getPreferred,
        change: { $0.prefer(.of(1, at: 2, name: "other")) }, isCovered: false),
      Covered(
        testDescription: "another channel of the network", granted: .getPreferred, asked: .getPreferred,
        change: { $0.prefer(.of(1, at: 2, channel: 20)) }, isCovered: true),
      Covered(
        testDescription: "fewer networks nearby", granted: .nearbyNetworks, asked: .nearbyNetworks,
        change: { $0.publish(.offline, 2, from: "hub") }, isCovered: true),
      Covered(
        testDescription: "more networks nearby", granted: .nearbyNetworks, asked: .nearbyNetworks,
        change: { $0.announce(3, .of(3), from: "hub") }, isCovered: false),
      Covered(
        testDescription: "the network of a router that is another team's now", granted: .getNetwork(2),
        asked: .getNetwork(2),
        change: {
          $0.handle(.remove(2))
          $0.announce(2, .of(2), from: "bert")
        }, isCovered: false),
    ]) mutating func covers(_ row: Covered) throws
  {
    let id = try grant(row.granted)
    row.change(&scene)
    let answer = scene.ask(row.asked, by: row.requester)
    #expect(isGiven(answer) == row.isCovered && (question == nil) == row.isCovered)
    #expect(question?.keyHasChanged != true)
    let isNoted = scene.output.audit.contains { if case .given(_, _, by: id) = $0 { true } else { false } }
    #expect(isNoted == row.isCovered)
  }

  @Test("After another network key the question names the change; its `always` replaces the former")
  mutating func otherKey() throws {
    let first = try grant(.getPreferred)
    scene.prefer(.of(1, key: 2, at: 2))
    scene.ask(.getPreferred)
    #expect(question?.keyHasChanged == true)
    let second = try grant(.getPreferred)
    #expect(second != first && scene.home.grants.map(\.id) == [second])
    let revoked = try #require(scene.home.decisions.first { $0.id == first })
    #expect(revoked.outcome == .revoked && revoked.by == .commandLine(user: 0))
    #expect(isGiven(scene.ask(.getPreferred)))
  }

  @Test("Taken back it covers nothing, and is not there to be taken back again") mutating func revoked() throws {
    let id = try grant(.getPreferred)
    let grant = try #require(scene.home.grants.first)
    #expect(scene.decide(.revoke(grant: id)) == .revoked(grant))
    #expect(scene.home.decisions.last?.outcome == .revoked && scene.output.events.isEmpty)
    #expect(!isGiven(scene.ask(.getPreferred)))
    #expect(scene.decide(.revoke(grant: id)) == .refused(.consent(.notFound)))
  }

  @Test("There are 500 at most: one more is refused and waits on; approved once, it is given") mutating func most()
    throws
  {
    _ = try grant(.getNetwork(2))
    let one = try #require(scene.home.grants.first)
    scene.home.grants = Array(repeating: one, count: Home.mostGrants)
    scene.ask(.getPreferred)
    let id = try #require(question).id
    #expect(scene.decide(.approve(id, .always)) == .refused(.consent(.tooManyGrants(Home.mostGrants))))
    #expect(question?.id == id && scene.output.events.isEmpty)
    scene.decide(.approve(id, .once))
    #expect(question == nil)
  }

  // MARK: Who decides

  @Test(
    "Nobody approves for himself or his team over MQTT; at the command line and on the page all is",
    arguments: [
      (ConsentApprover.login("carol", team: "carol"), true), (.login("anna", team: "other"), false),
      (.login("ben", team: "family"), false), (.commandLine(user: 0), true), (.statusPage, true),
      (.program(user: 1_000), true),
    ]) mutating func approvers(_ approver: ConsentApprover, _ mayApprove: Bool) throws
  {
    let anna = Requester.login("anna", team: "family")
    scene.enroll("anna")
    scene.ask(.getPreferred, by: anna)
    let asked = try #require(question)
    let answer = scene.decide(.approve(asked.id, .once), by: approver)
    #expect((answer == .refused(.consent(.notAuthorized))) != mayApprove)
    #expect((question == nil) == mayApprove)
    // To deny gives nothing away.
    scene.ask(.nearbyNetworks, by: anna)
    let other = try #require(scene.home.questions.last).id
    scene.decide(.deny(other), by: approver)
    #expect(scene.home.decisions.last?.by == approver)
  }

  struct Decided: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let extent: ConsentDecision.Extent?
    var button: ConsentDecision.Button? = .init(hasToken: true, isAltered: false)
    var scope = ConsentScope.once
    let adoption: @Sendable (ConsentID) -> HomeRefusal?
    let key: @Sendable (ConsentID) -> HomeRefusal?
  }

  @Test(
    "Home Assistant decides as far as the settings go, once, and by the button that is shown",
    arguments: [
      Decided(testDescription: "adoptions", extent: .adoptions, adoption: { _ in nil }, key: { .adoptionsOnly($0) }),
      Decided(testDescription: "all", extent: .all, adoption: { _ in nil }, key: { _ in nil }),
      Decided(
        testDescription: "for good", extent: .all, scope: .always, adoption: { _ in .onceOnly }, key: { _ in .onceOnly }
      ),
      Decided(
        testDescription: "without the token", extent: .all, button: .init(hasToken: false, isAltered: false),
        adoption: { _ in .wrongButton }, key: { _ in .wrongButton }),
      Decided(
        testDescription: "after a device was altered", extent: .all, button: .init(hasToken: true, isAltered: true),
        adoption: { .buttonsAltered($0) }, key: { .buttonsAltered($0) }),
      Decided(
        testDescription: "as an approver too, by a button", extent: nil,
        button: .init(hasToken: false, isAltered: false), adoption: { _ in .wrongButton }, key: { _ in .wrongButton }),
      Decided(
        testDescription: "as an approver too, signed", extent: nil, button: nil, scope: .always, adoption: { _ in nil },
        key: { _ in nil }),
    ]) func homeAssistant(_ row: Decided) throws
  {
    for isApproval in [true, false] {
      for isAdoption in [true, false] {
        var scene = scene
        if isAdoption {
          scene.rules.settings.adoptTimeout = 300
          scene.enroll("hub")
          scene.wait(seconds: 30)
          for _ in 1...2 { scene.tick() }
        } else {
          scene.ask(.getPreferred)
        }
        let id = try #require(scene.home.questions.first).id
        var decision = ConsentDecision(isApproval ? .approve(id, row.scope) : .deny(id), by: .login("ha", team: "ha"))
        (decision.extent, decision.button) = (row.extent, row.button)
        var refusal = isAdoption ? row.adoption(id) : row.key(id)
        // To deny has no scope.
        if refusal == .onceOnly, !isApproval { refusal = nil }
        let answer = scene.handle(.decision(decision)).answer
        if let refusal {
          #expect(answer == .refused(refusal) && scene.home.questions.count == 1)
        } else {
          #expect(scene.home.decisions.map(\.by) == [.login("ha", team: "ha")])
        }
      }
    }
  }

  @Test("A button for an id that does not wait gets the answer that it is stale") mutating func staleButton() {
    var decision = ConsentDecision(.deny(ConsentID(9)), by: .login("ha", team: "ha"))
    decision.extent = .adoptions
    decision.button = .init(hasToken: false, isAltered: false)
    #expect(scene.handle(.decision(decision)).answer == .refused(.consent(.staleID(nil))))
  }

  // MARK: Whose keys count

  struct Enrolment: Sendable, CustomTestStringConvertible {
    let testDescription: String
    var trust = EnrolledClient.Trust.broker
    let input: HomeInput
    let answer: HomeAnswer
    let endsConsents: Bool
    /// What is left of it.
    let isRevoked: Bool?
  }

  static func client(_ fingerprint: String, _ trust: EnrolledClient.Trust = .broker) -> HomeInput {
    .enroll(
      EnrolledClient(line: "line", fingerprint: fingerprint, trust: trust, at: WireTime(milliseconds: 0), by: "test"),
      "phone", by: .commandLine(user: 0))
  }

  @Test("The audit tells keys that come, are replaced, stay known as revoked, and go") mutating func enrolmentNotes() {
    func enroll(_ fingerprint: String, _ trust: EnrolledClient.Trust = .broker) -> HomeInput {
      Self.client(fingerprint, trust)
    }
    func revoke(_ forgets: Bool) -> HomeInput { .revoke("phone", forgets: forgets, by: .commandLine(user: 0)) }
    let rows: [(HomeInput, AuditNote?)] = [
      (enroll("one"), .enrolled("phone")), (enroll("one", .signed), .enrolledAgain("phone", hasNewKeys: false)),
      (enroll("two", .signed), .enrolledAgain("phone", hasNewKeys: true)),
      (revoke(false), .revoked("phone", isKept: true)), (revoke(false), nil),
      (revoke(true), .revoked("phone", isKept: false)), (enroll("one"), .enrolled("phone")),
      (revoke(false), .revoked("phone", isKept: false)),
    ]
    scene.handle(revoke(true))
    for (input, note) in rows { #expect(scene.handle(input).audit == (note.map { [$0] } ?? [])) }
  }

  @Test("In an older copy of a store no grant counts: it may have been taken back since") mutating func olderCopy()
    throws
  {
    _ = try grant(.getPreferred)
    scene.rules.grantsCount = false
    guard case .waiting? = scene.ask(.getPreferred) else {
      Issue.record("nobody is asked")
      return
    }
    scene.rules.grantsCount = true
    guard case .credentials? = scene.ask(.getPreferred) else {
      Issue.record("somebody is asked")
      return
    }
  }

  @Test(
    "What a login has been granted, and waits for, ends with its key",
    arguments: [
      Enrolment(
        testDescription: "the same key, another trust", input: GrantTests.client("key of phone", .signed),
        answer: .enrolled(isUpdate: true), endsConsents: false, isRevoked: false),
      Enrolment(
        testDescription: "another key", input: GrantTests.client("new"), answer: .enrolled(isUpdate: true),
        endsConsents: true, isRevoked: false),
      Enrolment(
        testDescription: "revoked", input: .revoke("phone", forgets: false, by: .commandLine(user: 0)),
        answer: .revokedClient(true), endsConsents: true, isRevoked: nil),
      Enrolment(
        testDescription: "revoked, and only signed events counted", trust: .signed,
        input: .revoke("phone", forgets: false, by: .commandLine(user: 0)), answer: .revokedClient(true),
        endsConsents: true, isRevoked: true),
      Enrolment(
        testDescription: "forgotten", trust: .signed, input: .revoke("phone", forgets: true, by: .commandLine(user: 0)),
        answer: .revokedClient(true), endsConsents: true, isRevoked: nil),
      Enrolment(
        testDescription: "another login", input: .revoke("mallory", forgets: false, by: .commandLine(user: 0)),
        answer: .revokedClient(false), endsConsents: false, isRevoked: false),
    ]) mutating func enrolment(_ row: Enrolment) throws
  {
    scene.enroll("phone", trust: row.trust)
    _ = try grant(.getPreferred)
    scene.ask(.nearbyNetworks)
    scene.ask(.nearbyNetworks, by: .login("tablet"))
    #expect(scene.handle(row.input).answer == row.answer)
    scene.tick()
    #expect(scene.home.grants.isEmpty == row.endsConsents)
    let ended = scene.home.decisions.last { $0.outcome == .revoked }
    #expect(ended?.by == (row.endsConsents ? .commandLine(user: 0) : nil))
    #expect(scene.home.clients["phone"]?.isRevoked == row.isRevoked)
    #expect(scene.home.questions.contains { $0.requester.identity == .login("tablet") })
  }

  @Test("A login that is revoked twice is not there the second time, until it is forgotten") mutating func twice() {
    scene.enroll("phone", trust: .signed)
    for (forgets, isThere) in [(false, true), (false, false), (true, true), (true, false)] {
      #expect(scene.revoke("phone", forgets: forgets) == .revokedClient(isThere))
    }
  }
}

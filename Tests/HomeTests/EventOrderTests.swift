import Testing

@testable import Home

/// Repetitions, and what was overtaken, of plain and of signed events.
@Suite struct EventOrderTests {
  private static func numbers(_ numbers: [UInt64]) -> [SequenceWindow.Order] { numbers.map { .number($0) } }

  private static func ids(_ ids: [String]) -> [SequenceWindow.Order] { ids.map { .identifier(ExactName($0)) } }

  @Test(
    "What a number or an id is to those that came before",
    arguments: [
      ("the first", [], .number(0), .news), ("later", numbers([5]), .number(9), .news),
      ("again", numbers([5]), .number(5), .duplicate), ("overtaken", numbers([5]), .number(4), .outOfOrder),
      ("overtaken, again", numbers([5, 4]), .number(4), .duplicate),
      ("again, 63 below", numbers([1, 64]), .number(1), .duplicate),
      ("again, 64 below", numbers([1, 65]), .number(1), .outOfOrder),
      ("after a leap to the end", numbers([1, .max]), .number(.max - 1), .outOfOrder),
      ("none", numbers([5]), SequenceWindow.Order.none, .news),
      ("an id again", ids(["a", "b"]), .identifier("a"), .duplicate),
      ("an id again after eight others", ids(["a"] + (1...8).map { "b\($0)" }), .identifier("a"), .news),
      ("an id that looks alike", ids(["e\u{301}"]), .identifier("\u{E9}"), .news),
      ("a number after ids", ids(["5"]), .number(5), .news),
    ] as [(String, [SequenceWindow.Order], SequenceWindow.Order, SequenceWindow.Verdict)]) func window(
      _ what: String, _ before: [SequenceWindow.Order], _ next: SequenceWindow.Order, _ verdict: SequenceWindow.Verdict
    )
  {
    var window = SequenceWindow()
    for order in before { _ = window.take(order) }
    #expect(window.take(next) == verdict)
  }

  @Test("All events of a router share its numbers; the SSID has none") func shared() {
    var scene = HomeScene()
    scene.announce(1, .of(1)) { $0.order = .number(5) }
    #expect(scene.publish(.heartbeat, 1) { $0.order = .number(5) }.isDuplicate)
    #expect(scene.publish(.offline, 1) { $0.order = .number(4) }.rejection == .outOfOrder)
    #expect(scene.publish(.offline, 1) { $0.order = .number(4) }.isDuplicate)
    #expect(scene.router(1)?.isOnline == true)
    let output = scene.publish(.ssid, 1) {
      $0.order = .number(1)
      $0.ssid = "a"
    }
    #expect(output.rejection == nil && scene.router(1)?.ssid == "a")
    #expect(scene.announce(2, .of(1)) { $0.order = .number(1) }.rejection == nil)
  }

  @Test("What says nothing new uses up its number, too") func signsOfLife() {
    var scene = HomeScene()
    scene.announce(1, .of(1)) { $0.order = .number(1) }
    scene.publish(.heartbeat, 1) { $0.order = .number(2) }
    for number: UInt64 in [3, 5] {
      #expect(scene.publish(.heartbeat, 1) { $0.order = .number(number) } == HomeOutput())
      #expect(scene.publish(.heartbeat, 1) { $0.order = .number(number) }.isDuplicate)
    }
    #expect(scene.announce(1, .of(1)) { $0.order = .number(6) } == HomeOutput())
    #expect(scene.announce(1, .of(1)) { $0.order = .number(6) }.isDuplicate)
    #expect(scene.publish(.offline, 1) { $0.order = .number(4) }.rejection == .outOfOrder)
    #expect(scene.router(1)?.isOnline == true)
  }

  @Test("A refused event does not use up its number") func refused() {
    var scene = HomeScene { $0.settings.routersPerTeam = 1 }
    scene.announce(1, .of(1)) { $0.order = .number(5) }
    scene.publish(.heartbeat, 1, from: "mallory") { $0.order = .number(6) }
    #expect(scene.announce(2, .of(1)) { $0.order = .number(1) }.rejection == .tooManyRouters(1))
    #expect(scene.router(2) == nil)
    #expect(scene.publish(.heartbeat, 1) { $0.order = .number(6) } == HomeOutput())
  }

  @Test("An event from before a leave, also one of a router that is gone, brings no router back") func afterLeave() {
    var scene = HomeScene()
    scene.announce(1, .of(1)) { $0.order = .number(1) }
    scene.publish(.leave, 1) { $0.order = .number(3) }
    #expect(scene.announce(1, .of(1)) { $0.order = .number(1) }.isDuplicate)
    #expect(scene.announce(1, .of(1)) { $0.order = .number(2) }.rejection == .outOfOrder)
    scene.publish(.leave, 1) { $0.order = .number(9) }
    #expect(scene.announce(1, .of(1)) { $0.order = .number(8) }.rejection == .outOfOrder)
    #expect(scene.announce(1, .of(1)) { $0.order = .number(10) }.types == [.announced, .datasetStored])
  }

  @Test("Numbers begin again with another login of the team, and after a removal") func restart() {
    var scene = HomeScene { $0.team = { $0 == "two" ? "otbr" : $0 } }
    scene.announce(1, .of(1)) { $0.order = .number(500) }
    #expect(scene.publish(.heartbeat, 1, from: "two") { $0.order = .number(1) }.rejection == nil)
    #expect(scene.publish(.heartbeat, 1, from: "two") { $0.order = .number(1) }.isDuplicate)
    scene.publish(.heartbeat, 1) { $0.order = .number(500) }
    scene.handle(.remove(1))
    #expect(scene.announce(1, .of(1)) { $0.order = .number(1) }.rejection == nil)
  }

  // MARK: Signed events

  private static func sign(_ message: inout RouterMessage, _ number: UInt64, issuer: UInt64 = 1) {
    message.signature = .init(issuer: Hash128(low: issuer), number: number)
    message.order = .number(number)
  }

  @Test(
    "What is taken of a user",
    arguments: [
      (EnrolledClient.Trust?.none, false, HomeRejection?.none, Optional(HomeRejection.notEnrolled)),
      (.broker, false, nil, nil), (.broker, true, nil, .notEnrolled), (.signed, false, .notSealed, nil),
      (.signed, true, .notSealed, .notEnrolled),
    ]) func trust(_ trust: EnrolledClient.Trust?, _ isRevoked: Bool, _ plain: HomeRejection?, _ signed: HomeRejection?)
  {
    var scene = HomeScene()
    if let trust { scene.enroll("otbr", trust: trust) }
    if isRevoked { scene.revoke("otbr") }
    #expect(scene.announce(1, .of(1)).rejection == plain)
    #expect(scene.announce(2, .of(1)) { Self.sign(&$0, 1) }.rejection == signed)
  }

  @Test("An envelope counts once for its signer, whichever login publishes for the router") func envelope() {
    var scene = HomeScene { $0.team = { $0 == "two" ? "otbr" : $0 } }
    scene.enroll("otbr")
    scene.announce(1, .of(1)) { Self.sign(&$0, 5) }
    #expect(scene.announce(1, .of(1)) { Self.sign(&$0, 5) }.isDuplicate)
    scene.publish(.heartbeat, 1, from: "two")
    #expect(scene.announce(1, .of(1)) { Self.sign(&$0, 5) }.isDuplicate)
    #expect(scene.publish(.leave, 1) { Self.sign(&$0, 4) }.rejection == .envelopeOutOfOrder)
    #expect(scene.router(1)?.isPresent == true)
    // A revocation and a removal do not make an old envelope new.
    scene.handle(.remove(1))
    scene.revoke("otbr", forgets: true)
    scene.enroll("otbr")
    #expect(scene.announce(1, .of(1)) { Self.sign(&$0, 5) }.isDuplicate)
    #expect(scene.announce(1, .of(1)) { Self.sign(&$0, 1, issuer: 2) }.rejection == nil)
  }

  @Test("A signed SSID is not acted upon again") func signedSSID() {
    var scene = HomeScene()
    scene.enroll("otbr")
    scene.announce(1, .of(1)) { $0.accessPoint = "ap" }
    func report(_ number: UInt64, _ ssid: String, _ subject: RouterMessage.Subject) -> HomeOutput {
      var message = RouterMessage(.ssid, subject)
      message.ssid = ssid
      Self.sign(&message, number)
      return scene.handle(.message(message, from: "otbr"))
    }
    for subject in [RouterMessage.Subject.router(1), .accessPoint("ap")] {
      _ = report(1, "a", subject)
      #expect(report(2, "b", subject).types == .ssidChanged)
      #expect(report(1, "a", subject).isDuplicate && scene.router(1)?.ssid == "b")
    }
  }

  @Test("A signed dataset of a user whose plain ones do not count ends the alert about those") func plaintextEnds() {
    var scene = HomeScene { $0.settings.alertsHold = 0 }
    let key = AlertKey(.plaintextCredentials, .user("otbr"))
    scene.announce(1, .of(1))
    scene.announce(9, .of(1), from: "other")
    scene.enroll("otbr")
    scene.announce(1, .of(1)) { Self.sign(&$0, 1) }
    #expect(scene.firing.contains(key))
    scene.enroll("otbr", trust: .signed)
    scene.announce(9, .of(1)) { Self.sign(&$0, 1) }
    #expect(scene.firing.contains(key), "an event that is refused says nothing")
    scene.announce(1, .of(1)) { Self.sign(&$0, 2) }
    #expect(!scene.firing.contains(key))
  }

  @Test("The numbers of a signer are written with what they change, and not with a sign of life") func written() {
    var scene = HomeScene()
    scene.enroll("otbr")
    let signer = RecordKey.signer(SignerKey(user: "otbr", issuer: Hash128(low: 1)), .router(1))
    scene.announce(1, .of(1)) { Self.sign(&$0, 1) }
    #expect(scene.home.takeChanges().records.contains(signer))
    // The first heartbeat of a router is news: it is to be missed from then on.
    scene.publish(.heartbeat, 1) { Self.sign(&$0, 2) }
    #expect(Array(scene.home.takeChanges().records) == [.router(1)])
    scene.publish(.heartbeat, 1) { Self.sign(&$0, 3) }
    #expect(scene.home.takeChanges().isEmpty)
    scene.publish(.offline, 1) { Self.sign(&$0, 4) }
    #expect(Array(scene.home.takeChanges().records) == [.router(1), .alert(.of(.borderRouterOffline, 1)), signer])
  }

  @Test("A signer has a record for each subject, and one for its mark") func records() throws {
    var scene = HomeScene { $0.settings.routersPerTeam = 1 }
    scene.enroll("otbr")
    let key = SignerKey(user: "otbr", issuer: Hash128(low: 1))
    for agent: UInt64 in 1...3 { scene.publish(.heartbeat, agent) { Self.sign(&$0, agent * 10) } }
    // Two subjects of one router that a team may have: the first one has gone, and the mark is its number.
    #expect(Array(scene.home.takeChanges().records.dropFirst()) == [.signer(key, .router(1)), .signer(key, nil)])
    #expect(scene.home.record(.signer(key, .router(1))) == nil)
    var read = Home(rules: scene.rules)
    for subject: RouterMessage.Subject? in [nil, .router(2), .router(3)] {
      let record = try #require(scene.home.record(.signer(key, subject)))
      #expect(record.count < 64)
      #expect(try read.load(record) == .signer(key, subject))
    }
    #expect(read.signers == scene.home.signers && read.signers[key]?.mark == 10)
  }

  @Test("A signer has a limited number of routers; of one that is forgotten only later numbers count") func limit() {
    var numbers = SignerNumbers()
    func take(_ number: UInt64, _ agent: UInt64) -> SequenceWindow.Verdict {
      numbers.take(number, .router(.number(agent)), most: 3).0
    }
    for agent: UInt64 in 1...10 { #expect(take(agent * 10, agent) == .news) }
    #expect(numbers.windows.count == 3)
    #expect(take(10, 1) == .outOfOrder && take(70, 11) == .outOfOrder)
    #expect(take(100, 10) == .duplicate && take(101, 10) == .news)
    #expect(take(95, 1) == .news)
  }

  @Test("Of several subjects with the lowest number always the same one goes") func ties() {
    for _ in 1...8 {
      var numbers = SignerNumbers()
      for agent: UInt64 in 1...20 { _ = numbers.take(5, .router(.number(agent)), most: 20) }
      #expect(numbers.take(6, .accessPoint("ap"), most: 20).gone == .router(1))
    }
  }
}

import Testing

@testable import Home

/// The clock, the connection and the keys.
@Suite struct AdoptionDeliveryTests {
  // MARK: Sending

  @Test("Agreed while the broker is away: it waits, and the router's time begins when it is sent") func brokerAway()
    throws
  {
    var scene = try HomeScene(in: .agreed)
    scene.connection = nil
    scene.live(400)
    #expect(scene.state == .agreed && scene.sent.isEmpty && scene.givenBy.isEmpty)
    scene.connection = 1
    scene.live(1)
    #expect(scene.state == .sent && scene.sent.count == 1)
    scene.arrive()
    scene.live(299)
    #expect(scene.state == .sent)
    scene.live(1)
    #expect(scene.state == .timeout)
  }

  @Test("It is sent once to each connection, and again when the envelope is over, as one message") func again() throws {
    var scene = try HomeScene(in: .agreed)
    scene.rules.settings.adoptTimeout = 900
    scene.live(1)
    scene.arrive()
    scene.live(100)
    #expect(scene.sent.map(\.connection) == [1])
    scene.connection = 2
    scene.live(1)
    #expect(scene.sent.map(\.connection) == [1, 2])
    scene.live(300)
    #expect(scene.sent.map(\.connection) == [1, 2, 2])
    // Another process remembers no connection.
    scene.forgetDeliveries()
    scene.live(1)
    #expect(scene.sent.count == 4 && Set(scene.sent.map(\.message)).count == 1)
    #expect(scene.givenBy.count == 1, "and it is given once")
  }

  @Test("What the broker never answered to is sent again, and the router has its whole time then") func unanswered()
    throws
  {
    var scene = try HomeScene(in: .agreed)
    scene.live(1)
    scene.connection = nil
    scene.live(400)
    #expect(scene.state == .sent && scene.sent.count == 1)
    scene.connection = 2
    scene.live(1)
    #expect(scene.sent.count == 2)
    scene.arrive()
    scene.live(299)
    #expect(scene.state == .sent)
    scene.live(1)
    #expect(scene.state == .timeout)
  }

  @Test("What the broker refuses is sent as soon as it takes such again; what arrived is not") func refused() throws {
    var scene = try HomeScene(in: .agreed)
    scene.live(1)
    scene.live(200)
    scene.handle(.deliveriesAreDue)
    scene.live(1)
    #expect(scene.sent.count == 2)
    scene.arrive()
    scene.handle(.deliveriesAreDue)
    scene.live(298)
    #expect(scene.state == .sent && scene.sent.count == 2)
    scene.live(2)
    #expect(scene.state == .timeout)
  }

  @Test("A message that the broker does not take has the deadline written only when half is over") func writesLittle()
    throws
  {
    var scene = try HomeScene(in: .agreed)
    scene.live(1)
    let deadline = scene.terms?.deadline
    for _ in 1...140 {
      scene.handle(.deliveriesAreDue)
      scene.live(1)
    }
    #expect(scene.terms?.deadline == deadline)
    for _ in 1...20 {
      scene.handle(.deliveriesAreDue)
      scene.live(1)
    }
    #expect(scene.terms?.deadline != deadline && scene.state == .sent)
  }

  @Test("A daemon that was away receives what waited for it before it says that time is up") func caughtUp() throws {
    var scene = try HomeScene(in: .sent)
    scene.listening = nil
    scene.live(400)
    #expect(scene.state == .sent)
    scene.listening = 0
    scene.live(9)
    #expect(scene.state == .sent)
    scene.live(1)
    #expect(scene.state == .timeout)
  }

  @Test("A lowered setting leaves a router the new time, and no more") func lowered() throws {
    var scene = try HomeScene(in: .sent)
    scene.rules.settings.adoptTimeout = 20
    scene.live(20)
    #expect(scene.state == .sent)
    scene.live(1)
    #expect(scene.state == .timeout)
  }

  @Test("A clock that is set back neither ends the wait at once nor makes it endless") func setBack() throws {
    var scene = try HomeScene(in: .sent)
    scene.wait(seconds: -40_000)
    scene.live(1)
    #expect(scene.state == .sent)
    #expect(scene.sent.count == 2, "when the first is over is not known")
    scene.live(299)
    #expect(scene.state == .sent)
    scene.live(2)
    #expect(scene.state == .timeout)
  }

  @Test("Of a message that cannot be made the history says so, and a person can be asked again") func notSent() throws {
    var scene = try HomeScene(in: .sent)
    let message = try #require(scene.terms?.message)
    scene.handle(.notSent(message: message + 1))
    #expect(scene.state == .sent && scene.notGiven == 0)
    scene.handle(.notSent(message: message))
    #expect(scene.state == .damagedCredentials && scene.notGiven == 1)
    #expect(scene.routerAlerts.contains(.adoptionFailed))
    scene.decide(.askAgain(1))
    scene.live(1)
    #expect(scene.state == .asked)
  }

  @Test("Without a daemon a router's adoption, its question and all alerts stay as they are") func withoutDaemon()
    throws
  {
    for state in [.asked, .agreed, .sent, .timeout] as [AdoptionState] {
      var scene = try HomeScene(in: state)
      let (alerts, terms, waiting) = (scene.home.alerts, scene.terms, scene.waiting)
      scene.rules.hasDaemon = false
      scene.rules.settings.adoptTimeout = nil
      scene.store(.of(1, at: 5))
      #expect(scene.dataset == .of(1, at: 5))
      #expect(scene.state == state && scene.terms == terms && scene.waiting == waiting)
      #expect(scene.home.alerts == alerts, "\(state)")
      // Its daemon looks at it.
      (scene.rules.hasDaemon, scene.rules.settings.adoptTimeout) = (true, 300)
      scene.handle(.started)
      #expect(scene.state == nil && scene.routerAlerts.isEmpty, "\(state)")
    }
  }

  // MARK: "Always" is taken back

  @Test("`always` that is taken back is not sent by: before, and on no other connection") func takenBack() throws {
    for (isSent, next) in [(false, 0), (true, 1)] {
      var scene = try HomeScene(in: .asked)
      scene.connection = isSent ? 1 : nil
      scene.approve(.always)
      scene.live(1)
      scene.decide(.revoke(grant: try #require(scene.home.grants.first).id))
      scene.connection = 2
      scene.live(1)
      #expect(scene.state == .due && scene.sent.count == next)
      #expect(scene.notGiven == (isSent ? 0 : 1))
      scene.live(1)
      #expect(scene.state == .asked && scene.sent.count == next)
    }
  }

  @Test("The same for a router that nobody was asked about: the history blames no decision") func takenBackForOthers()
    throws
  {
    var scene = try HomeScene(in: .asked)
    scene.approve(.always)
    scene.announce(3, .of(2), from: "anna")
    scene.connection = nil
    scene.live(31)
    #expect(scene.router(3)?.adoption?.state == .agreed)
    scene.decide(.revoke(grant: try #require(scene.home.grants.first).id))
    scene.connection = 1
    scene.live(1)
    #expect(scene.router(3)?.adoption?.state == .due)
    #expect(scene.home.decisions.last?.outcome == .revoked)
    #expect(scene.home.decisions.last?.obstacle == nil)
    #expect(scene.notGiven == 1, "of the first router alone")
  }

  @Test("Nothing is sent of a network that is preferred no more") func otherPreferred() throws {
    var scene = try HomeScene(in: .agreed)
    scene.prefer(.of(7))
    scene.live(1)
    #expect(scene.sent.isEmpty && scene.notGiven == 1)
    #expect(scene.waiting.map(\.subject.networks) == [[ConsentNetwork(.of(7), of: nil)]])
  }

  // MARK: Keys

  @Test("No person is asked about a login without a key; once it is enrolled, a person is") func notEnrolled() throws {
    var scene = try HomeScene(in: .notEnrolled)
    #expect(scene.waiting.isEmpty)
    #expect(scene.alert(.adoptionFailed, 1)?.facts.user == "anna")
    // Its router is away meanwhile.
    scene.publish(.offline, 1, from: "anna")
    scene.enroll("anna")
    scene.live(1)
    #expect(scene.state == .due && scene.waiting.isEmpty)
    scene.publish(.heartbeat, 1, from: "anna")
    scene.live(1)
    #expect(scene.state == .asked)
  }

  private static let waiting: [AdoptionState?] = [.asked, .agreed, .sent, .denied, .expired, .timeout, .disagreement]

  @Test(
    "A key is part of the question",
    arguments: [
      AdoptionChange("another key", in: waiting, .due) { $0.enroll("anna", fingerprint: "new") },
      AdoptionChange("revoked", in: waiting, .notEnrolled) { $0.revoke("anna", forgets: true) },
      AdoptionChange("revoked, and only signed events counted", in: waiting, .notEnrolled) {
        $0.enroll("anna", trust: .signed)
        $0.revoke("anna")
      },
      AdoptionChange("the daemon's own keys cannot be read", in: waiting, .damagedKeys) {
        $0.rules.canSeal = { false }
      },
    ]) func key(_ row: AdoptionChange) throws
  {
    for state in row.states {
      var scene = try HomeScene(in: state)
      let count = scene.sent.count
      row.apply(&scene)
      scene.connection = 2
      scene.live(1)
      // What waits for a decision has expired by then.
      let isOver = state == .asked && row.next == .due
      #expect(scene.state == (isOver ? .asked : row.next), "\(state as Any)")
      #expect(scene.waiting.map(\.requester.fingerprint) == (isOver ? ["new"] : []))
      #expect(scene.sent.count == count)
      scene.rules.canSeal = { true }
      scene.enroll("anna", fingerprint: "another")
      scene.live(3)
      #expect(scene.waiting.map(\.requester.fingerprint) == ["another"], "\(state as Any)")
    }
  }

  @Test("An obstacle is replaced by another one") func obstacles() throws {
    var scene = try HomeScene(in: .damagedKeys)
    scene.revoke("anna", forgets: true)
    scene.live(1)
    #expect(scene.state == .notEnrolled)
    scene.enroll("anna")
    scene.live(1)
    #expect(scene.state == .damagedKeys)
  }

  // MARK: Several logins of a team

  @Test("Logins of one team that take turns are asked about once, and one of them is sent it") func turns() throws {
    var scene = try HomeScene(in: .asked)
    scene.enroll("ben")
    let question = scene.waiting
    func takeTurns() {
      for user in ["ben", "anna", "ben"] as [ExactName] {
        scene.publish(.heartbeat, 1, from: user)
        scene.announce(1, .of(2), from: user)
        scene.live(1)
      }
    }
    takeTurns()
    #expect(scene.waiting == question)
    scene.approve()
    takeTurns()
    #expect(scene.sent.map(\.user) == ["anna"])
    scene.arrive()
    scene.live(300)
    #expect(scene.state == .timeout)
    takeTurns()
    #expect(scene.state == .timeout && scene.waiting.isEmpty)
    #expect(scene.alert(.adoptionFailed, 1)?.facts.user == "anna")
    // It is another's turn when the one that was asked about has no key.
    scene.revoke("anna", forgets: true)
    scene.live(2)
    #expect(scene.waiting.map(\.requester.identity) == [.login("ben")])
  }

  @Test("After a refusal, and after an expiry, turns ask no person again") func turnsAfterwards() throws {
    for state in [AdoptionState.denied, .expired] {
      var scene = try HomeScene(in: state)
      scene.enroll("ben")
      for user in ["ben", "anna", "ben"] as [ExactName] {
        scene.announce(1, .of(2), from: user)
        scene.live(130)
        #expect(scene.state == state && scene.waiting.isEmpty)
      }
    }
  }
}

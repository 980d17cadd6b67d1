import Testing

@testable import Home

/// Each row of the table of `Adoption`.
@Suite struct AdoptionTests {
  // MARK: A person is asked, agrees, and the router reports it

  @Test("No person is asked before the mismatch is raised; then once, and the router is sent it") func whole() throws {
    var scene = HomeScene.adopting()
    scene.live(29)
    #expect(scene.state == nil && scene.waiting.isEmpty)
    scene.live(1)
    #expect(scene.state == .due)
    scene.live(1)
    let question = try #require(scene.waiting.first)
    #expect(scene.state == .asked)
    #expect(question.requester.identity == .login("anna"))
    #expect(question.requester.team == "family")
    #expect(question.requester.fingerprint == "key of anna")
    #expect(
      question.subject
        == ConsentSubject(
          .adopt, [ConsentNetwork(.home, of: nil)],
          router: .init(agent: 1, name: "Living room", network: .init(2, "net-2"))))
    for _ in 1...3 {
      scene.announce(1, .guest, from: "anna")
      scene.live(1)
    }
    #expect(scene.waiting == [question])

    scene.approve()
    #expect(scene.state == .agreed && scene.output.orders.isEmpty)
    #expect(scene.givenBy.isEmpty, "nothing is given before it is sent")
    scene.live(1)
    #expect(scene.state == .sent && scene.dataset == .guest)
    let order = try #require(scene.output.orders.first)
    #expect(
      order
        == AdoptionOrder(
          agent: 1, user: "anna", message: order.message, connection: 1, deadline: scene.now.adding(seconds: 300),
          dataset: .home))
    #expect(order.message != 0 && !scene.givenBy.isEmpty)
    #expect(scene.output.types == .datasetSent)
    let event = try #require(scene.output.routerEvents.first)
    #expect(event.user == "anna" && event.consent == question.id)
    #expect(event.network == .init(.home))

    let output = scene.report(.home)
    #expect(output.types == .datasetUpdated && output.secrets.map(\.from) == [.input])
    #expect(scene.state == nil && scene.dataset == .home)
    #expect(scene.routerAlerts.isEmpty && scene.router(1)?.followsPreferred == true)
    scene.live(600)
    #expect(scene.waiting.isEmpty && scene.output.orders.isEmpty)
  }

  /// Router 1 of anna's, who is enrolled, has lost its network; or it never had one.
  private static func withoutNetwork(_ had: DatasetSummary?) -> HomeScene {
    var scene = HomeScene { $0.settings.adoptTimeout = 300 }
    scene.announce(2, .home, from: "hub")
    scene.enroll("anna")
    scene.announce(1, had, from: "anna") {
      $0.name = "Living room"
      $0.thread.state = had == nil ? .disabled : .leader
    }
    scene.publish(.offline, 1, from: "anna") { $0.offlineReason = .noNetwork }
    scene.live(31)
    return scene
  }

  @Test(
    "A router that stays behind on the preferred network is asked about once that is an alert",
    arguments: [true, false]) func behind(hadPreferred: Bool) throws
  {
    var scene = HomeScene { $0.settings.adoptTimeout = 300 }
    scene.announce(2, .home, from: "hub")
    scene.enroll("anna")
    // As where it was restored: then the preferred dataset stays stored for it.
    if hadPreferred { scene.announce(1, .home, from: "anna") }
    let older = DatasetSummary.of(1, at: 4, channel: 20)
    scene.announce(1, older, from: "anna")
    #expect(scene.router(1)?.credential == (hadPreferred ? .stale : .stored))
    #expect(scene.verdict(of: 1) == .stale(.channel))
    var following = scene
    following.live(20)
    following.report(.home)
    following.live(60)
    #expect(following.waiting.isEmpty && following.state == nil, "it has followed in time")

    scene.live(30)
    #expect(scene.routerAlerts == [.staleDataset] && scene.state == .due)
    scene.live(1)
    #expect(scene.waiting.first?.subject.router?.differs == .channel)
    scene.approve()
    scene.live(1)
    scene.report(older)
    scene.publish(.heartbeat, 1, from: "anna") { $0.thread = ThreadReport(state: .router, network: 1) }
    #expect(scene.state == .sent, "it says what it said before")
    scene.report(.home)
    #expect(scene.state == nil && scene.dataset == .home && scene.router(1)?.credential == .stored)
    #expect(scene.routerAlerts.isEmpty && scene.verdict(of: 1) == .match)
  }

  @Test("A router on the preferred network is asked about with what differs") func differs() {
    for other in [DatasetSummary.of(1, key: 7, at: 9), .of(1, at: 9, channel: 20)] {
      var scene = HomeScene.adopting()
      scene.announce(1, other, from: "anna")
      scene.live(31)
      let router = scene.waiting.first?.subject.router
      #expect(router?.network?.id == 1 && router?.differs == other.differences(from: .home))
    }
  }

  @Test(
    "A router without a network is asked about, whichever it had, and is given the preferred one",
    arguments: [nil, .home, .guest] as [DatasetSummary?]) func noNetwork(_ had: DatasetSummary?) throws
  {
    var scene = Self.withoutNetwork(had)
    #expect(scene.state == .asked && scene.routerAlerts == [.borderRouterOffline])
    let question = try #require(scene.waiting.first)
    #expect(question.subject.router == .init(agent: 1, name: "Living room", network: nil))
    // Its agent starts again.
    scene.announce(1, from: "anna") { $0.thread.state = .disabled }
    scene.publish(.offline, 1, from: "anna") { $0.offlineReason = .noNetwork }
    scene.live(1)
    #expect(scene.waiting == [question])
    scene.approve()
    scene.live(1)
    #expect(scene.state == .sent && scene.output.orders.map(\.agent) == [1])
    scene.report(.home)
    #expect(scene.state == nil && scene.dataset == .home && scene.routerAlerts.isEmpty)
  }

  @Test("A router that reports only its network is asked about by that, and says what became of it") func onlyNetwork()
    throws
  {
    for failure in [nil, AdoptionState.refused] {
      var scene = HomeScene { $0.settings.adoptTimeout = 300 }
      scene.announce(2, .home, from: "hub")
      scene.announce(3, .guest, from: "hub")
      scene.enroll("anna")
      scene.announce(1, from: "anna") { $0.thread.network = 2 }
      scene.live(31)
      let router = try #require(scene.waiting.first?.subject.router)
      #expect(router.network == .init(.guest) && scene.state == .asked)
      scene.approve()
      scene.live(1)
      #expect(scene.state == .sent)
      scene.announce(1, from: "anna") {
        $0.thread.network = failure == nil ? 1 : 2
        $0.adoptionFailure = failure
      }
      #expect(scene.state == failure)
    }
  }

  @Test(
    "A router without a network says why it does not use what it was sent",
    arguments: [nil, .home] as [DatasetSummary?]) func refusedWithoutNetwork(_ had: DatasetSummary?)
  {
    var scene = Self.withoutNetwork(had)
    scene.approve()
    scene.live(1)
    scene.announce(1, from: "anna") {
      $0.thread.state = .disabled
      $0.adoptionFailure = .refused
    }
    #expect(scene.state == .refused)
    #expect(scene.routerAlerts == [.borderRouterOffline, .adoptionFailed])
  }

  @Test("A router that has lost its network is not accepted where it was: a refusal says that it is nowhere")
  func deniedWithoutNetwork() {
    var scene = Self.withoutNetwork(.guest)
    scene.deny()
    for isAccepted in [true, false] {
      scene.handle(.acceptNetwork(2, isAccepted: isAccepted))
      scene.live(1)
      #expect(scene.state == .denied)
      #expect(scene.alert(.adoptionFailed, 1)?.facts.network?.id == 2)
      #expect(scene.alert(.adoptionFailed, 1)?.facts.hasNoNetwork == true)
    }
  }

  @Test("Nobody is asked about a router on an accepted network, until that is taken back") func accepted() throws {
    for state in [AdoptionState.asked, .agreed, .denied, .timeout] {
      var scene = try HomeScene(in: state)
      scene.handle(.acceptNetwork(2, isAccepted: true))
      #expect(scene.state == nil && scene.waiting.isEmpty && scene.routerAlerts.isEmpty, "\(state)")
      scene.rename()
      scene.live(31)
      #expect(scene.state == nil && scene.sent.isEmpty == (state != .timeout))
      scene.handle(.acceptNetwork(2, isAccepted: false))
      scene.live(140)
      #expect(scene.state == .asked, "\(state)")
    }
  }

  // MARK: A check

  static let underWay: [AdoptionState?] = [.asked, .agreed, .sent]
  static let failed: [AdoptionState?] = [.denied, .expired, .timeout, .disagreement, .refused, .damagedCredentials]
  static let obstacles: [AdoptionState?] = [.notEnrolled, .damagedKeys]

  @Test(
    "What becomes of an adoption when its router is checked",
    arguments: [
      AdoptionChange("it is on the preferred network", in: [.due] + underWay + failed + obstacles, nil) {
        $0.report(.home)
      },
      AdoptionChange("its dataset became the preferred one", in: [.due] + underWay + failed + obstacles, nil) {
        $0.prefer($0.dataset ?? .home)
      },
      AdoptionChange("no network is preferred", in: [.due] + underWay + failed + obstacles, nil) {
        $0.command(.forgetPreferred)
      },
      AdoptionChange("it is only behind", in: [.due, .asked, .agreed] + failed + obstacles, nil) {
        $0.report(.of(1, at: 4, channel: 20))
      },
      AdoptionChange("it is disputed", in: [.due, .asked, .agreed] + failed + obstacles, nil) {
        $0.report(.of(1, at: 5, channel: 20))
      },
      AdoptionChange("it is only behind, and nothing can be sealed", in: [.asked, .agreed] + failed, nil) {
        $0.revoke("anna", forgets: true)
        $0.report(.of(1, at: 4, channel: 20))
      }, AdoptionChange("another network is preferred", in: underWay + failed, .due) { $0.prefer(.of(7)) },
      AdoptionChange("the preferred network has another time only", in: underWay + failed, .asked) {
        $0.prefer(.of(1, at: 6))
      }, AdoptionChange("it is on another network", in: [.asked, .agreed] + failed, .due) { $0.report(.of(7)) },
      AdoptionChange("it repeats what it reported", in: underWay, .asked) { $0.announce(1, .guest, from: "anna") },
      AdoptionChange("its Wi-Fi has another name", in: underWay, .asked) { $0.rename() },
      AdoptionChange("its Wi-Fi has another name after it failed", in: failed, .due) { $0.rename() },
      AdoptionChange("something else is stored for it by request", in: underWay + failed, .due) { $0.store(.of(7)) },
      AdoptionChange("the preferred dataset is stored for it", in: underWay + failed, nil) {
        $0.store(.home)
        $0.live(1)
      },
      AdoptionChange("its credentials are deleted", in: [.due] + underWay + failed, nil) {
        $0.command(.deleteCredentials(1))
      },
      AdoptionChange("it leaves", in: [.due] + underWay + failed + obstacles, nil) {
        $0.publish(.leave, 1, from: "anna")
      }, AdoptionChange("it is removed", in: [.due] + underWay + failed + obstacles, nil) { $0.handle(.remove(1)) },
    ]) func check(_ row: AdoptionChange) throws
  {
    for state in row.states {
      var scene = try HomeScene(in: state)
      let before = scene.router(1)?.adoption
      row.apply(&scene)
      // A row whose next state is `asked` stands for "the same".
      let expected = row.next == .asked ? state : row.next
      #expect(scene.state == expected, "\(String(describing: state))")
      guard row.next != .asked else { continue }
      #expect(scene.state == .due || scene.firing.allSatisfy { $0.name != .adoptionFailed })
      // What waited is withdrawn, and what was agreed to is not given.
      #expect(scene.waiting.isEmpty)
      guard let terms = before?.terms, state == .agreed else { continue }
      #expect(scene.home.decisions.last { $0.id == terms.consent }?.obstacle == .changed)
    }
  }

  @Test("It begins when the mismatch is raised or the Wi-Fi has another name, and not before") func begins() {
    var scene = HomeScene.adopting()
    scene.rename()
    #expect(scene.state == .due, "without the hold")
    scene.live(1)
    #expect(scene.waiting.count == 1)
    scene = HomeScene.adopting { $0.settings.alertsHold = 0 }
    #expect(scene.state == .due, "where alerts are not held")
    scene = HomeScene.adopting { $0.settings.adoptTimeout = nil }
    scene.rename()
    scene.live(60)
    #expect(scene.state == nil)
    scene.rules.settings.adoptTimeout = 300
    scene.announce(1, .guest, from: "anna") { $0.name = "Hall" }
    #expect(scene.state == .due, "raised before the setting")
  }

  @Test("Set back to `alert`, no person is asked and nothing is sent", arguments: [true, false]) func off(isTick: Bool)
    throws
  {
    for state in [.due] + Self.underWay + Self.failed + Self.obstacles {
      var scene = try HomeScene(in: state)
      let count = scene.sent.count
      scene.rules.settings.adoptTimeout = nil
      if isTick { scene.live(1) } else { scene.report(.of(7)) }
      #expect(scene.state == nil && scene.waiting.isEmpty && scene.sent.count == count)
    }
    var scene = try HomeScene(in: .asked)
    scene.rules.settings.adoptTimeout = nil
    scene.approve()
    #expect(scene.state == nil && scene.home.decisions.last?.obstacle == .changed)
  }

  @Test("A router that only its record shows is asked about by nobody") func onlySeen() throws {
    var scene = HomeScene.adopting()
    var seen = try #require(Advertisement([7]))
    seen.network = 9
    scene.handle(.sightings(Sightings([seen])))
    scene.live(60)
    #expect(scene.router(7)?.adoption == nil)
  }

  // MARK: Asking

  @Test("A router that is away is asked about when it is back") func away() {
    var scene = HomeScene.adopting()
    scene.publish(.offline, 1, from: "anna")
    scene.live(40)
    #expect(scene.state == .due && scene.waiting.isEmpty)
    scene.publish(.heartbeat, 1, from: "anna")
    scene.live(1)
    #expect(scene.state == .asked)
  }

  @Test("What failed is asked about again when the login is in another team") func otherTeam() throws {
    for state in [AdoptionState.denied, .expired, .timeout] {
      var scene = try HomeScene(in: state)
      scene.live(ConsentQuestion.timeout)
      #expect(scene.state == state)
      scene.rules.team = { ["anna", "ben"].contains($0) ? "guests" : $0 }
      scene.live(2)
      // The credentials are those of the team before; no question waits about them.
      #expect(scene.state != state, "\(state)")
    }
  }

  @Test("Of many routers of one login five are asked about; a decision lets the next one in") func many() throws {
    var scene = HomeScene.adopting()
    scene.announce(11...17, .guest, from: "anna")
    scene.live(31)
    #expect(scene.waiting.count == 5)
    // They take none of the places of the login's own requests.
    scene.ask(.getPreferred, by: .login("anna"))
    #expect(scene.waiting.count == 6)
    scene.approve()
    scene.live(1)
    #expect(scene.waiting.count { $0.subject.command == .adopt } == 5)
  }

  @Test("`always` gives the next router of the login what it needs without a question") func always() throws {
    var scene = try HomeScene(in: .asked)
    scene.approve(.always)
    scene.announce(3, .guest, from: "anna")
    scene.live(30)
    #expect(scene.router(3)?.adoption?.state == .due)
    scene.live(1)
    #expect(scene.router(3)?.adoption?.state == .agreed)
    scene.live(1)
    #expect(scene.router(3)?.adoption?.state == .sent && scene.waiting.isEmpty)
    // Of another login a person is asked.
    scene.enroll("otbr")
    scene.announce(4, .guest)
    scene.live(31)
    #expect(scene.waiting.map(\.requester.identity) == [.login("otbr")])
  }

  @Test("Two routers that are approved for good have one grant") func sameGrant() throws {
    var scene = HomeScene.adopting()
    scene.announce(3, .guest, from: "anna")
    scene.live(31)
    for question in scene.waiting { scene.decide(.approve(question.id, .always)) }
    #expect(scene.home.grants.count == 1 && scene.home.decisions.count == 2)
  }

  // MARK: Decisions

  @Test("Denied or not decided: an alert, and no person is asked again before something changes") func denied() throws {
    for state in [AdoptionState.denied, .expired] {
      var scene = try HomeScene(in: state)
      let alert = try #require(scene.alert(.adoptionFailed, 1))
      #expect(alert.facts.message == .adoptionFailed(state, isConfiguredForPreferred: false))
      #expect(alert.facts.user == "anna" && !alert.facts.hasNoNetwork)
      scene.live(300)
      #expect(scene.state == state && scene.waiting.isEmpty)
      scene.report(.home)
      scene.report(.guest)
      scene.live(31)
      #expect(scene.state == .asked, "the mismatch is back")
    }
  }

  @Test("After a refusal no person is asked for 120 seconds, however long the question had waited") func quiet() throws
  {
    var scene = try HomeScene(in: .asked)
    scene.live(100)
    scene.deny()
    scene.rename()
    scene.live(119)
    #expect(scene.state == .due && scene.waiting.isEmpty)
    scene.live(1)
    #expect(scene.state == .asked)
  }

  @Test("A question that was lost has expired") func lost() throws {
    var scene = try HomeScene(in: .asked)
    scene.home.questions = []
    scene.live(1)
    #expect(scene.state == .expired)
  }

  @Test("What is given is what is preferred, and reported, when a person agrees") func laterTimes() throws {
    var scene = try HomeScene(in: .asked)
    scene.prefer(.of(1, at: 9))
    scene.report(.of(2, at: 3))
    scene.approve()
    #expect(scene.terms?.preferred == .of(1, at: 9) && scene.terms?.reported == .of(2, at: 3))
  }

  @Test("A person can be asked again about what failed, at once, and about nothing else") func askAgain() throws {
    for state in AdoptionState.allCases + [nil] as [AdoptionState?] {
      var scene = try HomeScene(in: state)
      let answer = scene.decide(.askAgain(1))
      guard let state, state.canBeAskedAgain else {
        #expect(answer == .refused(.nothingToAskAgain(1, state)) && scene.state == state)
        continue
      }
      #expect(answer == .asksAgain && scene.state == .due, "\(state)")
      scene.live(1)
      #expect(scene.state == .asked, "also right after a refusal: \(state)")
    }
    var scene = HomeScene.adopting()
    #expect(scene.decide(.askAgain(9)) == .refused(.unknownRouter(9)))
  }

  @Test("Nobody is asked again where nothing would be given: the home has moved, or the setting") func askAgainInVain()
    throws
  {
    for isMoved in [true, false] {
      var scene = Self.member()
      scene.deny()
      if isMoved {
        scene.announce(2, .guest, from: "hub")
        #expect(scene.home.movedTo == 2)
      } else {
        scene.rules.settings.adoptTimeout = nil
      }
      #expect(scene.decide(.askAgain(1)) == .refused(.nothingToAskAgain(1, .denied)))
      #expect(scene.state == .denied)
    }
  }

  @Test("What is stored for a router that was sent the credentials asks nobody in a home that moved")
  func storedInMovedHome() {
    var scene = Self.member()
    scene.approve()
    scene.live(1)
    scene.arrive()
    scene.announce(2, .guest, from: "hub")
    #expect(scene.state == .sent, "its report is awaited all the same")
    let decisions = scene.home.decisions
    scene.store(.of(2, at: 9))
    #expect(scene.state == nil)
    scene.live(2)
    #expect(scene.state == nil && scene.home.decisions == decisions)
  }

  /// Router 1 was on the preferred network; a person is asked now.
  private static func member() -> HomeScene {
    var scene = HomeScene.adopting()
    scene.report(.home)
    scene.report(.guest)
    scene.live(31)
    return scene
  }
}

// SPDX-License-Identifier: Apache-2.0

import Testing
import ThreadDataset

@testable import Home

/// Each row of the table of `Adoption`.
@Suite struct AdoptionTests {
  // MARK: A person is asked, agrees, and the router reports it

  @Test("No person is asked before the mismatch is raised; then once, and the router is sent it")
  func whole() throws {
    var scene = AdoptionScene()
    scene.pass(29)
    #expect(scene.state == nil && scene.waiting.isEmpty)
    scene.pass(1)
    #expect(scene.state == .due)
    scene.pass(1)
    let question = try #require(scene.waiting.first)
    #expect(scene.state == .asked)
    #expect(question.requester.identity == .login("anna"))
    #expect(question.requester.team == "family")
    #expect(question.requester.fingerprint == "key of anna")
    #expect(
      question.subject
        == ConsentSubject(
          .adopt, [ConsentNetwork(.home, of: nil)],
          router: .init(agent: .number(1), name: "Living room", networkName: "net-2")))
    for _ in 1...3 {
      scene.scene.announce(1, .guest, from: "anna")
      scene.pass(1)
    }
    #expect(scene.waiting == [question])

    scene.approve()
    #expect(scene.state == .agreed && scene.orders.isEmpty)
    #expect(!scene.isGiven, "nothing is given before it is sent")
    scene.pass(1)
    #expect(scene.state == .sent && scene.dataset == .guest)
    let order = try #require(scene.orders.first)
    #expect(
      order
        == AdoptionOrder(
          agent: .number(1), user: "anna", message: order.message, connection: 1,
          deadline: scene.scene.now.adding(seconds: 300), dataset: .home))
    #expect(order.message != 0 && scene.isGiven)
    #expect(scene.scene.output.types == .datasetSent)
    guard case .router(let event) = scene.scene.output.events.first else { throw Missing() }
    #expect(event.user == "anna" && event.consent == question.id)
    #expect(event.network == .init(.home))

    let output = scene.report(.home)
    #expect(output.types == .datasetUpdated && output.secrets.map(\.from) == [.input])
    #expect(scene.state == nil && scene.dataset == .home)
    #expect(scene.firing.isEmpty && scene.scene.router(1)?.followsPreferred == true)
    scene.pass(600)
    #expect(scene.waiting.isEmpty && scene.orders.isEmpty)
  }

  // MARK: A check

  struct Check: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let states: [AdoptionState?]
    let change: @Sendable (inout AdoptionScene) -> Void
    let next: AdoptionState?
  }

  static let underWay: [AdoptionState?] = [.asked, .agreed, .sent]
  static let failed: [AdoptionState?] = [
    .denied, .expired, .timeout, .disagreement, .refused, .damagedCredentials,
  ]
  static let obstacles: [AdoptionState?] = [.notEnrolled, .damagedKeys]

  @Test(
    "What becomes of an adoption when its router is checked",
    arguments: [
      Check(
        testDescription: "it is on the preferred network",
        states: [.due] + underWay + failed + obstacles, change: { $0.report(.home) }, next: nil),
      Check(
        testDescription: "its dataset became the preferred one",
        states: [.due] + underWay + failed + obstacles,
        change: { $0.prefer($0.dataset ?? .home) }, next: nil),
      Check(
        testDescription: "no network is preferred", states: [.due] + underWay + failed + obstacles,
        change: { $0.scene.command(.forgetPreferred) }, next: nil),
      Check(
        testDescription: "it is only behind",
        states: [.due, .asked, .agreed] + failed + obstacles,
        change: { $0.report(.of(1, at: 4, channel: 20)) }, next: nil),
      Check(
        testDescription: "it is disputed",
        states: [.due, .asked, .agreed] + failed + obstacles,
        change: { $0.report(.of(1, at: 5, channel: 20)) }, next: nil),
      Check(
        testDescription: "it is only behind, and nothing can be sealed",
        states: [.asked, .agreed] + failed,
        change: {
          $0.scene.handle(.revoke("anna", forgets: true, by: .commandLine(user: 0)))
          $0.report(.of(1, at: 4, channel: 20))
        }, next: nil),
      Check(
        testDescription: "another network is preferred", states: underWay + failed,
        change: { $0.prefer(.of(7)) }, next: .due),
      Check(
        testDescription: "the preferred network has another time only", states: underWay + failed,
        change: { $0.prefer(.of(1, at: 6)) }, next: .asked),
      Check(
        testDescription: "it is on another network", states: [.asked, .agreed] + failed,
        change: { $0.report(.of(7)) }, next: .due),
      Check(
        testDescription: "it repeats what it reported", states: underWay,
        change: { $0.scene.announce(1, .guest, from: "anna") }, next: .asked),
      Check(
        testDescription: "its Wi-Fi has another name", states: underWay,
        change: { $0.rename() }, next: .asked),
      Check(
        testDescription: "its Wi-Fi has another name after it failed", states: failed,
        change: { $0.rename() }, next: .due),
      Check(
        testDescription: "something else is stored for it by request", states: underWay + failed,
        change: { $0.store(.of(7)) }, next: .due),
      Check(
        testDescription: "the preferred dataset is stored for it", states: underWay + failed,
        change: {
          $0.store(.home)
          $0.pass(1)
        }, next: nil),
      Check(
        testDescription: "its credentials are deleted", states: [.due] + underWay + failed,
        change: { $0.scene.command(.deleteCredentials(.number(1))) }, next: nil),
      Check(
        testDescription: "it leaves", states: [.due] + underWay + failed + obstacles,
        change: { $0.scene.publish(.leave, 1, from: "anna") }, next: nil),
      Check(
        testDescription: "it is removed", states: [.due] + underWay + failed + obstacles,
        change: { $0.scene.handle(.remove(.number(1))) }, next: nil),
    ])
  func check(_ row: Check) throws {
    for state in row.states {
      var scene = try AdoptionScene(in: state)
      let before = scene.scene.router(1)?.adoption
      row.change(&scene)
      // A row whose next state is `asked` stands for "the same".
      let expected = row.next == .asked ? state : row.next
      #expect(scene.state == expected, "\(String(describing: state))")
      guard row.next != .asked else { continue }
      #expect(scene.state == .due || scene.scene.firing.allSatisfy { $0.name != .adoptionFailed })
      // What waited is withdrawn, and what was agreed to is not given.
      #expect(scene.waiting.isEmpty)
      guard let terms = before?.terms, state == .agreed else { continue }
      #expect(scene.scene.home.decisions.last { $0.id == terms.consent }?.obstacle == .changed)
    }
  }

  @Test("It begins when the mismatch is raised or the Wi-Fi has another name, and not before")
  func begins() {
    var scene = AdoptionScene()
    scene.rename()
    #expect(scene.state == .due, "without the hold")
    scene.pass(1)
    #expect(scene.waiting.count == 1)
    scene = AdoptionScene { $0.alertsHold = 0 }
    #expect(scene.state == .due, "where alerts are not held")
    scene = AdoptionScene { $0.adoptTimeout = nil }
    scene.rename()
    scene.pass(60)
    #expect(scene.state == nil)
    scene.scene.rules.adoptTimeout = 300
    scene.scene.announce(1, .guest, from: "anna") { $0.name = "Hall" }
    #expect(scene.state == .due, "raised before the setting")
  }

  @Test("Set back to `alert`, no person is asked and nothing is sent", arguments: [true, false])
  func off(isTick: Bool) throws {
    for state in [.due] + Self.underWay + Self.failed + Self.obstacles {
      var scene = try AdoptionScene(in: state)
      let count = scene.sent.count
      scene.scene.rules.adoptTimeout = nil
      if isTick { scene.pass(1) } else { scene.report(.of(7)) }
      #expect(scene.state == nil && scene.waiting.isEmpty && scene.sent.count == count)
    }
    var scene = try AdoptionScene(in: .asked)
    scene.scene.rules.adoptTimeout = nil
    scene.approve()
    #expect(scene.state == nil && scene.scene.home.decisions.last?.obstacle == .changed)
  }

  @Test("A router that only its record shows is asked about by nobody")
  func onlySeen() throws {
    var scene = AdoptionScene()
    var seen = try #require(Advertisement([.number(7)]))
    seen.network = .number(9)
    scene.scene.handle(.sightings(Sightings([seen])))
    scene.pass(60)
    #expect(scene.scene.router(7)?.adoption == nil)
  }

  // MARK: Asking

  @Test("A router that is away is asked about when it is back")
  func away() {
    var scene = AdoptionScene()
    scene.scene.publish(.offline, 1, from: "anna")
    scene.pass(40)
    #expect(scene.state == .due && scene.waiting.isEmpty)
    scene.scene.publish(.heartbeat, 1, from: "anna")
    scene.pass(1)
    #expect(scene.state == .asked)
  }

  @Test("What failed is asked about again when the login is in another team")
  func otherTeam() throws {
    for state in [AdoptionState.denied, .expired, .timeout] {
      var scene = try AdoptionScene(in: state)
      scene.pass(ConsentQuestion.timeout)
      #expect(scene.state == state)
      scene.scene.rules.team = { ["anna", "ben"].contains($0) ? "guests" : $0 }
      scene.pass(2)
      // The credentials are those of the team before; no question waits about them.
      #expect(scene.state != state, "\(state)")
    }
  }

  @Test("Of many routers of one login five are asked about; a decision lets the next one in")
  func many() throws {
    var scene = AdoptionScene()
    for agent in 11...17 as ClosedRange<UInt64> {
      scene.scene.announce(agent, .guest, from: "anna")
    }
    scene.pass(31)
    #expect(scene.waiting.count == 5)
    // They take none of the places of the login's own requests.
    scene.scene.ask(.getPreferred, by: HomeScene.requester("anna"))
    #expect(scene.waiting.count == 6)
    scene.approve()
    scene.pass(1)
    #expect(scene.waiting.count { $0.subject.command == .adopt } == 5)
  }

  @Test("`always` gives the next router of the login what it needs without a question")
  func always() throws {
    var scene = try AdoptionScene(in: .asked)
    scene.approve(.always)
    scene.scene.announce(3, .guest, from: "anna")
    scene.pass(30)
    #expect(scene.scene.router(3)?.adoption?.state == .due)
    scene.pass(1)
    #expect(scene.scene.router(3)?.adoption?.state == .agreed)
    scene.pass(1)
    #expect(scene.scene.router(3)?.adoption?.state == .sent && scene.waiting.isEmpty)
    // Of another login a person is asked.
    scene.scene.enroll("otbr")
    scene.scene.announce(4, .guest)
    scene.pass(31)
    #expect(scene.waiting.map(\.requester.identity) == [.login("otbr")])
  }

  @Test("Two routers that are approved for good have one grant")
  func sameGrant() throws {
    var scene = AdoptionScene()
    scene.scene.announce(3, .guest, from: "anna")
    scene.pass(31)
    for question in scene.waiting { scene.scene.decide(.approve(question.id, .always)) }
    #expect(scene.scene.home.grants.count == 1 && scene.scene.home.decisions.count == 2)
  }

  // MARK: Decisions

  @Test("Denied or not decided: an alert, and no person is asked again before something changes")
  func denied() throws {
    for state in [AdoptionState.denied, .expired] {
      var scene = try AdoptionScene(in: state)
      let alert = try #require(scene.scene.alert(.adoptionFailed, 1))
      #expect(alert.facts.message == .adoptionFailed(state, isConfiguredForPreferred: false))
      #expect(alert.facts.user == "anna")
      scene.pass(300)
      #expect(scene.state == state && scene.waiting.isEmpty)
      scene.report(.home)
      scene.report(.guest)
      scene.pass(31)
      #expect(scene.state == .asked, "the mismatch is back")
    }
  }

  @Test("After a refusal no person is asked for 120 seconds, however long the question had waited")
  func quiet() throws {
    var scene = try AdoptionScene(in: .asked)
    scene.pass(100)
    scene.deny()
    scene.rename()
    scene.pass(119)
    #expect(scene.state == .due && scene.waiting.isEmpty)
    scene.pass(1)
    #expect(scene.state == .asked)
  }

  @Test("A question that was lost has expired")
  func lost() throws {
    var scene = try AdoptionScene(in: .asked)
    scene.scene.home.questions = []
    scene.pass(1)
    #expect(scene.state == .expired)
  }

  @Test("What is given is what is preferred, and reported, when a person agrees")
  func laterTimes() throws {
    var scene = try AdoptionScene(in: .asked)
    scene.prefer(.of(1, at: 9))
    scene.report(.of(2, at: 3))
    scene.approve()
    #expect(scene.terms?.preferred == .of(1, at: 9) && scene.terms?.reported == .of(2, at: 3))
  }

  @Test("A person can be asked again about what failed, at once, and about nothing else")
  func askAgain() throws {
    for state in AdoptionState.allCases + [nil] as [AdoptionState?] {
      var scene = try AdoptionScene(in: state)
      let answer = scene.scene.decide(.askAgain(.number(1)))
      guard let state, state.canBeAskedAgain else {
        #expect(answer == .refused(.nothingToAskAgain(.number(1), state)) && scene.state == state)
        continue
      }
      #expect(answer == .asksAgain && scene.state == .due, "\(state)")
      scene.pass(1)
      #expect(scene.state == .asked, "also right after a refusal: \(state)")
    }
    var scene = AdoptionScene()
    #expect(
      scene.scene.decide(.askAgain(.number(9))) == .refused(.unknownRouter(.number(9))))
  }

  @Test("Nobody is asked again where nothing would be given: the home has moved, or the setting")
  func askAgainInVain() throws {
    for isMoved in [true, false] {
      var scene = Self.member()
      scene.deny()
      if isMoved {
        scene.scene.announce(2, .guest, from: "hub")
        #expect(scene.scene.home.movedTo == .number(2))
      } else {
        scene.scene.rules.adoptTimeout = nil
      }
      #expect(
        scene.scene.decide(.askAgain(.number(1)))
          == .refused(.nothingToAskAgain(.number(1), .denied)))
      #expect(scene.state == .denied)
    }
  }

  @Test(
    "What is stored for a router that was sent the credentials asks nobody in a home that moved")
  func storedInMovedHome() {
    var scene = Self.member()
    scene.approve()
    scene.pass(1)
    scene.arrive()
    scene.scene.announce(2, .guest, from: "hub")
    #expect(scene.state == .sent, "its report is awaited all the same")
    let decisions = scene.scene.home.decisions
    scene.store(.of(2, at: 9))
    #expect(scene.state == nil)
    scene.pass(2)
    #expect(scene.state == nil && scene.scene.home.decisions == decisions)
  }

  /// Router 1 was on the preferred network; a person is asked now.
  private static func member() -> AdoptionScene {
    var scene = AdoptionScene()
    scene.report(.home)
    scene.report(.guest)
    scene.pass(31)
    return scene
  }
}

extension DatasetSummary {
  fileprivate static let home = DatasetSummary.of(1, at: 5)
  fileprivate static let guest = DatasetSummary.of(2)
}

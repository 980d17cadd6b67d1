// SPDX-License-Identifier: Apache-2.0

import Testing
import ThreadDataset

@testable import Home

/// A home that prefers network 1, and router 1 of anna's, who is enrolled, on network 2.
struct AdoptionScene {
  var scene: HomeScene
  /// The one that publishes.
  var connection: Int64? = 1
  /// Seconds for which everything that routers publish has been received; nil while it is not.
  var listening: Int? = 3_600
  private(set) var orders: [AdoptionOrder] = []
  /// All that was ever sent.
  private(set) var sent: [AdoptionOrder] = []
  /// By which consents something was given.
  private(set) var givenBy: [ConsentID] = []

  init(_ change: (inout HomeRules) -> Void = { _ in }) {
    scene = HomeScene {
      $0.adoptTimeout = 300
      $0.team = { ["anna", "ben"].contains($0) ? "family" : $0 }
      change(&$0)
    }
    scene.announce(2, .of(1, at: 5), from: "hub")
    scene.enroll("anna")
    scene.announce(1, .of(2), from: "anna") { $0.name = "Living room" }
  }

  /// In a state of the adoption.
  init(in wanted: AdoptionState?) throws {
    self = try #require(Self.scenes[wanted])
    #expect(state == wanted)
  }

  /// Each is lived through once.
  private static let scenes = Dictionary(
    uniqueKeysWithValues: ([nil] + AdoptionState.allCases).map { ($0, AdoptionScene(living: $0)) })

  private init(living wanted: AdoptionState?) {
    self.init()
    switch wanted {
    case nil: return
    case .due:
      pass(30)
      return
    case .notEnrolled: scene.handle(.revoke("anna", forgets: true, by: .commandLine(user: 0)))
    case .damagedKeys: scene.rules.canSeal = { false }
    default: break
    }
    pass(31)
    switch wanted {
    case .asked, .notEnrolled, .damagedKeys: break
    case .denied: deny()
    case .expired: pass(120)
    case .agreed: approve()
    default:
      approve()
      pass(1)
      arrive()
      switch wanted {
      case .sent: break
      case .timeout: pass(300)
      case .disagreement: report(.of(8))
      case .damagedCredentials: scene.handle(.notSent(message: terms?.message ?? 0))
      default:
        // The reason is final in the last minute.
        pass(290)
        scene.publish(.dataset, 1, from: "anna") {
          $0.dataset = .of(2)
          $0.adoptionFailure = wanted
        }
      }
    }
  }

  var state: AdoptionState? { scene.router(1)?.adoption?.state }
  var terms: Adoption.Terms? { scene.router(1)?.adoption?.terms }
  var dataset: DatasetSummary? { scene.router(1)?.dataset }
  var waiting: [ConsentQuestion] {
    scene.home.questions.filter { !$0.isDenied && !$0.isOver(at: scene.now) }
  }
  /// Alerts about router 1 that fire.
  var firing: Set<AlertName> {
    Set(scene.firing.filter { $0.subject == .router(.number(1)) }.map(\.name))
  }
  var isGiven: Bool { !givenBy.isEmpty }
  /// Approvals of which the history says that nothing was given.
  var notGiven: Int { scene.home.decisions.count { $0.obstacle != nil } }

  /// Second by second.
  mutating func pass(_ seconds: Int) {
    for _ in 0..<seconds {
      scene.wait(seconds: 1)
      listening = listening.map { $0 + 1 }
      let since = listening.map { scene.now.adding(seconds: -$0) }
      let output = scene.handle(.tick(Link(connection: connection, listeningSince: since)))
      orders = output.orders
      sent += orders
      for case .given(_, _, by: let consent) in output.audit { givenBy.append(consent) }
    }
  }

  /// The broker has taken what was sent.
  mutating func arrive() {
    if let message = terms?.message { scene.handle(.delivered(message: message)) }
  }

  mutating func approve(_ scope: ConsentScope = .once) {
    if let question = waiting.first { scene.decide(.approve(question.id, scope)) }
  }

  mutating func deny() {
    if let question = waiting.first { scene.decide(.deny(question.id)) }
  }

  @discardableResult
  mutating func report(_ dataset: DatasetSummary) -> HomeOutput {
    scene.publish(.dataset, 1, from: "anna") { $0.dataset = dataset }
  }

  mutating func prefer(_ dataset: DatasetSummary) {
    scene.command(.setPreferred(.dataset(dataset)))
  }

  /// A program of anna's team stores something for it.
  mutating func store(_ dataset: DatasetSummary) {
    var requester = Requester(.login("ben"), team: "family")
    requester.fingerprint = "key of ben"
    scene.ask(.storeCredentials(.number(1), dataset), by: requester)
  }

  mutating func enroll(_ fingerprint: String) { scene.enroll("anna", fingerprint: fingerprint) }

  /// Its Wi-Fi has another name.
  mutating func rename() {
    scene.publish(.ssid, 1, from: "watcher") {
      $0.ssid = "new"
      $0.previousSSID = "old"
    }
  }

  /// As after a start.
  mutating func forgetDeliveries() {
    guard var router = scene.router(1) else { return }
    router.adoption?.delivery = nil
    scene.home.routers.set(router, firstSeen: scene.now)
  }
}

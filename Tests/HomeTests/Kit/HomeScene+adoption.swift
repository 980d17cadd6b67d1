import Testing

@testable import Home

extension DatasetSummary {
  /// What the home of an adoption prefers, and what its router has.
  static let home = DatasetSummary.of(1, at: 5)
  static let guest = DatasetSummary.of(2)
}

/// The adoption of router 1.
extension HomeScene {
  /// A home that prefers network 1, and router 1 of anna's, who is enrolled, on network 2.
  static func adopting(_ change: (inout HomeRules) -> Void = { _ in }) -> HomeScene {
    var scene = HomeScene {
      $0.settings.adoptTimeout = 300
      $0.settings.ssidReporters = ["watcher"]
      $0.team = { ["anna", "ben"].contains($0) ? "family" : $0 }
      change(&$0)
    }
    scene.announce(2, .home, from: "hub")
    scene.enroll("anna")
    scene.announce(1, .guest, from: "anna") { $0.name = "Living room" }
    return scene
  }

  /// In a state of the adoption.
  init(in wanted: AdoptionState?) throws {
    self = try #require(Self.scenes[wanted])
    #expect(state == wanted)
  }

  /// Each is lived through once.
  private static let scenes = Dictionary(
    uniqueKeysWithValues: ([nil] + AdoptionState.allCases).map { ($0, living($0)) })

  private static func living(_ wanted: AdoptionState?) -> HomeScene {
    var scene = adopting()
    switch wanted {
    case nil: return scene
    case .due:
      scene.live(30)
      return scene
    case .notEnrolled: scene.revoke("anna", forgets: true)
    case .damagedKeys: scene.rules.canSeal = { false }
    default: break
    }
    scene.live(31)
    switch wanted {
    case .asked, .notEnrolled, .damagedKeys: break
    case .denied: scene.deny()
    case .expired: scene.live(120)
    case .agreed: scene.approve()
    default:
      scene.approve()
      scene.live(1)
      scene.arrive()
      switch wanted {
      case .sent: break
      case .timeout: scene.live(300)
      case .disagreement: scene.report(.of(8))
      case .damagedCredentials: scene.handle(.notSent(message: scene.terms?.message ?? 0))
      default:
        // The reason is final in the last minute.
        scene.live(290)
        scene.publish(.dataset, 1, from: "anna") {
          $0.dataset = .guest
          $0.adoptionFailure = wanted
        }
      }
    }
    return scene
  }

  var state: AdoptionState? { router(1)?.adoption?.state }
  var terms: Adoption.Terms? { router(1)?.adoption?.terms }
  var dataset: DatasetSummary? { router(1)?.dataset }
  /// Alerts about the router that fire.
  var routerAlerts: Set<AlertName> { Set(firing.filter { $0.subject == .router(1) }.map(\.name)) }
  /// Approvals of which the history says that nothing was given.
  var notGiven: Int { home.decisions.count { $0.obstacle != nil } }

  /// The broker has taken what was sent.
  mutating func arrive() { if let message = terms?.message { handle(.delivered(message: message)) } }

  @discardableResult mutating func report(_ dataset: DatasetSummary) -> HomeOutput {
    publish(.dataset, 1, from: "anna") { $0.dataset = dataset }
  }

  /// A program of anna's team stores something for it.
  mutating func store(_ dataset: DatasetSummary) {
    ask(.storeCredentials(1, dataset), by: .login("ben", team: "family"))
  }

  /// Its Wi-Fi has another name.
  mutating func rename() {
    publish(.ssid, 1, from: "watcher") {
      $0.ssid = "new"
      $0.previousSSID = "old"
    }
  }

  /// As after a start.
  mutating func forgetDeliveries() {
    guard var router = router(1) else { return }
    router.adoption?.delivery = nil
    home.routers.set(router, firstSeen: now)
  }
}

/// What happens to the router in some states of its adoption.
struct AdoptionChange: Sendable, CustomTestStringConvertible {
  let testDescription: String
  let states: [AdoptionState?]
  let next: AdoptionState?
  let apply: @Sendable (inout HomeScene) -> Void

  init(
    _ description: String, in states: [AdoptionState?], _ next: AdoptionState?,
    _ apply: @escaping @Sendable (inout HomeScene) -> Void
  ) { (testDescription, self.states, self.next, self.apply) = (description, states, next, apply) }
}

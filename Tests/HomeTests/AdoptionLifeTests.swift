// SPDX-License-Identifier: Apache-2.0

import Testing
import ThreadDataset

@testable import Home

/// Random lives of routers that are asked about, sent for, and report what they like.
@Suite struct AdoptionLifeTests {
  private static let agents: [UInt64] = [1, 3, 4]

  @Test(
    "Whatever happens while routers are adopted, state, question, message and alert agree",
    arguments: 1...6)
  func life(_ seed: Int) throws {
    var random = RandomHome(seed: UInt64(seed))
    var scene = AdoptionScene()
    var approved = 0
    var seen: Set<AdoptionState> = []
    for step in 1...300 {
      act(&scene, &random, &approved)
      scene.pass(Int.random(in: 0...2, using: &random))
      let context: Comment = "seed \(seed), step \(step)"
      for agent in Self.agents {
        guard let router = scene.scene.router(agent) else { continue }
        let adoption = router.adoption
        if let state = adoption?.state { seen.insert(state) }
        #expect(isConsistent(router, scene), context)
        let alert = scene.scene.alert(.adoptionFailed, agent)
        #expect(
          (alert?.phase == .firing) == (adoption?.state.hasFailed == true && router.isPresent),
          context)
      }
      // What waits is what some router waits for.
      let awaited = Set(scene.scene.home.routers.compactMap { $0.adoption?.terms?.consent })
      #expect(scene.waiting.allSatisfy { awaited.contains($0.id) }, context)
      // Nothing is given without an approval, and nothing twice by the same but for "always".
      let granted = scene.scene.home.decisions.filter { $0.scope == .always }.map(\.grant)
      let once = scene.givenBy.filter { id in !granted.contains(id) }
      #expect(once.count <= approved && Set(once).count == once.count, context)
    }
    #expect(seen.contains(.asked) && seen.count > 3, "little happened: \(seen)")
  }

  private func isConsistent(_ router: Router, _ scene: AdoptionScene) -> Bool {
    guard let adoption = router.adoption else { return true }
    guard router.isPresent, let terms = adoption.terms else {
      return router.isPresent && !adoption.state.needsKey
    }
    switch adoption.state {
    case .due, .notEnrolled, .damagedKeys: return false
    // The tick that makes it expire has not come, or it waits.
    case .asked: return scene.scene.home.questions.contains { $0.id == terms.consent }
    case .agreed: return terms.message == 0
    case .sent: return terms.message != 0 && terms.reported == router.dataset
    default: return true
    }
  }

  private func act(
    _ scene: inout AdoptionScene, _ random: inout RandomHome, _ approved: inout Int
  ) {
    func pick<T>(_ all: [T]) -> T { all[Int.random(in: 0..<all.count, using: &random)] }
    func dataset() -> DatasetSummary {
      .of(pick([1, 2, 2, 2]), at: pick([1, 2, 5]), channel: pick([15, 15, 20]))
    }
    let agent = pick(Self.agents)
    let user = pick(["anna", "ben"] as [ExactName])
    switch Int.random(in: 0..<20, using: &random) {
    case 0...4:
      scene.scene.announce(agent, dataset(), from: user) {
        $0.thread.state = pick([nil, .router, .detached])
        $0.adoptionFailure = pick([nil, nil, .refused, .pendingChange])
      }
    case 5: scene.scene.announce(agent, from: user)
    case 6: scene.scene.publish(.leave, agent, from: user)
    case 7: scene.scene.publish(pick([.heartbeat, .offline]), agent, from: user)
    case 8: scene.scene.publish(.ssid, agent, from: user) { $0.ssid = pick(["a", "b"]) }
    case 9...11:
      approved += scene.waiting.isEmpty ? 0 : 1
      scene.approve(pick([.once, .once, .once, .always]))
    case 12: scene.deny()
    case 13: scene.pass(pick([30, 30, 130, 320]))
    case 14: scene.forgetDeliveries()
    case 15: scene.arrive()
    case 16: scene.store(dataset())
    case 17: scene.prefer(pick([.of(1, at: 5), .of(1, at: 5), .of(1, at: 5), dataset()]))
    case 18:
      if let grant = scene.scene.home.grants.first { scene.scene.decide(.revoke(grant: grant.id)) }
    default:
      scene.connection = pick([nil, 1, 2])
      switch pick([0, 1, 1, 2]) {
      case 0: scene.scene.handle(.revoke("anna", forgets: true, by: .commandLine(user: 0)))
      case 1: scene.enroll(pick(["one", "two"]))
      default: scene.scene.decide(.askAgain(.number(agent)))
      }
    }
  }
}

// SPDX-License-Identifier: Apache-2.0

import Broker
import ConsentLedger
import TestKit
import Testing
import ThreadCredentialStore
import ThreadDataset
import ThreadRequests

@testable import Bridge

/// Random lives of routers that are asked about, sent for, and say what they like.
@Suite("Whatever happens while routers are adopted, registry, store and questions agree")
struct AdoptionLifeTests {
  private static let networks: [SampleNetwork] = [
    .home, .guest, SampleNetwork.home.with { $0.channel = 20 },
    SampleNetwork.guest.with { $0.extendedPANID = "5555555566666666" },
  ]
  private static let agents = [Agent.living, Agent.garage, "a1b2c3d4e5f60003"]

  static let seeds: [UInt64] = [
    1, 2, 3, 16_723_306_576_452_743_040, .random(in: 0 ... .max),
  ]

  private final class Life {
    let scene: AdoptionScene
    var generator: SeededGenerator
    /// What each router has said, or somebody has stored for it by request.
    var said: [String: Set<OperationalDataset>] = [:]
    var approvals = 0
    var seen: Set<AdoptionState> = []

    init(seed: UInt64) throws {
      scene = try AdoptionScene()
      generator = SeededGenerator(seed: seed)
      said[Agent.living] = [try SampleNetwork.guest.dataset(at: 1)]
    }

    func pick<T>(_ all: [T]) -> T { all[Int.random(in: 0..<all.count, using: &generator)] }

    func dataset() throws -> OperationalDataset {
      try pick(AdoptionLifeTests.networks).dataset(
        at: .random(in: 1...4, using: &generator))
    }
  }

  @Test("Step by step", arguments: seeds)
  func steps(seed: UInt64) throws {
    let life = try Life(seed: seed)
    for step in 0..<250 {
      let comment: Comment = "seed \(seed), step \(step)"
      try act(life)
      // What the clock would do within two seconds, walks included.
      repeat {
        try life.scene.bridge.pass(1)
      } while try life.scene.bridge.home().reevaluateAfter != nil
      try life.scene.bridge.pass(1)
      for agent in Self.agents { try check(agent, life, comment) }
      try checkQuestions(life, comment)
      // Nothing is sent without somebody's word, and nothing twice by the same, but for "always".
      let words = try life.scene.adoptionsSent.filter { $0.hasPrefix("c-") }
      #expect(words.count <= life.approvals && Set(words).count == words.count, comment)
    }
    guard seed <= 3 else { return }
    #expect(life.seen.isSuperset(of: [.asked, .sent]), "seed \(seed): little happened")
  }

  private func act(_ life: Life) throws {
    let bridge = life.scene.bridge
    let agent = life.pick(Self.agents)
    switch Int.random(in: 0..<20, using: &life.generator) {
    case 0...4:
      let dataset = try life.dataset()
      try bridge.say(.announce, agent, ["dataset": dataset.hex])
      life.said[agent, default: []].insert(dataset)
    case 5: try bridge.say(.announce, agent)
    case 6: try bridge.say(.leave, agent)
    case 7:
      try bridge.say(life.pick([.heartbeat, .offline]), agent, user: life.pick(["anna", "ben"]))
    case 8: try bridge.say(.ssid, agent, ["ssid": life.pick(["a", "b"])])
    case 9...11:
      guard let id = try life.scene.waiting().first?.id.description else { break }
      let scope: ConsentScope = life.pick([.once, .once, .once, .always])
      try life.scene.consents.approve(id, scope, by: .commandLine(user: 0))
      life.approvals += 1
    case 12:
      guard let id = try life.scene.waiting().last?.id.description else { break }
      try life.scene.consents.deny(id, by: .commandLine(user: 0))
    case 13: try bridge.pass(life.pick([30, 130, 320]))
    case 14: try life.scene.restart()
    case 15:
      bridge.configuration.adoptTimeout = life.pick([nil, 300, 300])
      try life.scene.restart()
    case 16:
      let dataset = try life.dataset()
      _ = try bridge.ask(
        .storeCredentials, ["border_agent_id": agent, "dataset": dataset.hex])
      life.said[agent, default: []].insert(dataset)
    case 17:
      var request = ThreadRequest(.setPreferred)
      request.dataset = try life.dataset()
      _ = try bridge.command(request).result()
    case 18: _ = try bridge.removeCredential(of: agent)
    default:
      bridge.connection = life.pick([nil, 1, 2])
      if Bool.random(using: &life.generator) {
        try life.scene.revoke()
      } else {
        try life.scene.changeKey(Bool.random(using: &life.generator) ? Identity() : nil)
      }
    }
  }

  private func check(_ name: String, _ life: Life, _ comment: Comment) throws {
    let bridge = life.scene.bridge
    let agent = try agent(name)
    let adoption = try bridge.database.read {
      try bridge.store.adoption(of: agent, in: "home", $0)
    }
    let credential = try bridge.credential(name)
    let router = try bridge.router(name).flatMap { $0.isPresent ? $0 : nil }
    let state = router?.adoption
    if let state { life.seen.insert(state) }
    switch state {
    case nil, .due, .notEnrolled, .damagedKeys: #expect(adoption == nil, comment)
    case .asked: #expect(adoption?.phase == .asked, comment)
    case .agreed: #expect(adoption?.phase == .agreed && adoption?.id == "", comment)
    case .sent:
      #expect(adoption?.phase == .sent && credential?.dataset == adoption?.reported, comment)
      #expect(router?.network == adoption?.reported.extendedPANID, comment)
      // A home that has moved as a whole has one alert instead of one for each router.
      let isMove = try bridge.home().movedTo != nil && bridge.home().movedTo == router?.network
      let phase = try bridge.alert(.preferredNetworkMismatch, name)?.phase
      let firing = try bridge.firing()
      #expect(phase != .resolved || isMove, "\(comment), firing \(firing)")
    default: #expect(adoption?.phase == .over, comment)
    }
    // Nothing is stored that nobody has said.
    if let credential {
      #expect(life.said[name]?.contains(credential.dataset) == true, comment)
      #expect(router == nil || router?.network == credential.dataset.extendedPANID, comment)
    }
    let isFiring = try bridge.alert(.adoptionFailed, name)?.phase == .firing
    #expect(isFiring == (state?.hasFailed == true), comment)
    if bridge.configuration.adoptTimeout == nil { #expect(state == nil, comment) }
  }

  /// What waits is what some router waits for.
  private func checkQuestions(_ life: Life, _ comment: Comment) throws {
    let bridge = life.scene.bridge
    for question in try life.scene.waiting() {
      let agent = try #require(question.subject.router?.agent)
      let adoption = try bridge.database.read {
        try bridge.store.adoption(of: agent, in: "home", $0)
      }
      #expect(adoption?.consent == question.id.description, comment)
    }
  }
}

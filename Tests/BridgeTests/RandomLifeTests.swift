// SPDX-License-Identifier: Apache-2.0

import Broker
import TestKit
import Testing
import ThreadCredentialStore
import ThreadDataset

@testable import Bridge

/// Random lives of a home, held against a model of its rules and against a recount of its tables.
@Suite("Whatever happens in a home, its numbers are right")
struct RandomLifeTests {
  private static let networks: [SampleNetwork] = [
    .home, .home, .home, .guest, SampleNetwork.home.with { $0.channel = 20 },
    SampleNetwork.home.with { $0.networkKey = "00000000000000000000000000000001" },
    SampleNetwork.guest.with { $0.name = "other" },
  ]
  private static let agents = (0..<5).map { Fleet.agent($0) }
  private static let users = ["anna", "anna", "anton", "anton", "bert"]

  /// Fixed seeds, and one that is new each time; a failure names its own.
  static let seeds: [UInt64] = [1, 2, 3, .random(in: 0 ... .max)]

  @Test("Step by step, against the model", arguments: seeds)
  func steps(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let bridge = try TestBridge(teams: ["anna": "family", "anton": "family"])
    var model = RandomLifeModel()
    for step in 0..<300 {
      let comment: Comment = "seed \(seed), step \(step)"
      try act(bridge, &model, &generator, comment)
      // The model knows no walk: it is let come to its end.
      while try bridge.home().reevaluateAfter != nil { try bridge.pass() }
      try compare(bridge, model, comment)
      if step % 50 == 49 { try bridge.restart() }
      if step.isMultiple(of: 5) { try Recount(bridge: bridge, comment: comment).check() }
    }
  }

  @Test("In batches, with the walk under way, against a recount", arguments: seeds)
  func batches(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let bridge = try TestBridge(teams: ["anna": "family", "anton": "family"])
    for step in 0..<25 {
      let comment: Comment = "seed \(seed), step \(step)"
      var messages: [IncomingMessage] = []
      for _ in 0..<Int.random(in: 1...25, using: &generator) {
        messages.append(try randomMessage(bridge, &generator))
      }
      try bridge.receive(messages)
      try Recount(bridge: bridge, comment: comment).check()
      if Bool.random(using: &generator) {
        try bridge.pass(Int.random(in: 0...40, using: &generator))
        try Recount(bridge: bridge, comment: comment).check()
      }
      if Int.random(in: 0..<10, using: &generator) == 0 {
        try bridge.restart()
        try Recount(bridge: bridge, comment: comment).check()
      }
    }
  }

  private func act(
    _ bridge: TestBridge, _ model: inout RandomLifeModel, _ generator: inout SeededGenerator,
    _ comment: Comment
  ) throws {
    let agent = Self.agents.randomElement(using: &generator) ?? ""
    let user = Self.users.randomElement(using: &generator) ?? ""
    let team = bridge.configuration.team(user)
    switch Int.random(in: 0..<24, using: &generator) {
    case 0...16:
      let dataset = RandomLifeModel.Dataset(
        network: Self.networks.randomElement(using: &generator) ?? .home,
        // Around the preferred network's own time, where the decisions are.
        seconds: max(2, model.preferred?.seconds ?? 5) + .random(in: 0...4, using: &generator) - 2)
      let counts = try bridge.announce(agent, dataset.network, at: dataset.seconds, user: user)
      #expect(counts.rejected.isEmpty == model.announce(agent, dataset, team: team), comment)
    case 17:
      let counts = try bridge.say(.announce, agent, user: user)
      #expect(counts.rejected.isEmpty == model.announce(agent, nil, team: team), comment)
    case 18, 19:
      let counts = try bridge.say(.leave, agent, user: user)
      #expect(counts.rejected.isEmpty == model.leave(agent, team: team), comment)
    case 20, 21:
      let kind = [InboundEventKind.heartbeat, .offline].randomElement(using: &generator)
      let counts = try bridge.say(kind ?? .offline, agent, user: user)
      #expect(counts.rejected.isEmpty == model.hears(agent, team: team), comment)
    case 22:
      try bridge.pass(Int.random(in: 0...40, using: &generator))
    default:
      let isThere = model.stored[agent] != nil
      let isRemoved = try bridge.removeCredential(of: agent)
      #expect(isRemoved == isThere, comment)
      model.removeCredential(agent)
      model.settleClaims()
    }
  }

  private func compare(_ bridge: TestBridge, _ model: RandomLifeModel, _ comment: Comment) throws {
    #expect(
      try bridge.preferred() == model.preferred.map { try $0.network.dataset(at: $0.seconds) },
      comment)
    for agent in Self.agents {
      let credential = try bridge.credential(agent)
      #expect(
        credential?.dataset
          == (try model.stored[agent].map { try $0.network.dataset(at: $0.seconds) }),
        comment)
      #expect((credential?.followsPreferred ?? false) == model.members.contains(agent), comment)
      if let credential { #expect(credential.team == model.owners[agent], comment) }
      #expect(
        (try bridge.router(agent)?.isPresent ?? false) == model.present.contains(agent), comment)
    }
  }

  private func randomMessage(_ bridge: TestBridge, _ generator: inout SeededGenerator) throws
    -> IncomingMessage
  {
    let agent = Self.agents.randomElement(using: &generator) ?? ""
    let user = Self.users.randomElement(using: &generator) ?? ""
    if Int.random(in: 0..<4, using: &generator) == 0 {
      return try randomRequest(bridge, agent, user, &generator)
    }
    var fields: [String: Any] = [:]
    if Bool.random(using: &generator) {
      fields["seq"] = UInt64.random(in: 1...400, using: &generator)
    }
    let kind = InboundEventKind.allCases.randomElement(using: &generator) ?? .announce
    switch kind {
    case .announce, .dataset:
      let network = Self.networks.randomElement(using: &generator) ?? .home
      fields["dataset"] = try network.dataset(at: .random(in: 1...6, using: &generator)).hex
      fields["access_point"] = "ap-\(Int.random(in: 0...2, using: &generator))"
    case .ssid:
      fields["ssid"] = "ssid-\(Int.random(in: 0...3, using: &generator))"
      if Bool.random(using: &generator) { fields["access_point"] = "ap-1" }
    default: break
    }
    return try bridge.message(kind, agent, user: user, fields)
  }

  private func randomRequest(
    _ bridge: TestBridge, _ agent: String, _ user: String, _ generator: inout SeededGenerator
  ) throws -> IncomingMessage {
    let network = Self.networks.randomElement(using: &generator) ?? .home
    let dataset = try network.dataset(at: .random(in: 1...6, using: &generator)).hex
    switch Int.random(in: 0..<6, using: &generator) {
    case 0...2:
      return try bridge.request(
        "credentials/store", user: user, ["border_agent_id": agent, "dataset": dataset])
    case 3:
      return try bridge.request("credentials/delete", user: user, ["border_agent_id": agent])
    case 4:
      return try bridge.request(
        "preferred/set", user: user, ["ext_pan_id": network.extendedPANID])
    default: return try bridge.request("preferred/set", user: user, ["dataset": dataset])
    }
  }
}

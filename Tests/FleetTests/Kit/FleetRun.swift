// SPDX-License-Identifier: Apache-2.0

#if Fleet

import Foundation
import Home
import TestKit
import ThreadDataset

/// A load on a fleet, and what came of it.
final class FleetRun: Sendable {
  let scene: FleetScene
  let load: FleetLoad
  let watch: FleetWatch
  private let publisher: FleetPublisher

  /// Starts the load; all shards must be served, so that the broker keeps what it takes for them.
  static func start(_ scene: FleetScene) async throws -> FleetRun {
    let watch = try await FleetWatch.start(scene.broker, base: FleetScene.base)
    let load = try FleetLoad(scene.homes, base: FleetScene.base, rate: scene.plan.rate)
    let run = FleetRun(scene, load, watch)
    try await run.progress(within: .seconds(60))
    return run
  }

  private init(_ scene: FleetScene, _ load: FleetLoad, _ watch: FleetWatch) {
    (self.scene, self.load, self.watch) = (scene, load, watch)
    publisher = FleetPublisher(load, to: scene.broker)
  }

  /// Waits until of each of these shards a message is committed that was published after now.
  ///
  /// - Parameters:
  ///   - fault: when it happened.
  ///   - shards: nil: all.
  ///   - ledger: gets the time of each shard.
  func progress(
    since fault: ContinuousClock.Instant? = nil, in shards: [Int]? = nil,
    within limit: Duration = .seconds(60), _ ledger: FleetFault.Ledger? = nil,
    nodes: [NodeProcess] = []
  ) async throws {
    watch.mark(load.newest)
    let shards = shards ?? Array(scene.shards)
    do {
      try await eventually(within: limit, "messages of shards \(shards)") {
        shards.allSatisfy { watch.first(in: $0) != nil }
      }
    } catch let error as TimedOut {
      let silent = shards.filter { watch.first(in: $0) == nil }
      let leases = (try? scene.leases()) ?? []
      let logs = nodes.map { "\($0.name):\n\($0.log.suffix(4000))" }.joined(separator: "\n")
      throw FleetFailure(
        description: "\(error): nothing of \(silent); leases: \(leases)\n\(logs)")
    }
    guard let fault, let ledger else { return }
    for shard in shards {
      guard let first = watch.first(in: shard) else { continue }
      let seconds = (first - fault) / .seconds(1)
      ledger.note(seconds)
      if seconds > ledger.limit {
        let logs = nodes.map { "\($0.name):\n\($0.log.suffix(3000))" }.joined(separator: "\n")
        print("shard \(shard) took \(seconds) s:\n\(logs)")
      }
    }
  }

  /// Ends the load, and looks at the database for all that the broker has acknowledged; each home has its own routers
  /// and its own network, and nobody else's.
  ///
  /// - Parameter server: where the database is now; nil: where it was made.
  func check(
    _ ledger: FleetFault.Ledger, in server: PostgresServer? = nil, nodes: [NodeProcess] = []
  ) async throws {
    try await publisher.finish()
    let expected = load.expected()
    // What the nodes have published of it is committed.
    let isThere: ()? = try? await eventually(within: .seconds(60), "the last messages") {
      expected.allSatisfy { home, routers in
        routers.allSatisfy { watch.shown(home, $0.key.description) == $0.value }
      }
    }
    let found = try FleetReader(scene, server ?? scene.server).homes()
    let lost = lost(expected, found)
    ledger.check(load.acknowledged, lost: lost.count + load.refused)
    let logs = nodes.map { "\($0.name):\n\($0.log.suffix(3000))" }.joined(separator: "\n")
    try Soak.check(
      lost.isEmpty, "not in the database: \(lost.prefix(8).joined(separator: "; "))\n\(logs)")
    try Soak.check(isThere != nil, "in the database, and not published\n\(logs)")
    try checkIsolation(found)
  }

  private func lost(
    _ expected: [FleetHome: [BorderAgentID: FleetLoad.Expected]], _ found: [FleetHome: Home]
  ) -> [String] {
    expected.flatMap { name, routers in
      routers.compactMap { agent, expected -> String? in
        let router = found[name]?.routers[agent]
        let stored = FleetLoad.Expected(name: router?.name, stamp: router?.activeSeconds)
        return stored == expected ? nil : "\(name) \(agent): \(stored), expected \(expected)"
      }
    }
  }

  private func checkIsolation(_ found: [FleetHome: Home]) throws {
    try Soak.check(
      Set(found.keys) == Set(scene.homes), "homes in the database: \(found.keys)")
    for (index, name) in scene.homes.enumerated() {
      guard let home = found[name] else { continue }
      let routers = home.routers.map(\.agent.description).sorted()
      try Soak.check(
        routers == (0..<load.routers).map { FleetLoad.agent($0) }, "\(name) has \(routers)")
      let networks = Set(home.routers.map { $0.network?.description ?? "-" })
      let own = FleetLoad.network(index).extendedPANID
      try Soak.check(networks == [own], "\(name) has networks \(networks), its own is \(own)")
    }
    let topics = Set(
      scene.homes.flatMap { home in
        (0..<load.routers).map { "\(FleetScene.base)/\(home)/router/\(FleetLoad.agent($0))" }
      })
    try Soak.check(watch.topics == topics, "topics: \(watch.topics.symmetricDifference(topics))")
  }
}

#endif

#if Fleet
@testable import Fleet
import Home
import TestKit
import ThreadDataset
@testable import Threadkeeper

/// A load on a fleet, and what came of it.
final class FleetRun: Sendable {
  let fleet: TestFleet
  let watch: FleetWatch
  private let publisher: LoadPublisher<FleetLoad>
  private var load: Load<FleetLoad> { publisher.load }

  /// Starts nodes on a new fleet, and the load when they serve all shards.
  static func start(_ plan: TestFleet.Plan = .init(), nodes names: String...) async throws -> (
    run: FleetRun, nodes: [DaemonProcess]
  ) {
    let fleet = try TestFleet(plan)
    let nodes = try names.map { try fleet.launch($0) }
    try await fleet.served(by: nodes)
    return (try await start(fleet), nodes)
  }

  /// Starts the load; all shards must be served, so that the broker keeps what it takes for them.
  static func start(_ fleet: TestFleet) async throws -> FleetRun {
    let run = try FleetRun(fleet, try await FleetWatch.start(fleet.broker))
    try await run.progress()
    return run
  }

  private init(_ fleet: TestFleet, _ watch: FleetWatch) throws {
    (self.fleet, self.watch) = (fleet, watch)
    publisher = LoadPublisher(try FleetLoad(fleet.homes), rate: fleet.plan.rate, to: fleet.broker)
  }

  /// Waits until of each of these shards a message is committed that was published after now.
  ///
  /// - Parameters:
  ///   - fault: when it happened.
  ///   - shards: nil: all.
  ///   - ledger: gets the time of each shard.
  func progress(
    since fault: ContinuousClock.Instant? = nil, in shards: [Int]? = nil, within limit: Duration = .seconds(60),
    _ ledger: FleetFault.Ledger? = nil, nodes: [DaemonProcess] = []
  ) async throws {
    watch.mark(load.newest)
    let shards = shards ?? Array(fleet.shards)
    try await eventually(within: limit, "messages of shards \(shards)") {
      shards.allSatisfy { watch.first(in: $0) != nil }
    } otherwise: {
      "; nothing of \(shards.filter { watch.first(in: $0) == nil }); leases: \(try fleet.leases())\n"
        + TestFleet.logs(nodes)
    }
    guard let fault, let ledger else { return }
    for shard in shards {
      guard let first = watch.first(in: shard) else { continue }
      let seconds = (first - fault) / .seconds(1)
      ledger.note(seconds)
      if seconds > ledger.limit { print("shard \(shard) took \(seconds) s:\n\(TestFleet.logs(nodes))") }
    }
  }

  /// Ends the load, and looks at the database for all that the broker has acknowledged; each home has its own routers
  /// and its own network, and nobody else's.
  ///
  /// - Parameter server: where the database is now; nil: where it was made.
  func check(_ ledger: FleetFault.Ledger, in server: PostgresServer? = nil, nodes: [DaemonProcess] = []) async throws {
    try await publisher.finish()
    let expected = load.contents.expected(after: load.acknowledged)
    // What the nodes have published of it is committed.
    let isThere: ()? = try? await eventually("the last messages") {
      expected.allSatisfy { home, routers in routers.allSatisfy { watch.shown(home, $0.key.description) == $0.value } }
    }
    let found = try fleet.stored(in: server)
    let lost = lost(expected, found)
    ledger.check(load.acknowledged, lost: lost.count + load.refused)
    let logs = TestFleet.logs(nodes)
    try Soak.check(lost.isEmpty, "not in the database: \(lost.prefix(8).joined(separator: "; "))\n\(logs)")
    try Soak.check(isThere != nil, "in the database, and not published\n\(logs)")
    try checkIsolation(found)
  }

  private func lost(_ expected: [HomeAddress: [BorderAgentID: FleetLoad.Expected]], _ found: [HomeAddress: Home])
    -> [String]
  {
    expected.flatMap { name, routers in
      routers.compactMap { agent, expected -> String? in
        let router = found[name]?.routers[agent]
        let stored = FleetLoad.Expected(name: router?.name, stamp: router?.activeSeconds)
        return stored == expected ? nil : "\(name) \(agent): \(stored), expected \(expected)"
      }
    }
  }

  private func checkIsolation(_ found: [HomeAddress: Home]) throws {
    try Soak.check(Set(found.keys) == Set(fleet.homes), "homes in the database: \(found.keys)")
    let agents = (0..<load.contents.routers).map { FleetLoad.agent($0) }
    for (index, name) in fleet.homes.enumerated() {
      guard let home = found[name] else { continue }
      let routers = home.routers.map(\.agent.description).sorted()
      try Soak.check(routers == agents, "\(name) has \(routers)")
      let networks = Set(home.routers.map { $0.network?.description ?? "-" })
      let own = FleetLoad.network(index).extendedPANID
      try Soak.check(networks == [own], "\(name) has networks \(networks), its own is \(own)")
    }
    let topics = Set(fleet.homes.flatMap { home in agents.map { "\(TestFleet.base)/\(home)/router/\($0)" } })
    try Soak.check(watch.topics == topics, "topics: \(watch.topics.symmetricDifference(topics))")
  }
}
#endif

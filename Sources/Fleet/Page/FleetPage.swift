#if Fleet
import Bridge
import Settings
import StatusPage
import Threadkeeper
import ThreadkeeperSupport

/// Answers the HTTP server of a node: of its own shards from memory, of the fleet from the database. It changes nothing.
struct FleetPage: PageSource {
  /// A shard that this process serves.
  struct Served {
    let shard: Int
    let bridge: Bridge
  }

  /// What keeps the whole node from its work, in words for people.
  struct Problems {
    var database: String?
    var broker: String?
  }

  private let shards: @Sendable () -> [Served]
  private let problems: @Sendable () -> Problems
  private let fleet: SharedValue<FleetStatus>

  /// - Parameters:
  ///   - shards: that this process serves now, in order.
  ///   - problems: now, without waiting.
  init(
    _ database: FleetDatabase, shards: @escaping @Sendable () -> [Served], problems: @escaping @Sendable () -> Problems
  ) {
    (self.shards, self.problems) = (shards, problems)
    fleet = SharedValue(for: .seconds(1)) { try await SystemThread.result { try FleetStatus(database) } }
  }

  var readiness: Readiness {
    let problems = problems()
    let intakes = shards().lazy.map { ($0.shard, $0.bridge.monitor.snapshot.intake) }
    let stopped = intakes.first { $1.state != .running }
    let reason = stopped.map { "shard \($0): \($1.reason ?? "it connects to its broker")" }
    return Readiness([
      .init("broker", ok: problems.broker == nil, reason: problems.broker),
      .init("store", ok: problems.database == nil, reason: problems.database),
      .init("intake", ok: stopped == nil, reason: reason),
    ])
  }

  func metrics() async -> [Metric] {
    let parts = shards().map { (name: "\($0.shard)", metrics: Self.metrics(of: $0.bridge)) }
    let status = try? await fleet.value
    return [
      DaemonMetrics.build,
      Metric(.gauge, "threadkeeper_database_connected", "Whether the database answers.", status == nil ? 0 : 1),
      Metric(.gauge, "threadkeeper_node_shards", "Shards that this process serves.", Double(parts.count)),
    ] + Metric.joined(by: "shard", parts) + (status.map { Self.metrics(of: $0) } ?? [])
  }

  private static func metrics(of bridge: Bridge) -> [Metric] {
    let status = bridge.status
    let daemon = DaemonMetrics(status, bridge.monitor.figures)
    return daemon.ofBridge + [Metric(.gauge, "threadkeeper_homes", "Homes.", Double(bridge.homes.count))]
      + HomeMetrics(status.counts).counts
  }

  private static func metrics(of status: FleetStatus) -> [Metric] {
    func counts(_ name: String, _ help: String, _ counts: KeyValuePairs<String, Int>) -> Metric {
      Metric(.gauge, "threadkeeper_fleet_\(name)", help, counts.map { .init(Double($0.value), [("state", $0.key)]) })
    }
    let served = status.shards.count(where: \.isServed)
    let silent = status.nodes.count(where: \.isSilent)
    return [
      counts(
        "shards", "Shards of the fleet, by whether a process serves them.",
        [
          "served": served, "rolled_back": status.rolledBack.count,
          "unserved": status.shards.count - served - status.rolledBack.count,
        ]),
      counts(
        "nodes", "Nodes of the fleet, by whether they give a sign of life.",
        ["seen": status.nodes.count - silent, "silent": silent]),
      Metric(
        .gauge, "threadkeeper_fleet_lease_age_seconds", "Since the lease was renewed that was renewed first.",
        status.shards.compactMap(\.leaseAge).max() ?? 0),
    ]
  }

  func document(nonce: String) async -> String? {
    do { return FleetDocument.html(try await fleet.value, nonce: nonce) } catch {
      let failure = CommandFailure(ofFleet: error)
      return FleetDocument.html(
        title: "threadkeeper fleet", nonce: nonce, verdict: ("bad", "\(failure.message)."),
        main: failure.remedy.map { "<p>\(FleetDocument.escaped($0))</p>" } ?? "")
    }
  }

  func state() async -> [UInt8]? { nil }

  /// No local API reaches it that could make one.
  var takesCodes: Bool { false }

  func make(_ change: PageChange) async throws -> PageOutcome {
    throw PageRefusal("The page of a fleet changes nothing.", remedy: "Use `threadkeeper fleet`.")
  }
}
#endif

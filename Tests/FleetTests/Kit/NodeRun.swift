#if Fleet
@testable import Fleet
import Settings
import TestKit

/// A node that runs in this process.
final class NodeRun: Sendable {
  let node: FleetNode
  let log = RecordingLog()
  private let work: RunningWork

  init(_ settings: Settings, _ times: LeaseTimes = .short) throws {
    let node = try FleetNode.start(settings, times: times, logger: log.logger)
    self.node = node
    work = RunningWork { try await node.serve() }
  }

  deinit { node.leave() }

  /// Shards whose intake is subscribed.
  var serving: [Int] { node.runs.filter { $0.bridge.monitor.snapshot.intake.state == .running }.map(\.shard) }

  func serves(_ shards: [Int], within limit: Duration = .seconds(60)) async throws {
    try await eventually(within: limit, "serving \(shards)") {
      serving == shards
    } otherwise: {
      "; it serves \(serving):\n\(log.lines.joined(separator: "\n"))"
    }
  }

  /// How many routers a home of a shard has.
  func routers(_ home: String, in shard: Int) -> Int? {
    node.runs.first { $0.shard == shard }?.bridge.loop.homes.home(home)?.routers.count
  }

  /// Waits for its end; throws what it ended with.
  func end(within limit: Duration = .seconds(30)) async throws {
    try await work.end(within: limit, "the end of the node")
  }

  func leave() async throws {
    node.leave()
    try await end()
  }
}
#endif

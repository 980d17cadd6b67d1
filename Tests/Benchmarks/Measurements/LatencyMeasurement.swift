// SPDX-License-Identifier: Apache-2.0

import CBareSubscriber
import EmbeddedBroker
import Foundation
import MosquittoClient

/// From a router's publication to its retained state, one event at a time on an idle daemon, beside
/// the time that this disk needs to keep something.
struct LatencyMeasurement {
  /// Times of the disk that the slowest of a hundred events may take.
  static let goal = 5.0

  let workspace: Workspace
  let size: Size

  func run() async throws -> [Figure] {
    Progress.say("latency: \(size.events) events")
    let broker = try workspace.startBroker()
    defer { broker.stop(removingFiles: true) }
    let daemon = try DaemonProcess(workspace, port: broker.port)
    try daemon.start()
    defer { daemon.stop() }
    let disk = try DiskProbe(path: "\(daemon.directory)/fsync")
    let watcher = StateWatcher()
    let client = MosquittoClient(
      MosquittoConfiguration(
        host: "127.0.0.1", port: broker.port, clientID: "bench-latency", cleanStart: true,
        subscriptions: [.init("\(DaemonProcess.base)/router/+")]), handler: watcher)
    let running = Task { try await client.run() }
    defer { client.stop() }
    try watcher.waitForSubscription()

    var latencies: [Double] = []
    var syncs: [Double] = []
    for event in 0..<size.events {
      syncs.append(try disk.sync())
      // A new router, then the same one with another name.
      latencies.append(
        try watcher.announce(Fleet(), router: event / 2, name: "Router \(event)", client))
      usleep(UInt32.random(in: 5_000...15_000))
    }
    client.stop()
    try await running.value
    return figures(latencies, syncs)
  }

  private func figures(_ latencies: [Double], _ syncs: [Double]) -> [Figure] {
    [
      Figure(
        "fsync of this disk, median", syncs.median * 1e3, unit: .milliseconds, goal: nil,
        samples: [], note: "p99 \((syncs.percentile(99) * 1e3).formatted(2)) ms"),
      Figure(
        "event to retained state, median", latencies.median * 1e3, unit: .milliseconds, goal: nil,
        samples: [], note: "\(latencies.count) events"),
      Figure(
        "event to retained state, p99", latencies.percentile(99) * 1e3, unit: .milliseconds,
        goal: nil, samples: [], note: ""),
      Figure(
        "the same in fsyncs (median)", latencies.percentile(99) / syncs.median, unit: .fsyncs,
        goal: .atMost(Self.goal), samples: [],
        note: "in p99 fsyncs \((latencies.percentile(99) / syncs.percentile(99)).formatted(1))"),
    ]
  }
}

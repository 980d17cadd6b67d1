import Broker
import CBareSubscriber
import Foundation

/// From a router's publication to its retained state, one event at a time on an idle daemon and on one at half load,
/// beside the time that this disk needs to keep something.
struct LatencyMeasurement {
  /// Times of the disk that the slowest of a hundred events may take.
  static let goal = 4.0
  static let loadGoal = 10.0
  /// The figure that others look for.
  static let fsync = "fsync of the disk"
  /// Announcements that show how much the daemon can take.
  private static let probe = 10_000
  private static let loadSeconds = 12

  let workspace: Workspace
  let size: Size

  /// Seconds.
  private struct Samples {
    var latencies: [Double] = []
    var syncs: [Double] = []
    /// A latency in median fsyncs.
    func inSyncs(_ percent: Double) -> Double { latencies.percentile(percent) / syncs.median }
  }

  func run() async throws -> Part {
    let broker = try workspace.startBroker()
    defer { broker.stop(removingFiles: true) }
    let daemon = try DaemonProcess(workspace, port: broker.port)
    try daemon.start()
    defer { daemon.stop() }
    let helper = Helper(program: workspace.helper, port: broker.port)
    let disk = try DiskProbe(path: "\(daemon.directory)/fsync")
    let client = try StateClient(port: broker.port)

    Progress.say("latency: \(size.events) events, idle")
    var idle = Samples()
    for event in 0..<size.events { try measure(event, client, disk, &idle) }

    // As many routers as a team may have at most.
    let rate = min(try capacity(daemon, helper) / 2, 80_000 / Double(Self.loadSeconds))
    Progress.say("latency: \(Self.loadSeconds) seconds at \(Int(rate)) announcements a second")
    let load = Fleet().packets(
      .first, 200_000..<(200_000 + Int(rate) * Self.loadSeconds), marker: 199_999, base: DaemonProcess.base)
    let publisher = try helper.startPublishing(load, from: workspace.fresh("load"), perSecond: Int(rate))
    var loaded = Samples()
    var event = size.events
    while publisher.isRunning {
      try measure(event, client, disk, &loaded)
      event += 1
    }
    _ = try helper.finish(publisher)
    try await client.stop()
    return part(idle, loaded, rate: rate)
  }

  private func measure(_ event: Int, _ client: StateClient, _ disk: DiskProbe, _ samples: inout Samples) throws {
    samples.syncs.append(try disk.sync())
    samples.latencies.append(try client.announce(event))
    usleep(UInt32.random(in: 5_000...15_000))
  }

  /// First announcements a second that the daemon can store and publish.
  private func capacity(_ daemon: DaemonProcess, _ helper: Helper) throws -> Double {
    // It counts all routers from here on.
    daemon.routers = try daemon.countRouters() + Int64(Self.probe) + 1
    let load = Fleet().packets(.first, 100_000..<(100_000 + Self.probe), marker: 99_999, base: DaemonProcess.base)
    let begin = try helper.publish(load, from: workspace.fresh("probe")).begin
    _ = try daemon.waitForRouters()
    try daemon.waitForQuiet()
    return Helper.Times(begin: begin, end: bare_now()).rate(of: load.count)
  }

  private func part(_ idle: Samples, _ loaded: Samples, rate: Double) -> Part {
    var table = Table(
      "load", .right("events"), .right("p50, ms"), .right("p99, ms"), .right("slowest, ms"), .right("fsync p50, ms"),
      .right("fsync p99, ms"), .right("p50, in median fsyncs"), .right("p99, in median fsyncs"))
    for (name, samples) in [("idle", idle), ("half: \(rate.grouped) announcements/s", loaded)] {
      let (latencies, syncs) = (samples.latencies.map { $0 * 1e3 }, samples.syncs.map { $0 * 1e3 })
      table.add(
        name, latencies.count.grouped, latencies.median.formatted(2), latencies.percentile(99).formatted(2),
        (latencies.max() ?? 0).formatted(2), syncs.median.formatted(2), syncs.percentile(99).formatted(2),
        samples.inSyncs(50).formatted(1), samples.inSyncs(99).formatted(1))
    }
    return Part(
      "latency", "Latency",
      method: """
        From the publication of an announcement by one client to the arrival of the router's new retained state at the
        same client, one at a time with pauses of 5 to 15 ms. Before each, the disk is measured beside the store: an
        append of 16 KB and `fdatasync`. Half load: new routers are announced meanwhile at half the rate that the daemon
        has stored and published in the same run.
        """, table: table,
      figures: [
        Figure(
          Self.fsync, idle.syncs.median * 1e3, unit: .milliseconds, samples: idle.syncs.map { $0 * 1e3 },
          note: "p99 \((idle.syncs.percentile(99) * 1e3).formatted(2)) ms"),
        Figure(
          "publication to retained state, p99, in median fsyncs", idle.inSyncs(99), unit: .fsyncs,
          goal: .atMost(Self.goal), samples: idle.latencies.map { $0 / idle.syncs.median }),
        Figure(
          "the same at half load", loaded.inSyncs(99), unit: .fsyncs, goal: .atMost(Self.loadGoal),
          samples: loaded.latencies.map { $0 / loaded.syncs.median }),
      ])
  }
}

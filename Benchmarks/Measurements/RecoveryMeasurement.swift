import Broker
import CBareSubscriber
import Foundation

/// How soon the daemon is back after SIGKILL in the middle of its work, and after a clean stop.
struct RecoveryMeasurement {
  /// Milliseconds until both connections are there after a kill with all routers.
  private static let goal = 100.0
  private static let perSecond = 2_000
  /// Of one load.
  private static let messages = 4_000

  let workspace: Workspace
  let size: Size

  /// Milliseconds.
  private struct Samples {
    var firstAccepted: [Double] = []
    var bothAccepted: [Double] = []
    var served: [Double] = []
  }

  func run() async throws -> Part {
    let broker = try workspace.startBroker()
    defer { broker.stop(removingFiles: true) }
    let daemon = try DaemonProcess(workspace, port: broker.port)
    defer { daemon.stop() }
    // Between daemon and broker, to see when the broker accepts it.
    let relay = try ConnackRelay(to: broker.port)
    daemon.port = relay.port
    let helper = Helper(program: workspace.helper, port: broker.port)
    let client = try StateClient(port: broker.port)
    var killed = Samples()
    try daemon.start()
    // The client's own routers.
    for number in 0..<100 { _ = try client.announce(number) }
    daemon.routers = 100
    let small = try restart(daemon, relay)
    for kill in 1...size.kills {
      Progress.say("recovery: kill \(kill) of \(size.kills)")
      let numbers = (kill * Self.messages)..<((kill + 1) * Self.messages - 1)
      let load = Fleet().packets(.first, numbers, marker: numbers.upperBound, base: DaemonProcess.base)
      daemon.routers += Int64(load.count)
      let publisher = try helper.startPublishing(load, from: workspace.fresh("load"), perSecond: Self.perSecond)
      // While it works: somewhere in the first half of the load.
      usleep(UInt32.random(in: 300_000...1_000_000))
      daemon.kill()
      let child = try launch(daemon, relay)
      killed.served.append(try client.announce(100 + kill) * 1e3)
      try note(child, relay, &killed)
      _ = try helper.finish(publisher)
      do { _ = try daemon.waitForRouters() } catch {
        // The page says how many are missing.
        Progress.say("recovery: \(error)")
        break
      }
      try daemon.waitForQuiet()
    }
    let lost = try daemon.routers - daemon.countRouters()
    var crashed = Samples()
    for kill in 1...size.kills {
      Progress.say("recovery: kill \(kill) of \(size.kills), with all routers")
      // It is at work until then, and has something in its log.
      _ = try client.announce(100 + size.kills + kill)
      daemon.kill()
      try note(launch(daemon, relay), relay, &crashed)
    }
    let large = try restart(daemon, relay)
    try await client.stop()
    return part(killed, crashed, small, large, lost: lost, routers: Int(daemon.routers))
  }

  /// After a clean stop, again and again.
  private func restart(_ daemon: DaemonProcess, _ relay: ConnackRelay) throws -> Samples {
    Progress.say("recovery: \(size.starts) starts")
    var samples = Samples()
    for _ in 0..<size.starts {
      daemon.stop()
      try note(launch(daemon, relay), relay, &samples)
    }
    return samples
  }

  private func launch(_ daemon: DaemonProcess, _ relay: ConnackRelay) throws -> ChildProcess {
    relay.reset()
    return try daemon.launch()
  }

  private func note(_ child: ChildProcess, _ relay: ConnackRelay, _ samples: inout Samples) throws {
    let answers = try relay.waitForAnswers(2)
    samples.firstAccepted.append(Double(answers[0] - child.startedAt) / 1e6)
    samples.bothAccepted.append(Double(answers[1] - child.startedAt) / 1e6)
  }

  private func part(
    _ killed: Samples, _ crashed: Samples, _ small: Samples, _ large: Samples, lost: Int64, routers: Int
  ) -> Part {
    var table = Table("from the start of the program to", .right("median, ms"), .right("slowest, ms"))
    func add(_ name: String, _ samples: [Double], goal: Figure.Goal? = nil) -> Figure {
      table.add(name, samples.median.formatted(1), (samples.max() ?? 0).formatted(1))
      return Figure(name, samples.median, unit: .milliseconds, goal: goal, samples: samples)
    }
    let figures = [
      add("after kill -9: the broker accepts the first connection", killed.firstAccepted),
      add("after kill -9: the broker accepts both connections", killed.bothAccepted),
      add("after kill -9: an announcement made at the start has its retained state", killed.served),
      add(
        "after kill -9, with \(routers.grouped) routers: the broker accepts both connections", crashed.bothAccepted,
        goal: .atMost(Self.goal)),
      add("after a stop, with 100 routers: the broker accepts both connections", small.bothAccepted),
      add("after a stop, with \(routers.grouped) routers: the same", large.bothAccepted),
    ]
    var part = Part(
      "recovery", "Recovery",
      method: """
        The daemon is killed \(killed.served.count) times by SIGKILL while \(Self.perSecond.grouped) routers a second
        are announced, and started again at once, while the load goes on. The store grows from 100 routers to \(routers.grouped). Then it is
        killed \(crashed.bothAccepted.count) times after an announcement, without a load. Before and after it is stopped and
        started \(small.bothAccepted.count) times without a load.
        """, table: table, figures: figures)
    part.missing = [
      lost == 0
        ? "After all kills, every router that was announced is in the store."
        : "**\(lost) routers that were announced are missing in the store.**"
    ]
    return part
  }
}

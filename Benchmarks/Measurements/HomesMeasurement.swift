import Broker
import CBareSubscriber
import Foundation

/// What very many homes on one daemon cost: its start, its rest, and a message, beside a daemon with one home.
struct HomesMeasurement {
  private static let homes = 10_000
  /// Seconds.
  private static let startGoal = 3.0
  /// Percent of a processor.
  private static let restGoal = 1.0
  /// Of the processor time of a message beside one home.
  private static let messageGoal = 1.5
  /// Each minute every home's `bridge/health` is published.
  private static let restSeconds: UInt32 = 60

  let workspace: Workspace
  let size: Size

  private struct Samples {
    /// Seconds from the start of the program until it takes messages of all homes.
    var starts: [Double] = []
    /// Percent of a processor.
    var rest: [Double] = []
    /// Microseconds of processor time of a message.
    var message: [Double] = []
    var latency: [Double] = []
    var memory = 0.0
  }

  func run() async throws -> Part {
    let one = try await measure(homes: 1)
    let many = try await measure(homes: Self.homes)
    return part(one, many)
  }

  private func measure(homes: Int) async throws -> Samples {
    let broker = try workspace.startBroker()
    defer { broker.stop(removingFiles: true) }
    let daemon = try DaemonProcess(workspace, port: broker.port)
    defer { daemon.stop() }
    daemon.more =
      "http: {enabled: false}\nhomes:\n" + (1...homes).map { "  home-\($0): {base_topic: \(base($0))}\n" }.joined()
    let client = try StateClient(port: broker.port, base: base(homes))
    var samples = Samples()
    // The first start makes the store.
    for start in 0...size.rounds {
      Progress.say("homes: \(homes.grouped), start \(start) of \(size.rounds)")
      let child = try daemon.launch()
      try daemon.waitForIntake()
      if start > 0 { samples.starts.append(Double(bare_now() - child.startedAt) / 1e9) }
      try daemon.waitForIdle()
      if start < size.rounds { daemon.stop() }
    }
    // Each of its routers once.
    var number = 0
    func announce() throws -> Double {
      defer { number += 1 }
      return try client.announce(number)
    }
    for _ in 0..<100 { _ = try announce() }
    for _ in 0..<size.rounds {
      let before = daemon.work
      for _ in 0..<size.events { samples.latency.append(try announce() * 1e3) }
      samples.message.append((daemon.work - before).total / 1e3 / Double(size.events))
      try daemon.waitForIdle()
      Progress.say("homes: \(homes.grouped), \(Self.restSeconds) seconds of rest")
      let rest = daemon.work
      sleep(Self.restSeconds)
      samples.rest.append((daemon.work - rest).total / 1e7 / Double(Self.restSeconds))
    }
    samples.memory = daemon.memory.resident / 1e6
    try await client.stop()
    return samples
  }

  private func base(_ home: Int) -> String { "homes/\(home)" }

  private func part(_ one: Samples, _ many: Samples) -> Part {
    let messages = zip(many.message, one.message).map { $0 / $1 }
    return Part(
      "homes", "Very many homes",
      method: """
        A daemon with \(Self.homes.grouped) homes, one of which has routers, and a daemon with one home. Routers of the
        last home change their names, one after the other.
        """,
      figures: [
        Figure(
          "homes: start with \(Self.homes.grouped)", many.starts.median, unit: .seconds, goal: .atMost(Self.startGoal),
          samples: many.starts,
          note: "until the broker has answered all subscriptions; " + "with one \(one.starts.median.formatted(2)) s"),
        Figure(
          "homes: rest with \(Self.homes.grouped)", many.rest.median, unit: .percent, goal: .atMost(Self.restGoal),
          samples: many.rest, note: "of a processor; with one \(one.rest.median.formatted(2)) %"),
        Figure(
          "homes: processor time of a message beside one home", messages.median, unit: .ratio,
          goal: .atMost(Self.messageGoal), samples: messages,
          note: "\(many.message.median.formatted(0)) µs, with one "
            + "\(one.message.median.formatted(0)) µs; to its retained state "
            + "\(many.latency.median.formatted(2)) ms, with one " + "\(one.latency.median.formatted(2)) ms"),
        Figure(
          "homes: idle memory with \(Self.homes.grouped)", many.memory, unit: .megabytes,
          note: "with one \(one.memory.formatted(1)) MB"),
      ])
  }
}

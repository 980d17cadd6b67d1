import Broker

/// How messages reach a subscriber.
enum Delivery: String, CaseIterable {
  /// It is there while they are published.
  case live
  /// It was away, and the broker kept them.
  case backlog
}

/// Messages a second that are on the disk, of the daemon and of what it is compared with, by turns on one broker; and
/// the processor time that the daemon needs for one.
struct IntakeMeasurement {
  /// What the daemon is to reach with a backlog, as a part of what the bare subscriber does.
  static let firstGoal = 0.40
  static let unchangedGoal = 0.70
  static let heartbeatGoal = 0.75
  /// Microseconds of processor time.
  static let firstCost = 35.0
  static let unchangedCost = 15.0
  /// A commit a message takes a hundred times as long.
  private static let slowShare = 20

  let workspace: Workspace
  let peers: Peers
  let size: Size
  let ways: [Delivery]

  /// What was measured of one pair, round by round.
  private struct Samples {
    var daemon: [IntakeStage.Run] = []
    var bare: [IntakeStage.Run] = []
    /// Microseconds for a message: of the thread that takes messages in, until they are stored; of the whole daemon,
    /// until all is published.
    var intake: [Double] = []
    var whole: [Double] = []

    var ratios: [Double] { zip(daemon, bare).map { $0.rate / $1.rate } }
  }

  private struct Results {
    var pairs: [String: Samples] = [:]
    var others: [String: [IntakeStage.Run]] = [:]
    var publisher: [Double] = []
    var missing: [String] = []
  }

  func run() throws -> [Part] {
    var results = Results()
    let subscribers = available(&results)
    for round in 1...size.rounds {
      Progress.say("intake: round \(round) of \(size.rounds), \(size.messages) messages each")
      let broker = try workspace.startBroker()
      defer { broker.stop(removingFiles: true) }
      var stage = try IntakeStage(workspace: workspace, peers: peers, port: broker.port, subscribers: subscribers)
      defer { stage.daemon.stop() }
      results.publisher.append(try stage.measurePublisher(size.messages))
      for way in ways { try measure(way, &stage, &results) }
    }
    return [rates(results, subscribers)] + (ways.contains(.live) ? [cost(results)] : [])
  }

  private func available(_ results: inout Results) -> [Subscriber] {
    do {
      _ = try peers.start("paho_sqlite.py", [peers.paho]).line(containing: "version", within: 20)
      return Subscriber.allCases
    } catch {
      Progress.say("intake: without paho (Debian's python3-paho-mqtt): \(error)")
      results.missing.append("paho is left out: there is no python3-paho-mqtt on this machine.")
      return [.bare, .committing]
    }
  }

  private func measure(_ way: Delivery, _ stage: inout IntakeStage, _ results: inout Results) throws {
    var runs: [Fleet.Kind: IntakeStage.Run] = [:]
    for kind in Fleet.Kind.allCases {
      let pair = try stage.measure(kind, way, messages: size.messages)
      runs[kind] = pair.daemon
      results.pairs["\(way) \(kind)", default: Samples()].daemon.append(pair.daemon)
      results.pairs["\(way) \(kind)"]?.bare.append(pair.bare)
      Progress.say(
        "  \(way), \(kind.words): daemon \(Int(pair.daemon.rate))/s, bare "
          + "\(Int(pair.bare.rate))/s, ratio \((pair.daemon.rate / pair.bare.rate).formatted(2))")
    }
    for subscriber in stage.subscribers where subscriber != .bare {
      let run = try stage.measure(subscriber, .first, way, messages: size.messages / Self.slowShare)
      results.others["\(way) \(subscriber)", default: []].append(run)
      Progress.say("  \(way), \(subscriber.words): \(Int(run.rate))/s")
    }
    // Heartbeats bring nothing to publish: the thread that they keep busy is the one that takes messages in.
    guard way == .live, let thread = runs[.heartbeat]?.stored.busiest else { return }
    for (kind, run) in runs {
      let count = Double(size.messages + 1) * 1e3
      let intake = (run.stored.threads[thread] ?? 0) / count
      results.pairs["\(way) \(kind)"]?.intake.append(intake)
      results.pairs["\(way) \(kind)"]?.whole.append(run.published.total / count)
      Progress.say("  \(kind.words): \(intake.formatted(1)) µs of the intake's thread each")
    }
  }

  private func rates(_ results: Results, _ subscribers: [Subscriber]) -> Part {
    var table = Table(
      "delivery", "messages", "subscriber", .right("messages/s"), .right("of the bare one"), .right("publisher/s"))
    var figures: [Figure] = []
    for way in ways {
      for kind in Fleet.Kind.allCases {
        guard let pair = results.pairs["\(way) \(kind)"] else { continue }
        let bare = pair.bare.map(\.rate)
        add(pair.bare, Subscriber.bare.words, way, kind, nil, &table)
        add(pair.daemon, "**threadkeeper**", way, kind, pair.ratios, &table)
        for subscriber in subscribers where subscriber != .bare && kind == .first {
          guard let runs = results.others["\(way) \(subscriber)"] else { continue }
          add(runs, subscriber.words, way, kind, zip(runs, bare).map { $0.rate / $1 }, &table)
        }
        figures.append(
          Figure(
            "\(way), \(kind.words): part of the bare subscriber's rate", pair.ratios.median, unit: .ratio,
            goal: goal(way, kind), samples: pair.ratios))
      }
    }
    table.add("none", Fleet.Kind.first.words, "nobody has subscribed", "", "", results.publisher.median.grouped)
    var part = Part(
      "intake", "Durable intake",
      method: """
        *Live*: subscribers are there while a program in C publishes \(size.messages.grouped) packets with QoS 1, at most
        1,000 unacknowledged; the time is from its first byte to the last message on the disk. *Backlog*: the broker has
        all messages before the subscriber connects. Where the publisher's rate equals the subscriber's, the broker is
        the limit. The subscribers with a commit a message get \((size.messages / Self.slowShare).grouped) messages.
        """, table: table, figures: figures)
    part.missing = results.missing
    return part
  }

  private func add(
    _ runs: [IntakeStage.Run], _ words: String, _ way: Delivery, _ kind: Fleet.Kind, _ ratios: [Double]?,
    _ table: inout Table
  ) {
    let digits = ratios?.median ?? 1 < 0.1 ? 3 : 2
    table.add(
      way.rawValue, kind.words, words, runs.map(\.rate).median.grouped,
      ratios.map { $0.median.formatted(digits) } ?? "1", runs.map(\.publisher).median.grouped)
  }

  private func goal(_ way: Delivery, _ kind: Fleet.Kind) -> Figure.Goal? {
    switch (way, kind) {
    case (.backlog, .first): .atLeast(Self.firstGoal)
    case (.backlog, .unchanged): .atLeast(Self.unchangedGoal)
    case (.backlog, .heartbeat): .atLeast(Self.heartbeatGoal)
    default: nil
    }
  }

  private func cost(_ results: Results) -> Part {
    var table = Table("message", .right("intake, µs"), .right("whole daemon, µs"))
    var figures: [Figure] = []
    for kind in Fleet.Kind.allCases {
      guard let pair = results.pairs["\(Delivery.live) \(kind)"] else { continue }
      table.add(kind.word, pair.intake.median.formatted(1), pair.whole.median.formatted(1))
      let goal: Double? =
        switch kind {
        case .first: Self.firstCost
        case .unchanged: Self.unchangedCost
        case .heartbeat: nil
        }
      figures.append(
        Figure(
          "processor time of \(kind.article) \(kind.word)", pair.intake.median, unit: .microseconds,
          goal: goal.map(Figure.Goal.atMost), samples: pair.intake))
    }
    return Part(
      "cost", "Processor time of a message",
      method: """
        Of the live deliveries above: the thread that takes messages in, which the goal is about; and all threads of the
        daemon until what follows is published too.
        """, table: table, figures: figures)
  }
}

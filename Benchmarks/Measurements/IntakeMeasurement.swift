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
  static let firstGoal = 0.35
  static let unchangedGoal = 0.75
  static let heartbeatGoal = 0.90
  /// What a first announcement may cost: the intake's thread, as a part of two seals and two rows in C; the whole daemon,
  /// as a part of the time that a commit a message takes in C.
  static let floorGoal = 2.0
  static let wholeGoal = 0.5
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

    /// What they needed for a message without libmosquitto, if that is what the bare subscriber needs.
    var own: [Double] { zip(intake, bare).map { $0 - $1.worked } }
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
      // A store of its own for each: with a backlog the daemon would also compare what live messages have brought about.
      for way in ways {
        let broker = try workspace.startBroker()
        defer { broker.stop(removingFiles: true) }
        var stage = try IntakeStage(workspace: workspace, peers: peers, port: broker.port, subscribers: subscribers)
        defer { stage.daemon.stop() }
        results.publisher.append(try stage.measurePublisher(size.messages))
        try measure(way, &stage, &results)
      }
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
      return Subscriber.allCases.filter { $0 != .paho }
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
      let run = try stage.measure(
        subscriber, .first, way, messages: subscriber.isSlow ? size.messages / Self.slowShare : size.messages)
      results.others["\(way) \(subscriber)", default: []].append(run)
      Progress.say("  \(way), \(subscriber.words): \(Int(run.rate))/s")
    }
    // Heartbeats bring nothing to publish: the thread that they keep busy is the one that takes messages in.
    guard way == .live, let thread = runs[.steadyHeartbeat]?.stored.busiest else { return }
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
        all messages before the subscriber connects; but for first announcements, the daemon compares at the same time
        what the broker keeps of \(size.messages.grouped) routers. Where the publisher's rate equals the subscriber's, the
        broker is the limit. *First heartbeats* are the first of each router, *steady* ones all later. The subscribers
        with a commit a message get \((size.messages / Self.slowShare).grouped) messages; the one with two seals stores rows
        of the daemon's length.
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
    case (.backlog, .steadyHeartbeat): .atLeast(Self.heartbeatGoal)
    default: nil
    }
  }

  private func cost(_ results: Results) -> Part {
    var table = Table("message", .right("intake, µs"), .right("whole daemon, µs"))
    var figures: [Figure] = []
    for kind in Fleet.Kind.allCases {
      guard let pair = results.pairs["\(Delivery.live) \(kind)"] else { continue }
      table.add(kind.word, pair.intake.median.formatted(1), pair.whole.median.formatted(1))
      figures.append(
        Figure(
          "processor time of \(kind.article) \(kind.word)", pair.intake.median, unit: .microseconds,
          samples: pair.intake))
    }
    let first = results.pairs["\(Delivery.live) \(Fleet.Kind.first)"] ?? Samples()
    func runs(_ subscriber: Subscriber) -> [IntakeStage.Run] { results.others["\(Delivery.live) \(subscriber)"] ?? [] }
    let floor = runs(.sealing).map(\.worked)
    let commits = runs(.committing).map { 1e6 / $0.rate }
    table.add("first announcement: \(Subscriber.bare.words)", first.bare.map(\.worked).median.formatted(1), "")
    table.add("the same: two seals and SQLite in C, without libmosquitto", floor.median.formatted(1), "")
    figures += [
      ratio("a first announcement, intake without libmosquitto: times what C needs", first.own, floor, Self.floorGoal),
      ratio(
        "a first announcement, whole daemon: part of a commit a message in C", first.whole, commits, Self.wholeGoal),
    ]
    return Part(
      "cost", "Processor time of a message",
      method: """
        Of the live deliveries above: the thread that takes messages in; and all threads of the daemon until what follows
        is published too. The first goal is about the intake's thread less what the bare subscriber needs, beside two
        seals, a row of a record and one of an event in C; the second one about all threads, beside the time by the clock
        that the subscriber in C needs for a message that it commits.
        """, table: table, figures: figures)
  }

  /// Round by round.
  private func ratio(_ name: String, _ values: [Double], _ others: [Double], _ goal: Double) -> Figure {
    let ratios = zip(values, others).map { $0 / $1 }
    return Figure(name, ratios.median, unit: .ratio, goal: .atMost(goal), samples: ratios)
  }
}

import Broker
import CBareSubscriber
import Foundation

/// What the status page costs: the intake with and without viewers in turn, its size, and how fast it ends.
struct PageMeasurement {
  static let viewers = 200
  static let eventsPerSecond = 1_000
  /// What the intake may lose to the viewers.
  static let ratioGoal = 0.95
  /// Of the document with its first state, in kB.
  static let sizeGoal = 60.0
  static let stopMilliseconds = 3_000.0
  /// Resident while nobody looks, in MB.
  static let memoryGoal = 35.0
  /// A large home, of which the page shows each router.
  private static let routers = 50

  let workspace: Workspace
  let size: Size

  private struct Samples {
    /// Events a second: offered at a rate, and as fast as they go.
    var paced: [Double] = []
    var fast: [Double] = []
    /// Microseconds of processor time for an event, of the paced ones.
    var cost: [Double] = []
  }

  func run() throws -> Part {
    let broker = try workspace.startBroker()
    defer { broker.stop(removingFiles: true) }
    let daemon = try DaemonProcess(workspace, port: broker.port)
    defer { daemon.stop() }
    let port = try FreePort.next()
    daemon.more = "http: {enabled: true, port: \(port)}"
    try daemon.start()
    let helper = Helper(program: workspace.helper, port: broker.port)
    var load = PageLoad(daemon: daemon, helper: helper, file: workspace.fresh("packets"), routers: Self.routers)
    try load.fill()
    // What the load took is not what an idle daemon has.
    daemon.stop()
    try daemon.start()
    Progress.say("page: five quiet seconds")
    sleep(5)
    let memory = daemon.memory.resident / 1e6
    let page = try FreePort.answer(to: "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", port: port)

    var (without, with) = (Samples(), Samples())
    var stops: [Double] = []
    for round in 1...size.rounds {
      // Who begins changes with every round.
      for hasViewers in round.isMultiple(of: 2) ? [true, false] : [false, true] {
        Progress.say("page: round \(round) of \(size.rounds), \(hasViewers ? Self.viewers : 0) viewers")
        let viewers = hasViewers ? try helper.view(port: port, count: Self.viewers) : nil
        let paced = try load.measure(size.messages / 2, perSecond: Self.eventsPerSecond)
        let fast = try load.measure(size.messages, perSecond: 0)
        if hasViewers {
          with.paced.append(paced.rate)
          with.cost.append(paced.cost)
          with.fast.append(fast.rate)
        } else {
          without.paced.append(paced.rate)
          without.cost.append(paced.cost)
          without.fast.append(fast.rate)
        }
        if let viewers {
          let began = bare_now()
          daemon.stop()
          stops.append(Double(bare_now() - began) / 1e6)
          _ = try viewers.line(containing: "ended")
          try daemon.start()
        }
      }
    }
    return Part(
      "page", "The page and its viewers",
      method: """
        With the page open in \(Self.viewers) connections that follow its events, and without, by turns: announcements
        that each change a name of one of \(Self.routers) routers.
        """, figures: figures(without, with, page: page, stops: stops, memory: memory))
  }

  private func figures(_ without: Samples, _ with: Samples, page: Int, stops: [Double], memory: Double) -> [Figure] {
    let paced = zip(with.paced, without.paced).map { $0 / $1 }
    let fast = zip(with.fast, without.fast).map { $0 / $1 }
    return [
      Figure(
        "page: intake of \(Self.eventsPerSecond)/s with \(Self.viewers) viewers", paced.median, unit: .ratio,
        goal: .atLeast(Self.ratioGoal), samples: paced,
        note: "\(Int(with.paced.median))/s, without \(Int(without.paced.median))/s; "
          + "\(with.cost.median.formatted(0)) µs of processor an event, "
          + "without \(without.cost.median.formatted(0)) µs"),
      Figure(
        "page: the same as fast as it goes", fast.median, unit: .ratio, goal: nil, samples: fast,
        note: "\(Int(with.fast.median))/s, without \(Int(without.fast.median))/s; the viewers take "
          + "their part of the processors"),
      Figure(
        "page: size", Double(page) / 1e3, unit: .kilobytes, goal: .atMost(Self.sizeGoal), samples: [],
        note: "with headers, \(Self.routers) routers"),
      Figure(
        "page: stop with \(Self.viewers) viewers", stops.max() ?? 0, unit: .milliseconds,
        goal: .atMost(Self.stopMilliseconds), samples: stops, note: "the slowest"),
      Figure(
        "page: idle resident memory", memory, unit: .megabytes, goal: .atMost(Self.memoryGoal), samples: [],
        note: "\(Self.routers) routers"),
    ]
  }
}

import Broker
import Foundation

/// Resident memory of the daemon: with a home's routers, with the page, and with very many routers.
struct MemoryMeasurement {
  /// MB.
  static let idleGoal = 13.0
  static let pageGoal = 18.0
  static let manyGoal = 60.0
  /// A large home.
  private static let home = 50
  private static let steps = [10_000, 40_000]

  let workspace: Workspace

  private struct Row {
    let what: String
    let state: String
    let memory: (resident: Double, anonymous: Double)
  }

  func run() throws -> Part {
    let broker = try workspace.startBroker()
    defer { broker.stop(removingFiles: true) }
    let daemon = try DaemonProcess(workspace, port: broker.port)
    defer { daemon.stop() }
    let page = "http: {enabled: true, port: \(try FreePort.next())}"
    let none = daemon.more
    var rows: [Row] = []
    var known = 0
    try daemon.start()
    for routers in [Self.home] + Self.steps {
      Progress.say("memory: \(routers) routers")
      try announce(known..<routers, daemon, port: broker.port)
      known = routers + 1
      if routers > Self.home { rows.append(try measure(daemon, routers, "after they were announced")) }
      daemon.stop()
      for (settings, state) in [(none, "started again"), (page, "started again, with the page")] {
        // The page of very many routers is not what it is for.
        if settings == page, routers > Self.home { continue }
        daemon.more = settings
        try daemon.start()
        rows.append(try measure(daemon, routers, state))
        daemon.stop()
      }
      daemon.more = none
      try daemon.start()
    }
    return part(rows)
  }

  private func announce(_ numbers: Range<Int>, _ daemon: DaemonProcess, port: UInt16) throws {
    daemon.routers += Int64(numbers.count) + 1
    _ = try Helper(program: workspace.helper, port: port).publish(
      Fleet().packets(.first, numbers, marker: numbers.upperBound, base: DaemonProcess.base),
      from: workspace.fresh("packets"))
    _ = try daemon.waitForRouters()
    try daemon.waitForQuiet()
  }

  private func measure(_ daemon: DaemonProcess, _ routers: Int, _ state: String) throws -> Row {
    try daemon.waitForIdle()
    sleep(5)
    return Row(what: routers.grouped, state: state, memory: daemon.memory)
  }

  private func part(_ rows: [Row]) -> Part {
    var table = Table(.right("routers"), "", .right("resident, MB"), .right("not of files, MB"))
    for row in rows {
      table.add(
        row.what, row.state, (row.memory.resident / 1e6).formatted(1), (row.memory.anonymous / 1e6).formatted(1))
    }
    func figures(_ name: String, _ routers: Int, _ state: String, _ goal: Double?) -> [Figure] {
      let row = rows.first { $0.what == routers.grouped && $0.state == state }
      return [
        Figure(name, (row?.memory.resident ?? 0) / 1e6, unit: .megabytes, goal: goal.map(Figure.Goal.atMost)),
        Figure("\(name), not of files", (row?.memory.anonymous ?? 0) / 1e6, unit: .megabytes),
      ]
    }
    return Part(
      "memory", "Memory",
      method: """
        Resident memory of the daemon after five seconds in which nothing happens, with the \(Self.home) routers of a
        large home and with more than any home has; and the part of it that holds no pages of files.
        """, table: table,
      figures: figures("idle memory without the page", Self.home, "started again", Self.idleGoal)
        + figures("idle memory with the page", Self.home, "started again, with the page", Self.pageGoal)
        + figures("memory with 10,000 routers after a burst", 10_000, "after they were announced", nil)
        + figures("memory with 40,000 routers after a burst", 40_000, "after they were announced", Self.manyGoal))
  }
}

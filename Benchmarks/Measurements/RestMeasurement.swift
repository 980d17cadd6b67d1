import Broker
import CBareSubscriber
import Foundation

/// What a home costs day and night: routers that send their heartbeats, and nothing else.
struct RestMeasurement {
  static let routers = 20
  /// Seconds between two heartbeats of a router.
  private static let interval = 60
  /// MB a day, and a second.
  private static let writtenGoal = 2.0
  private static let wakeUpGoal = 2.0

  let workspace: Workspace
  let size: Size

  func run() throws -> Part {
    Progress.say("rest: \(size.rest) seconds with \(Self.routers) routers")
    let broker = try workspace.startBroker()
    defer { broker.stop(removingFiles: true) }
    let helper = Helper(program: workspace.helper, port: broker.port)
    let daemon = try DaemonProcess(workspace, port: broker.port)
    defer { daemon.stop() }
    daemon.routers = Int64(Self.routers)
    try daemon.start()
    func publish(_ kind: Fleet.Kind, _ numbers: Range<Int>) throws {
      let load = Fleet().packets(kind, numbers, marker: nil, base: DaemonProcess.base)
      _ = try helper.publish(load, from: workspace.fresh("packets"))
    }
    try publish(.first, 0..<Self.routers)
    _ = try daemon.waitForRouters()
    try publish(.firstHeartbeat, 0..<Self.routers)
    try daemon.waitForQuiet()
    try daemon.waitForIdle()
    /// One router after the other, so that they come as in a home.
    func rest(_ seconds: Int) throws -> Double {
      let begin = bare_now()
      func passed() -> Double { Double(bare_now() - begin) / 1e9 }
      for number in 0..<(seconds * Self.routers / Self.interval) {
        let router = number % Self.routers
        try publish(.steadyHeartbeat, router..<(router + 1))
        let next = Double((number + 1) * Self.interval) / Double(Self.routers)
        usleep(UInt32(max(0, next - passed()) * 1e6))
      }
      return passed()
    }
    // Until the alerts of new routers are raised.
    _ = try rest(size.rest / 2)
    let before = (work: daemon.work, wakeUps: daemon.wakeUps, written: daemon.written)
    let time = try rest(size.rest)
    let wakeUps = (daemon.wakeUps - before.wakeUps).total / time
    let processor = (daemon.work - before.work).total / time / 1e7
    let memory = daemon.memory
    let after = daemon.written
    let ended = Self.writtenByEnded()
    daemon.stop()
    var figures = [
      Figure("at rest: wake-ups", wakeUps, unit: .timesASecond, goal: .atMost(Self.wakeUpGoal), note: "of all threads"),
      Figure("at rest: processor time", processor, unit: .percent, note: "of a processor"),
      Figure(
        "at rest: memory", memory.resident / 1e6, unit: .megabytes,
        note: "\((memory.anonymous / 1e6).formatted(1)) MB not of files"),
    ]
    var missing: [String] = []
    if let first = before.written, let after {
      let day = (after - first) / time * 86_400 / 1e6
      let stop = max(0, Self.writtenByEnded() - ended - after) / 1e6
      figures.insert(
        Figure(
          "at rest: written", day + 24 * stop, unit: .megabytesADay, goal: .atMost(Self.writtenGoal),
          note: "\(day.formatted(1)) MB, and 24 times \((stop * 1e3).formatted(0)) kB"), at: 0)
    } else {
      missing.append("What is written in a day is left out: the kernel says that to root alone.")
    }
    var part = Part(
      "rest", "At rest",
      method: """
        \(Self.routers) routers send a heartbeat each minute, for \(size.rest) seconds after the first \(size.rest / 2). What the daemon writes to the disk is scaled
        from them to a day; what it writes at a stop is added 24 times, because it saves the same each hour.
        """, figures: figures)
    part.missing = missing
    return part
  }

  /// Bytes that the processes wrote to the disk that this one has started and that have ended.
  private static func writtenByEnded() -> Double {
    var usage = rusage()
    getrusage(__rusage_who_t(RUSAGE_CHILDREN.rawValue), &usage)
    return Double(usage.ru_oublock) * 512
  }
}

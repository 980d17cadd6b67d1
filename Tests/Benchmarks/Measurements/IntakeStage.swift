// SPDX-License-Identifier: Apache-2.0

import CBareSubscriber

/// One broker, one daemon with a new store, and the bare subscriber: measures them in turn.
struct IntakeStage {
  /// Messages a second of both, and what the daemon's share cost.
  struct Pair {
    var daemon: Double
    var bare: Double
    /// Microseconds of processor time a message.
    var cost: Double
  }

  /// As long as the daemon's, so that the broker has the same bytes to move.
  private static let bareBase = "bare-counter"

  let daemon: DaemonProcess
  private let helper: Helper
  private let fleet = Fleet()
  private let messages: Int
  private let file: String
  /// The number of the next router that nobody has seen.
  private var nextRouter = 0
  private var isBareFirst = false

  init(workspace: Workspace, port: UInt16, messages: Int) throws {
    daemon = try DaemonProcess(workspace, port: port)
    helper = Helper(program: workspace.helper, port: port)
    file = workspace.fresh("packets")
    self.messages = messages
    // Both sessions are known to the broker before the first message.
    try daemon.start()
    _ = try helper.finish(helper.subscribe(Self.bareBase, expecting: 0))
  }

  /// One after the other; who begins changes with every pair.
  mutating func measure(_ kind: Fleet.Kind, _ way: Delivery) throws -> Pair {
    let numbers = kind == .first ? nextRouter..<(nextRouter + messages) : 0..<messages
    if kind == .first { nextRouter += messages }
    let marker = nextRouter
    nextRouter += 1
    let load = fleet.packets(kind, numbers, marker: marker, base: DaemonProcess.base)
    let bareLoad = fleet.packets(kind, numbers, marker: marker, base: Self.bareBase)
    isBareFirst.toggle()
    var bare = isBareFirst ? try measureBare(bareLoad, way) : 0
    daemon.routers += kind == .first ? Int64(messages) + 1 : 1
    let (rate, cost) = try measureDaemon(load, way)
    if bare == 0 { bare = try measureBare(bareLoad, way) }
    return Pair(daemon: rate, bare: bare, cost: cost)
  }

  private func measureDaemon(_ load: PublishPackets, _ way: Delivery) throws
    -> (rate: Double, cost: Double)
  {
    let begin: Int64
    var used: Double
    switch way {
    case .live:
      used = daemon.processorTime
      begin = try helper.publish(load, from: file).begin
    case .backlog:
      daemon.stop()
      _ = try helper.publish(load, from: file)
      begin = try daemon.start()
      used = 0
    }
    let end = try daemon.waitForRouters()
    used = daemon.processorTime - used
    // What it still has to say is not to burden the next measurement.
    try daemon.waitForQuiet()
    return (Self.rate(load, begin, end), used / Double(load.count) * 1e6)
  }

  private func measureBare(_ load: PublishPackets, _ way: Delivery) throws -> Double {
    switch way {
    case .live:
      let subscriber = try helper.subscribe(Self.bareBase, expecting: load.count)
      let begin = try helper.publish(load, from: file).begin
      return Self.rate(load, begin, try helper.finish(subscriber).end)
    case .backlog:
      _ = try helper.publish(load, from: file)
      let times = try helper.finish(helper.subscribe(Self.bareBase, expecting: load.count))
      return Self.rate(load, times.begin, times.end)
    }
  }

  private static func rate(_ load: PublishPackets, _ begin: Int64, _ end: Int64) -> Double {
    Double(load.count) / (Double(end - begin) / 1e9)
  }
}

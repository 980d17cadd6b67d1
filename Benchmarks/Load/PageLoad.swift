import CBareSubscriber

/// Events that each change something which the page shows: routers of one home that take other names.
struct PageLoad {
  let daemon: DaemonProcess
  let helper: Helper
  let file: String
  let routers: Int
  /// The number of the next router that nobody has seen.
  private var next: Int
  private var renamed = 0

  init(daemon: DaemonProcess, helper: Helper, file: String, routers: Int) {
    self.daemon = daemon
    self.helper = helper
    self.file = file
    self.routers = routers
    next = routers
  }

  /// Announces the routers.
  mutating func fill() throws { _ = try measure(0, perSecond: 0, first: routers) }

  /// - Parameters:
  ///   - count: of the events.
  ///   - rate: events that are published in a second; 0: as fast as it goes.
  /// - Returns: events a second from the first one published to the last one stored, and microseconds of processor
  ///   time that the daemon used for one.
  mutating func measure(_ count: Int, perSecond rate: Int, first: Int = 0) throws -> (rate: Double, cost: Double) {
    var packets = PublishPackets()
    let topic = "\(DaemonProcess.base)/in/\(Fleet.user)/announce"
    let fleet = Fleet()
    for router in 0..<first { packets.add(topic, fleet.announcement(router)) }
    for _ in 0..<count {
      renamed += 1
      packets.add(topic, fleet.announcement(renamed % routers, name: "Name \(renamed)"))
    }
    // A router that is new: when it is stored, so is everything before it.
    packets.add(topic, fleet.announcement(next))
    next += 1
    daemon.routers += Int64(first) + 1
    let used = daemon.work
    let begin = try helper.publish(packets, from: file, perSecond: rate).begin
    let end = try daemon.waitForRouters()
    let cost = (daemon.work - used).total / Double(packets.count) / 1e3
    try daemon.waitForQuiet()
    return (Double(packets.count) / (Double(end - begin) / 1e9), cost)
  }
}

import CBareSubscriber

/// One broker, one daemon with a new store, and the subscribers that it is compared with: measures them by turns.
struct IntakeStage {
  /// What one of them did.
  struct Run {
    /// Messages a second.
    var rate: Double
    /// Of the publisher: meanwhile, or before where the messages were kept.
    var publisher: Double
    /// Of the daemon: until the messages were stored, and until all that follows was published.
    var stored = ThreadWork()
    var published = ThreadWork()
    /// Of a subscriber in C: microseconds of processor time for a message, as `bare_times` has them.
    var worked = 0.0
  }

  let daemon: DaemonProcess
  private let workspace: Workspace
  private let peers: Peers
  private let helper: Helper
  private let fleet = Fleet()
  private let file: String
  /// The number of the next router that was not announced yet, and those that were announced last.
  private var nextRouter = 0
  private var announced = 0..<0
  private var stored = StoredBytes()
  private var isBareFirst = false
  /// What can be started here.
  let subscribers: [Subscriber]

  init(workspace: Workspace, peers: Peers, port: UInt16, subscribers: [Subscriber]) throws {
    self.workspace = workspace
    self.peers = peers
    self.subscribers = subscribers
    daemon = try DaemonProcess(workspace, port: port)
    helper = Helper(program: workspace.helper, port: port)
    file = workspace.fresh("packets")
    // All sessions are known to the broker before the first message.
    try daemon.start()
    for subscriber in subscribers {
      _ = try helper.finish(
        subscriber.start(expecting: 0, database: workspace.fresh("messages"), stored, helper, peers))
    }
  }

  /// Messages a second that the publisher can do: nobody has subscribed to them.
  func measurePublisher(_ count: Int) throws -> Double {
    let load = fleet.packets(.first, 0..<count, marker: count, base: "no-subscriber")
    return try helper.publish(load, from: file).rate(of: load.count)
  }

  /// Daemon and bare subscriber, one after the other; who begins changes with every pair.
  mutating func measure(_ kind: Fleet.Kind, _ way: Delivery, messages: Int) throws -> (daemon: Run, bare: Run) {
    // All later kinds are of these, so that the first heartbeats are the first.
    if kind == .first {
      announced = nextRouter..<(nextRouter + messages)
      nextRouter += messages
    }
    let marker = nextRouter
    nextRouter += 1
    let load = fleet.packets(kind, announced, marker: marker, base: DaemonProcess.base)
    isBareFirst.toggle()
    let before = isBareFirst ? try measure(.bare, kind, way, messages: messages) : nil
    daemon.routers += kind == .first ? Int64(messages) + 1 : 1
    let run = try measureDaemon(load, way, isFirst: kind == .first)
    return (run, try before ?? measure(.bare, kind, way, messages: messages))
  }

  /// Another subscriber alone.
  func measure(_ subscriber: Subscriber, _ kind: Fleet.Kind, _ way: Delivery, messages: Int) throws -> Run {
    let load = fleet.packets(kind, 0..<messages, marker: messages, base: subscriber.base)
    func start() throws -> ChildProcess {
      try subscriber.start(expecting: load.count, database: workspace.fresh("messages"), stored, helper, peers)
    }
    switch way {
    case .live:
      let child = try start()
      let published = try helper.publish(load, from: file)
      let times = try helper.finish(child)
      return Run(
        rate: Helper.Times(begin: published.begin, end: times.end).rate(of: load.count),
        publisher: published.rate(of: load.count), worked: Double(times.worked) / 1e3 / Double(load.count))
    case .backlog:
      let published = try helper.publish(load, from: file)
      return Run(rate: try helper.finish(start()).rate(of: load.count), publisher: published.rate(of: load.count))
    }
  }

  private mutating func measureDaemon(_ load: PublishPackets, _ way: Delivery, isFirst: Bool) throws -> Run {
    let begin: Int64
    let published: Helper.Times
    var before = ThreadWork()
    switch way {
    case .live:
      before = daemon.work
      published = try helper.publish(load, from: file)
      begin = published.begin
    case .backlog:
      daemon.stop()
      published = try helper.publish(load, from: file)
      begin = try daemon.start()
    }
    let end = try daemon.waitForRouters()
    let work = daemon.work
    if isFirst { stored = try daemon.storedBytes() ?? stored }
    // What it still has to publish is not to burden the next measurement.
    try daemon.waitForQuiet()
    let after = daemon.work
    try daemon.waitForIdle()
    return Run(
      rate: Helper.Times(begin: begin, end: end).rate(of: load.count), publisher: published.rate(of: load.count),
      stored: work - before, published: after - before)
  }
}

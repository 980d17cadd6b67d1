import CBareSubscriber
import Foundation

/// A shard on PostgreSQL beside a daemon on SQLite, two shards in one and in two processes, and how soon a shard is
/// served again.
struct FleetMeasurement {
  /// Of the rate with SQLite.
  private static let rateGoal = 0.6
  /// Seconds.
  private static let killedGoal = 3.0
  private static let lostGoal = 15.0

  let workspace: Workspace
  let tools: String
  let size: Size

  func run() async throws -> [Part] { [try rates(), try processes(), try await failOver(), try failOverOfMany()] }

  // MARK: One shard

  private func rates() throws -> Part {
    let cluster = try PostgresCluster(workspace, tools: tools)
    defer { cluster.stop() }
    let broker = try workspace.startBroker()
    defer { broker.stop(removingFiles: true) }
    let helper = Helper(program: workspace.helper, port: broker.port)
    let daemon = try DaemonProcess(workspace, port: broker.port)
    defer { daemon.stop() }
    let node = try NodeProcess(workspace, "node-a", port: broker.port, url: cluster.url)
    defer { node.stop() }
    try node.command("init", "--shards", "1", "--name", "bench")
    try node.command("homes", "add", "1/home")
    // Both sessions are known to the broker before the first message.
    try daemon.start()
    try node.start(1..<2)
    var (sqlite, postgres): ([Delivery: [Double]], [Delivery: [Double]]) = ([:], [:])
    var nodeRouters: Int64 = 0
    var next = 0
    // A user for each delivery: one may have 100,000 routers.
    func measureDaemon(_ way: Delivery) throws -> Double {
      let load = Fleet().packets(
        .first, next..<(next + size.messages), marker: next + size.messages, base: DaemonProcess.base,
        user: way.rawValue)
      daemon.routers += Int64(load.count)
      let begin: Int64
      switch way {
      case .live: begin = try helper.publish(load, from: workspace.fresh("packets")).begin
      case .backlog:
        daemon.stop()
        _ = try helper.publish(load, from: workspace.fresh("packets"))
        begin = try daemon.start()
      }
      let end = try daemon.waitForRouters()
      try daemon.waitForIdle()
      return Helper.Times(begin: begin, end: end).rate(of: load.count)
    }
    func measureNode(_ way: Delivery) throws -> Double {
      let load = Fleet().packets(
        .first, next..<(next + size.messages), marker: next + size.messages, base: "\(NodeProcess.base)/1/home",
        user: way.rawValue)
      nodeRouters += Int64(load.count)
      let begin: Int64
      switch way {
      case .live: begin = try helper.publish(load, from: workspace.fresh("packets")).begin
      case .backlog:
        node.stop()
        _ = try helper.publish(load, from: workspace.fresh("packets"))
        begin = try node.launch().line(containing: "intake connected").time
      }
      // Ids count up, so that there are too few is seen by the last one.
      _ = try cluster.wait(until: "SELECT max(id) FROM threadkeeper.record WHERE shard = 1", reaches: nodeRouters)
      let end = try cluster.wait(
        // And one for the preferred network.
        until: "SELECT count(*) - 1 FROM threadkeeper.record WHERE shard = 1 AND secret_version > 0",
        reaches: nodeRouters)
      try node.waitForIdle()
      return Helper.Times(begin: begin, end: end).rate(of: load.count)
    }
    for round in 1...size.rounds {
      for way in Delivery.allCases {
        // Who begins changes.
        let daemonIsFirst = round.isMultiple(of: 2)
        let first = daemonIsFirst ? try measureDaemon(way) : try measureNode(way)
        let second = daemonIsFirst ? try measureNode(way) : try measureDaemon(way)
        let (daemonRate, nodeRate) = daemonIsFirst ? (first, second) : (second, first)
        sqlite[way, default: []].append(daemonRate)
        postgres[way, default: []].append(nodeRate)
        next += size.messages + 1
        Progress.say(
          "fleet: round \(round), \(way): SQLite \(daemonRate.grouped)/s, PostgreSQL "
            + "\(nodeRate.grouped)/s, ratio \((nodeRate / daemonRate).formatted(2))")
      }
    }
    var table = Table("delivery", "store", .right("messages/s"), .right("of SQLite's"))
    var figures: [Figure] = []
    for way in Delivery.allCases {
      let (one, other) = (sqlite[way] ?? [], postgres[way] ?? [])
      let ratios = zip(other, one).map { $0 / $1 }
      table.add(way.rawValue, "SQLite", one.median.grouped, "1")
      table.add(way.rawValue, "**PostgreSQL**", other.median.grouped, ratios.median.formatted(2))
      figures.append(
        Figure(
          "\(way): a shard on PostgreSQL, part of the rate with SQLite", ratios.median, unit: .ratio,
          goal: .atLeast(Self.rateGoal), samples: ratios))
    }
    return Part(
      "fleet", "A shard on PostgreSQL",
      method: """
        \(size.messages.grouped) first announcements of one home, by turns: to the daemon with a store in SQLite, and to
        a node with one shard in PostgreSQL, which runs on the same processors and disk. Both are durable.
        """, table: table, figures: figures)
  }

  // MARK: Two shards

  private func processes() throws -> Part {
    let cluster = try PostgresCluster(workspace, tools: tools)
    defer { cluster.stop() }
    let broker = try workspace.startBroker()
    defer { broker.stop(removingFiles: true) }
    let helper = Helper(program: workspace.helper, port: broker.port)
    let both = try NodeProcess(workspace, "both", port: broker.port, url: cluster.url, shards: 2)
    try both.command("init", "--shards", "2", "--name", "bench")
    try both.command("homes", "add", "1/home", "2/home")
    let halves = try (1...2).map { try NodeProcess(workspace, "half-\($0)", port: broker.port, url: cluster.url) }
    // The broker gets to know the sessions.
    try both.start(1..<3)
    both.stop()
    var expected: Int64 = 0
    var next = 0
    func measure(_ shards: ClosedRange<Int>, _ user: String) throws -> Double {
      var load = PublishPackets()
      let fleet = Fleet()
      for number in next..<(next + size.messages) {
        let shard = shards.lowerBound + number % shards.count
        load.add("\(NodeProcess.base)/\(shard)/home/in/\(user)/announce", fleet.announcement(number))
      }
      next += size.messages
      expected += Int64(load.count)
      let begin = try helper.publish(load, from: workspace.fresh("packets")).begin
      let end = try cluster.wait(
        until: "SELECT count(*) FROM threadkeeper.record WHERE secret_version > 0",
        reaches: expected + Int64(try cluster.number(preferred)), pause: 10_000)
      return Helper.Times(begin: begin, end: end).rate(of: load.count)
    }
    // Each home that has a router has the credentials of its preferred network besides.
    let preferred = "SELECT count(DISTINCT shard) FROM threadkeeper.record WHERE secret_version > 0"
    var (one, two, parts): ([Double], [Double], [Double]) = ([], [], [])
    for round in 1...size.rounds {
      try both.start(1..<3)
      try both.waitForIdle()
      one.append(try measure(1...1, "round-\(round)"))
      try both.waitForIdle()
      two.append(try measure(1...2, "round-\(round)"))
      try both.waitForIdle()
      both.stop()
      for node in halves { try node.launch() }
      _ = try cluster.wait(
        until: "SELECT count(*) FROM threadkeeper.lease WHERE until > now() AND state = 'serving'", reaches: 2)
      for node in halves { try node.waitForIdle() }
      parts.append(try measure(1...2, "round-\(round)"))
      for node in halves {
        try node.waitForIdle()
        node.stop()
      }
      Progress.say(
        "fleet: round \(round): one shard \((one.last ?? 0).grouped)/s, two in one process "
          + "\((two.last ?? 0).grouped)/s, in two processes \((parts.last ?? 0).grouped)/s")
    }
    var table = Table("shards", "processes", .right("messages/s"), .right("of one shard's"))
    func add(_ name: String, _ processes: String, _ rates: [Double]) -> Figure {
      let ratios = zip(rates, one).map { $0 / $1 }
      table.add(name, processes, rates.median.grouped, ratios.median.formatted(2))
      return Figure("\(name) in \(processes): part of one shard's rate", ratios.median, unit: .ratio, samples: ratios)
    }
    let figures = [add("one", "one", one), add("two", "one", two), add("two", "two", parts)]
    return Part(
      "fleet-processes", "Two shards",
      method: """
        \(size.messages.grouped) first announcements, live, to one shard, and by turns to two. Publisher, broker, nodes
        and PostgreSQL share the processors.
        """, table: table, figures: figures)
  }

  // MARK: Fail-over

  private func failOver() async throws -> Part {
    let cluster = try PostgresCluster(workspace, tools: tools)
    defer { cluster.stop() }
    let broker = try workspace.startBroker()
    defer { broker.stop(removingFiles: true) }
    var node = try NodeProcess(workspace, "node-a", port: broker.port, url: cluster.url)
    var other = try NodeProcess(workspace, "node-b", port: broker.port, url: cluster.url)
    defer {
      node.stop()
      other.stop()
    }
    try node.command("init", "--shards", "1", "--name", "bench")
    try node.command("homes", "add", "1/home")
    try node.start(1..<2)
    let client = try StateClient(port: broker.port, base: "\(NodeProcess.base)/1/home")
    for number in 0..<100 { _ = try client.announce(number) }
    var number = 100
    var (killed, stopped, lost): ([Double], [Double], [Double]) = ([], [], [])
    /// Seconds from a fault until an announcement that is made then has its retained state.
    func measure(_ fault: () throws -> Void) throws -> Double {
      number += 1
      let begin = bare_now()
      try fault()
      _ = try client.announce(number)
      return Double(bare_now() - begin) / 1e9
    }
    for kill in 1...size.kills {
      Progress.say("fleet: kill \(kill) of \(size.kills)")
      killed.append(
        try measure {
          node.kill()
          try node.launch()
        })
    }
    for stop in 1...size.kills {
      Progress.say("fleet: stop \(stop) of \(size.kills)")
      try other.launch()
      _ = try cluster.wait(until: "SELECT count(*) FROM threadkeeper.node WHERE name = '\(other.name)'", reaches: 1)
      stopped.append(try measure { node.stop() })
      swap(&node, &other)
    }
    for loss in 1...max(2, size.kills / 2) {
      Progress.say("fleet: loss \(loss) of \(max(2, size.kills / 2))")
      try other.launch()
      _ = try cluster.wait(until: "SELECT count(*) FROM threadkeeper.node WHERE name = '\(other.name)'", reaches: 1)
      lost.append(try measure { node.kill() })
      swap(&node, &other)
    }
    try await client.stop()
    var table = Table("fault", .right("times"), .right("median, s"), .right("p99, s"), .right("slowest, s"))
    func add(_ name: String, _ samples: [Double], _ goal: Double?) -> Figure {
      table.add(
        name, "\(samples.count)", samples.median.formatted(2), samples.percentile(99).formatted(2),
        (samples.max() ?? 0).formatted(2))
      return Figure(
        "\(name), p99", samples.percentile(99), unit: .seconds, goal: goal.map(Figure.Goal.atMost), samples: samples)
    }
    let figures = [
      add("a process is killed and starts again", killed, Self.killedGoal),
      add("a node is stopped, another one takes its shard", stopped, nil),
      add("a node is lost, another one takes its shard", lost, Self.lostGoal),
    ]
    return Part(
      "fleet-fail-over", "Fail-over of a shard",
      method: """
        From the fault until an announcement that is published then has its retained state. The shard has one home with
        100 routers.
        """, table: table, figures: figures)
  }

  /// All shards of a process at once.
  private func failOverOfMany() throws -> Part {
    let shards = 64
    let routers = 100
    let cluster = try PostgresCluster(workspace, tools: tools)
    defer { cluster.stop() }
    let broker = try workspace.startBroker()
    defer { broker.stop(removingFiles: true) }
    let helper = Helper(program: workspace.helper, port: broker.port)
    let node = try NodeProcess(workspace, "node", port: broker.port, url: cluster.url, shards: shards)
    defer { node.stop() }
    try node.command("init", "--shards", "\(shards)", "--name", "bench")
    try cluster.execute("INSERT INTO threadkeeper.home (shard, name) SELECT id, 'home' FROM threadkeeper.shard")
    var number = 0
    /// New routers of each shard.
    func announce(_ count: Int) throws {
      var load = PublishPackets()
      for _ in 0..<count {
        for shard in 1...shards {
          load.add("\(NodeProcess.base)/\(shard)/home/in/\(Fleet.user)/announce", Fleet().announcement(number))
          number += 1
        }
      }
      _ = try helper.publish(load, from: workspace.fresh("packets"))
    }
    try node.start(1..<(shards + 1))
    try announce(routers)
    // Each home has one more: that of its preferred network.
    _ = try cluster.wait(
      until: "SELECT count(*) FROM threadkeeper.record WHERE secret_version > 0", reaches: Int64(shards * (routers + 1))
    )
    var samples: [Double] = []
    for kill in 1...size.kills {
      Progress.say("fleet: kill of \(shards) shards, \(kill) of \(size.kills)")
      try node.waitForIdle(share: 0.1)
      try cluster.mark()
      let begin = bare_now()
      node.kill()
      try node.launch()
      try announce(1)
      var served = 0
      while served < shards {
        let time = try cluster.wait(until: PostgresCluster.changed, reaches: Int64(served + 1))
        let now = Int(try cluster.number(PostgresCluster.changed))
        samples += Array(repeating: Double(time - begin) / 1e9, count: now - served)
        served = now
      }
    }
    var table = Table(
      "fault", .right("shards"), .right("times"), .right("median, s"), .right("p99, s"), .right("slowest, s"))
    table.add(
      "a process is killed and starts again", "\(shards)", "\(size.kills)", samples.median.formatted(2),
      samples.percentile(99).formatted(2), (samples.max() ?? 0).formatted(2))
    return Part(
      "fleet-fail-over-64", "Fail-over of \(shards) shards of one process",
      method: """
        From the fault until an announcement to each shard, published right after it, is committed. A shard has one
        home with \(routers) routers.
        """, table: table,
      figures: [
        Figure(
          "\(shards) shards of a process that is killed and starts again, p99", samples.percentile(99), unit: .seconds,
          goal: .atMost(Self.killedGoal), samples: samples)
      ])
  }
}

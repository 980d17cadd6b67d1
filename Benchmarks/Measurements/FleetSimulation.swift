import Broker
import CBareSubscriber
import Foundation

/// A million routers in 256 shards on one machine: what it takes to load them, to have them and to read them, and where
/// the time goes.
struct FleetSimulation {
  let workspace: Workspace
  let tools: String
  let isQuick: Bool

  private var shards: Int { isQuick ? 16 : 256 }
  private var routers: Int { isQuick ? 20_000 : 1_000_000 }
  private let routersOfHome = 4
  /// Messages of one measurement.
  private var messages: Int { isQuick ? 10_000 : 200_000 }
  /// Packets that the publisher has at once.
  private var part: Int { isQuick ? 10_000 : 100_000 }

  private var homesOfShard: Int { routers / routersOfHome / shards }
  /// A whole number of homes in each shard.
  private var allRouters: Int { homesOfShard * routersOfHome * shards }

  /// Seconds of processor time, by who had it.
  private struct Work {
    var seconds: [String: Double] = [:]
    var wall = 0.0

    static func - (after: Work, before: Work) -> Work {
      var work = after
      for (name, seconds) in before.seconds { work.seconds[name, default: 0] -= seconds }
      work.wall -= before.wall
      return work
    }
  }

  private struct Row {
    let name: String
    let count: Int
    let work: Work
    var rate: Double { Double(count) / work.wall }
  }

  func run() throws -> Part {
    let cluster = try PostgresCluster(workspace, tools: tools, settings: ["shared_buffers=1GB", "max_wal_size=16GB"])
    defer { cluster.stop() }
    let broker = try workspace.startBroker()
    defer { broker.stop(removingFiles: true) }
    let whole = try NodeProcess(workspace, "whole", port: broker.port, url: cluster.url, shards: shards)
    let halves = try (1...2).map {
      try NodeProcess(workspace, "half-\($0)", port: broker.port, url: cluster.url, shards: shards / 2)
    }
    defer { for node in halves + [whole] { node.stop() } }
    try whole.command("init", "--shards", "\(shards)", "--name", "bench")
    try cluster.execute(
      """
      INSERT INTO threadkeeper.home (shard, name)
      SELECT s, 'home-' || h FROM generate_series(1, \(shards)) s, generate_series(1, \(homesOfShard)) h
      """)
    try cluster.execute("ANALYZE")
    var rows: [Row] = []
    var figures: [Figure] = []
    func add(_ figure: Figure) {
      figures.append(figure)
      Progress.say("fleet-million: \(figure.name): \(figure.unit.text(figure.value)) \(figure.note)")
    }
    func add(_ row: Row) {
      rows.append(row)
      Progress.say(
        "fleet-million: \(row.name): \(row.rate.grouped)/s, node \(percent(row.work, "node")) %, "
          + "PostgreSQL \(percent(row.work, "PostgreSQL")) %, broker \(percent(row.work, "broker")) %")
    }
    func work(_ nodes: [NodeProcess], at time: Int64 = bare_now()) -> Work {
      Work(
        seconds: [
          "node": ProcessTable.seconds(of: nodes.compactMap { $0.child?.identifier }),
          "PostgreSQL": ProcessTable.seconds(of: cluster.processes),
          "broker": ProcessTable.seconds(of: [broker.processIdentifier].compactMap { $0 }),
        ], wall: Double(time) / 1e9)
    }
    func started(_ nodes: [NodeProcess]) throws -> Double {
      let begin = bare_now()
      for node in nodes { try node.launch() }
      let end = try cluster.wait(
        until: """
          SELECT count(*) FROM threadkeeper.lease WHERE until > now() AND state = 'serving'
          """, reaches: Int64(shards), within: 900, pause: 50_000)
      return Double(end - begin) / 1e9
    }
    func note(memoryOf nodes: [NodeProcess], _ when: String) {
      let bytes = ProcessTable.memory(of: nodes.compactMap { $0.child?.identifier })
      add(Figure("memory \(when)", bytes / 1e6, unit: .megabytes))
    }

    @discardableResult func settle(_ nodes: [NodeProcess]) throws -> Int64 {
      guard let process = broker.processIdentifier else {
        throw ChildProcess.Failure(description: "the broker has ended")
      }
      return try self.settle(nodes, cluster, broker: process)
    }

    let empty = try started([whole])
    let homes = "\((homesOfShard * shards).grouped) homes"
    add(Figure("start with \(shards) empty shards", empty, unit: .seconds, note: homes))
    try whole.wait(for: 1..<(shards + 1), within: 300)
    try settle([whole])
    note(memoryOf: [whole], "of a node with \(homes), all empty")

    var before = work([whole])
    try publish(0..<allRouters, broker.port)
    let loaded = work([whole], at: try waitUntilNothingIsNew(cluster))
    add(Row(name: "first announcements, one process", count: allRouters, work: loaded - before))
    try settle([whole])
    note(memoryOf: [whole], "of a node with \(allRouters.grouped) routers")
    add(
      Figure("memory of the broker", ProcessTable.memory(of: [broker.processIdentifier ?? 0]) / 1e6, unit: .megabytes))
    add(Figure("database", Double(try cluster.number("SELECT pg_database_size('postgres')")) / 1e6, unit: .megabytes))

    before = work([whole])
    try change(1, cluster, broker.port)
    add(Row(name: "changes, one process", count: messages, work: work([whole]) - before))
    try settle([whole])

    before = work([whole])
    sleep(isQuick ? 15 : 60)
    let rest = work([whole]) - before
    add(
      Figure(
        "rest", (rest.seconds["node"] ?? 0) / rest.wall * 100, unit: .percent,
        note: "of a processor, of the node; broker \(percent(rest, "broker")), "
          + "PostgreSQL \(percent(rest, "PostgreSQL"))"))

    let stopping = bare_now()
    whole.stop()
    let stopped = Double(bare_now() - stopping) / 1e9
    let held = try cluster.number("SELECT count(*) FROM threadkeeper.lease WHERE until > now() AND state = 'serving'")
    add(Figure("stop", stopped, unit: .seconds, note: "\(held) shards were not released then"))
    _ = try cluster.wait(
      until: "SELECT -count(*) FROM threadkeeper.lease WHERE until > now() AND state = 'serving'", reaches: 0,
      within: 30, pause: 50_000)
    before = work([whole])
    let full = try started([whole])
    add(
      Figure(
        "start with \(allRouters.grouped) routers, all read", full, unit: .seconds,
        note: "\((Double(allRouters) / full).grouped) routers/s; processor time of the node "
          + "\(((work([whole]) - before).seconds["node"] ?? 0).formatted(0)) s"))
    note(memoryOf: [whole], "right after that start")
    let compared = try settle([whole])
    add(
      Figure(
        "from that start until all retained states are compared and published", Double(compared) / 1e9 - before.wall,
        unit: .seconds))
    whole.stop()

    add(Figure("start in two processes", try started(halves), unit: .seconds))
    try settle(halves)
    before = work(halves)
    try change(2, cluster, broker.port)
    add(Row(name: "changes, two processes", count: messages, work: work(halves) - before))

    var table = Table(
      "what", .right("messages/s"), .right("node, % of a processor"), .right("PostgreSQL, %"), .right("broker, %"))
    for row in rows {
      table.add(
        row.name, row.rate.grouped, percent(row.work, "node"), percent(row.work, "PostgreSQL"),
        percent(row.work, "broker"))
      figures.append(Figure(row.name, row.rate, unit: .perSecond))
    }
    for figure in figures where figure.unit != .perSecond {
      table.add(
        figure.name, figure.unit.text(figure.value) + (figure.note.isEmpty ? "" : " (\(figure.note))"), "", "", "")
    }
    return Part(
      "fleet-million", "\(allRouters.grouped) routers in \(shards) shards",
      method: """
        \((homesOfShard * shards).grouped) homes of \(routersOfHome) routers. Publisher, broker, PostgreSQL and nodes
        share the processors. The routers of a home announce one after the other, homes go to the shards by turns, and
        the time is until the last message of each shard is committed. A change is a new name.
        """, table: table, figures: figures)
  }

  private func percent(_ work: Work, _ name: String) -> String {
    "\(((work.seconds[name] ?? 0) / work.wall * 100).formatted(0))"
  }

  // MARK: Messages

  /// - Parameter name: nil: they are announced as they are.
  private func publish(_ numbers: Range<Int>, _ port: UInt16, _ name: String? = nil) throws {
    let helper = Helper(program: workspace.helper, port: port)
    let fleet = Fleet()
    let file = workspace.fresh("packets")
    // One who wrote all of them at once would need as much memory as the rest.
    for start in stride(from: numbers.lowerBound, to: numbers.upperBound, by: part) {
      var load = PublishPackets()
      for number in start..<min(start + part, numbers.upperBound) {
        load.add(topic(home(of: number)), fleet.announcement(number, name: name.map { "\($0) \(number)" }))
      }
      _ = try helper.publish(load, from: file)
    }
  }

  private func home(of router: Int) -> String {
    let home = router / routersOfHome
    return "\(1 + home % shards)/home-\(1 + home / shards)"
  }

  private func topic(_ home: String) -> String { "\(NodeProcess.base)/\(home)/in/\(Fleet.user)/announce" }

  /// Waits until no shard gets new records any more, and all routers are there.
  ///
  /// - Returns: when the last one came.
  private func waitUntilNothingIsNew(_ cluster: PostgresCluster) throws -> Int64 {
    var (last, lastChange) = (Int64(-1), bare_now())
    while bare_now() - lastChange < 3_000_000_000 {
      let sum = try cluster.number("SELECT sum(newest) FROM (\(PostgresCluster.newest)) n")
      if sum != last { (last, lastChange) = (sum, bare_now()) }
      usleep(100_000)
    }
    // Each home has a preferred network besides.
    let secrets = try cluster.number("SELECT count(*) FROM threadkeeper.record WHERE secret_version > 0")
    let expected = Int64(allRouters + homesOfShard * shards)
    guard secrets == expected else {
      throw ChildProcess.Failure(description: "\(secrets) credentials are stored, and not \(expected)")
    }
    return lastChange
  }

  /// Gives routers another name, and announces a new one in each shard at its end: when that is there, so is everything
  /// before it.
  private func change(_ turn: Int, _ cluster: PostgresCluster, _ port: UInt16) throws {
    try cluster.mark()
    let name = "Name \(turn) of"
    try publish(0..<messages, port, name)
    var last = PublishPackets()
    for shard in 1...shards {
      last.add(topic("\(shard)/home-1"), Fleet().announcement(turn * 1_000 + 9_000_000 + shard, name: name))
    }
    let helper = Helper(program: workspace.helper, port: port)
    _ = try helper.publish(last, from: workspace.fresh("packets"))
    _ = try cluster.wait(until: PostgresCluster.changed, reaches: Int64(shards), within: 900, pause: 50_000)
  }

  /// Waits until all is published, and the broker is at rest but for what each minute brings: for longer than a node
  /// waits for further retained messages.
  ///
  /// - Returns: when the broker came to rest, to a second.
  private func settle(_ nodes: [NodeProcess], _ cluster: PostgresCluster, broker: Int32) throws -> Int64 {
    _ = try cluster.wait(until: "SELECT -count(*) FROM threadkeeper.outbox", reaches: 0, within: 3_600, pause: 500_000)
    let deadline = bare_now() + 3_600_000_000_000
    var rest = bare_now()
    while bare_now() - rest < 15_000_000_000 {
      let before = ProcessTable.seconds(of: [broker])
      sleep(1)
      if ProcessTable.seconds(of: [broker]) - before >= 0.1 { rest = bare_now() }
      guard bare_now() < deadline else { throw ChildProcess.Failure(description: "the broker does not come to rest") }
    }
    for node in nodes { try node.waitForIdle(share: 0.9, within: 300) }
    return rest
  }
}

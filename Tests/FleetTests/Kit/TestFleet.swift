#if Fleet
@testable import Fleet
import Foundation
import Home
import HomeStore
import LocalAPI
import Settings
import SodiumCrypto
import TestKit
import Testing

@testable import Threadkeeper

/// A fleet of a test's own: a database, a broker, homes, and the settings of nodes, which run in this process or as
/// processes of their own.
final class TestFleet: Sendable {
  static let base = "fleet"

  /// How it is made.
  struct Plan: Sendable {
    /// 0: the database is empty, and there is no fleet.
    var shards = 4
    /// Of each shard: home-1 and so on.
    var homes = 2
    /// Shards that a node may have.
    var shardsAtMost = 64
    /// Messages a second of a load.
    var rate = 80.0
    /// Nil: the server that the tests share.
    var server: PostgresServer?
    /// How nodes reach the database; nil: as the tests do.
    var url: (@Sendable (_ database: String) -> String)?
  }

  let plan: Plan
  let server: PostgresServer
  let database: String
  let broker: TestBroker
  let directory: TemporaryDirectory
  let homes: [HomeAddress]
  private let url: String

  /// Makes all of it. No node runs yet.
  init(_ plan: Plan = Plan()) throws {
    self.plan = plan
    server = try plan.server ?? .shared()
    database = try plan.shards == 0 ? server.makeDatabase() : server.makeFleet(shards: plan.shards)
    url = plan.url?(database) ?? server.url(database: database)
    broker = try TestBroker(baseTopics: [Self.base], persistence: true)
    directory = try TemporaryDirectory()
    homes = (0..<plan.shards).flatMap { shard in
      (0..<plan.homes).map { HomeAddress(shard: shard + 1, name: "home-\($0 + 1)") }
    }
    guard plan.shards > 0 else { return }
    let settings = try settings()
    _ = try FleetInit(settings, FleetDatabase(settings)).run(shards: nil, name: nil, progress: { _ in })
    try add(homes)
  }

  convenience init(shards: Int, homes: Int = 1, server: PostgresServer? = nil) throws {
    var plan = Plan()
    (plan.shards, plan.homes, plan.server) = (shards, homes, server)
    try self.init(plan)
  }

  /// With one home, as commands name it.
  convenience init(shards: Int, home: String) throws {
    try self.init(shards: shards, homes: 0)
    try add([HomeAddress(home)])
  }

  func add(_ homes: [HomeAddress]) throws {
    _ = try FleetDatabase(settings()).add(homes.map { .init($0, settings: try HomeOverrides()) })
  }

  var shards: ClosedRange<Int> { 1...plan.shards }

  // MARK: Settings

  /// The settings of a node, or of who runs commands, as a file.
  ///
  /// - Parameters:
  ///   - place: where its state is; nil: in a directory of its name.
  ///   - user: of the database.
  func settingsFile(_ node: String = "operator", place: String? = nil, user: String? = nil) throws -> String {
    let place = place ?? node
    let file = directory.file("\(place).yaml")
    let text = """
      mqtt:
        host: 127.0.0.1
        port: \(broker.port)
        base_topic: \(Self.base)
      store:
        url: "\(user.map { server.url(database: database, user: $0) } ?? url)"
        path: \(directory.file("\(place)/store"))
      fleet:
        node: \(node)
        address: localhost
        shards_at_most: \(plan.shardsAtMost)
        connections: 4
        # They stand for the client of a key service.
        seal_command: [base64, -w0]
        unseal_command: [base64, -d]
      alerts: {hold: 60}
      http: {enabled: false}
      log: {level: info}
      """
    try Data(text.utf8).write(to: URL(fileURLWithPath: file))
    // The address of a database may have a password.
    chmod(file, 0o600)
    return file
  }

  /// The same as a value.
  func settings(_ node: String = "operator", place: String? = nil) throws -> Settings {
    let file = try settingsFile(node, place: place)
    let result = SettingsLoader.load(file: file, environment: environment(of: place ?? node))
    return try #require(result.settings, "\(result.problems)")
  }

  private func environment(of place: String) -> [String: String] {
    [
      "PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin:/usr/sbin", "HOME": directory.path,
      "TMPDIR": directory.path, "THREADKEEPER_STATE_DIRECTORY": directory.file("\(place)/state"),
    ]
  }

  // MARK: Commands

  /// Runs a command to its end, with the settings in a file; nil: those of the operator.
  func run(
    _ arguments: String..., settings: String? = nil, environment more: [String: String] = [:],
    input: ThreadkeeperBinary.Input = .nothing
  ) async throws -> ThreadkeeperBinary.Outcome {
    try await run(arguments, settings: settings, environment: more, input: input)
  }

  func run(
    _ arguments: [String], settings: String? = nil, environment more: [String: String] = [:],
    input: ThreadkeeperBinary.Input = .nothing
  ) async throws -> ThreadkeeperBinary.Outcome {
    try await ThreadkeeperBinary.run(
      arguments + ["--config", settings ?? settingsFile()], input: input,
      environment: environment(of: "operator").merging(more) { $1 })
  }

  /// The same for what must succeed.
  @discardableResult func check(
    _ arguments: String..., settings: String? = nil, input: ThreadkeeperBinary.Input = .nothing
  ) async throws -> String {
    let outcome = try await run(arguments, settings: settings, input: input)
    try Soak.check(outcome.status == 0, "\(arguments) ended with \(outcome.status): \(outcome.error)")
    return outcome.output
  }

  // MARK: Nodes

  /// Starts a node in this process.
  func start(_ node: String, times: LeaseTimes = .short) throws -> NodeRun { try NodeRun(settings(node), times) }

  /// With a node that serves all shards, for as long as `body` runs.
  func serving(_ body: (DaemonProcess) async throws -> Void) async throws {
    let node = try launch("a")
    try await served(by: [node])
    try await body(node)
    try Soak.check(try await node.stop() == .exit(0), "it did not stop:\n\(Self.logs([node]))")
  }

  /// Starts a node as a process, and does not wait for it.
  func launch(_ name: String, place: String? = nil, user: String? = nil) throws -> DaemonProcess {
    try DaemonProcess(
      ["run", "--config", settingsFile(name, place: place, user: user)], name: name,
      environment: environment(of: place ?? name),
      errorFile: directory.file("\(name)-\(UInt32.random(in: 0 ... .max)).log"))
  }

  /// Waits until all shards are served by these nodes: their intake is subscribed.
  func served(by nodes: [DaemonProcess]) async throws {
    try await eventually("all shards to be served") {
      for node in nodes { try Soak.check(node.isRunning, "\(node.name) has ended: \(node.log.suffix(6_000))") }
      for shard in shards {
        var isServed = false
        for node in nodes where !isServed { isServed = await serves(node, shard) }
        if !isServed { return false }
      }
      return true
    } otherwise: {
      "; leases: \(try leases())\n\(Self.logs(nodes))"
    }
  }

  static func logs(_ nodes: [DaemonProcess]) -> String {
    nodes.map { "\($0.name):\n\($0.log.suffix(4_000))" }.joined(separator: "\n")
  }

  /// Waits until a node takes part in the fleet.
  func ready(_ node: DaemonProcess) async throws {
    try await eventually("\(node.name) in the fleet") {
      try Soak.check(node.isRunning, "\(node.name) has ended: \(node.log.suffix(6_000))")
      let milliseconds = Int((ContinuousClock.now - node.startedAt) / .milliseconds(1))
      return try sql(
        """
        SELECT 1 FROM threadkeeper.node
        WHERE name = '\(node.name)' AND seen > now() - interval '\(milliseconds) ms'
        """) == ["1"]
    }
  }

  private struct StatusReply: Decodable, Sendable {
    struct Status: Decodable, Sendable {
      struct Intake: Decodable, Sendable { var state: String }
      var pid: Int32
      var intake: Intake
    }
    var status: Status
  }

  private static let status = VarlinkMethod<VarlinkNothing, StatusReply>("io.threadkeeper.Status", "Get", for: .owner)

  /// Whether a node's intake takes the messages of a shard, by its local API.
  func serves(_ node: DaemonProcess, _ shard: Int) async -> Bool {
    let socket = directory.file("\(node.name)/store/shards/\(shard)/varlink.sock")
    let client = try? await VarlinkClient.connect(to: socket)
    let status = try? await client?.call(Self.status, VarlinkNothing()).status
    return status?.pid == node.identifier && status?.intake.state == "running"
  }

  /// Publishes as a border router of a home that is served, and waits until its state shows it.
  ///
  /// - Parameter more: further fields.
  func announce(_ home: String, _ id: String = "a1b2c3d4e5f60718", name: String = "Kitchen", dataset: String? = nil)
    async throws
  {
    let topic = "\(Self.base)/\(home)/router/\(id)"
    let states = try await TestSubscriber.start(broker, topic)
    let publisher = try await TestPublisher.start(broker)
    let dataset = dataset.map { #","dataset":"\#($0)""# } ?? ""
    try await publisher.publish(
      "\(Self.base)/\(home)/in/hub/announce", #"{"border_agent_id":"\#(id)","name":"\#(name)"\#(dataset)}"#)
    try await states.wait { _ in states.latest(topic)?.contains(name) == true }
    try await publisher.stop()
    try await states.stop()
  }

  // MARK: What the database says

  struct Lease: Equatable, Sendable {
    var shard: Int
    var node: String
    /// Whether it still holds.
    var holds: Bool
    var epoch: Int
    var state: String
  }

  func leases() throws -> [Lease] {
    try sql(
      """
      SELECT l.shard, coalesce(l.node, ''), l.until > now(), s.epoch, coalesce(l.state, '')
      FROM threadkeeper.lease l JOIN threadkeeper.shard s ON s.id = l.shard ORDER BY 1
      """
    ).compactMap { line in
      let parts = line.split(separator: "|", omittingEmptySubsequences: false).map(String.init)
      guard parts.count == 5, let shard = Int(parts[0]), let epoch = Int(parts[3]) else { return nil }
      return Lease(shard: shard, node: parts[1], holds: parts[2] == "t", epoch: epoch, state: parts[4])
    }
  }

  func epochs() throws -> [Int] { try leases().map(\.epoch) }

  /// Shards that a node holds.
  func shards(of node: String) throws -> [Int] { try leases().filter { $0.holds && $0.node == node }.map(\.shard) }

  /// The states of the leases, of one shard after the other.
  func states() throws -> [String] { try leases().map(\.state) }

  @discardableResult func sql(_ text: String) throws -> [String] { try server.run(text, database: database) }

  /// All homes as the owner of their shard would read them: with its keys, from the real store.
  ///
  /// - Parameter server: where the database is now; nil: where it was made.
  func stored(in server: PostgresServer? = nil) throws -> [HomeAddress: Home] {
    let server = server ?? self.server
    let pool = PostgresPool(url: server.url(database: database), size: 1)
    var homes: [HomeAddress: Home] = [:]
    let rows = try server.run(
      """
      SELECT s.id, s.epoch, encode(k.sealed, 'hex')
      FROM threadkeeper.shard s JOIN threadkeeper.key_slot k ON k.shard = s.id
      """, database: database)
    for row in rows {
      let parts = row.split(separator: "|").map(String.init)
      let (shard, epoch) = (Int(parts[0]) ?? 0, Int64(parts[1]) ?? 0)
      // What stands for the key service writes base64.
      let plaintext = Data(base64Encoded: Data([UInt8](hex: parts[2]))) ?? Data()
      let store = ShardStore(
        shard: shard, epoch: epoch, pool: pool,
        keys: try ShardKeys(opening: SecretBytes(copying: plaintext), shard: shard),
        term: LeaseTerm(.now + .seconds(60)))
      for (name, home) in try HomeSnapshot.read(store).homes {
        let own = name.split(separator: "/").last.map(String.init) ?? name
        homes[HomeAddress(shard: shard, name: own)] = home
      }
    }
    return homes
  }

  /// How many routers are stored of a home, as commands name it.
  func routers(_ home: String) throws -> Int? { try stored()[HomeAddress(home)]?.routers.count }
}

extension LeaseTimes {
  /// For tests that wait for what comes with time: a lease lasts as long as ever, so that a slow machine loses none.
  static var short: LeaseTimes {
    var times = LeaseTimes()
    (times.renewal, times.claim) = (.milliseconds(200), .milliseconds(100))
    times.figures = .milliseconds(300)
    return times
  }
}
#endif

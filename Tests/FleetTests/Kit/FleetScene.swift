// SPDX-License-Identifier: Apache-2.0

#if Fleet

import Foundation
import LocalAPI
import TestKit
import ThreadkeeperSupport

/// A fleet of real processes: PostgreSQL, Mosquitto, nodes; and somebody who publishes to all homes.
final class FleetScene: Sendable {
  static let base = "fleet"

  /// How it is made.
  struct Plan: Sendable {
    var shards = 4
    /// Of each shard.
    var homes = 2
    /// Shards that a node may have.
    var shardsAtMost = 64
    /// Messages a second of the load.
    var rate = 80.0
    /// Nil: the server that the tests share.
    var server: PostgresServer?
    /// How the nodes reach the database; nil: as the tests do.
    var url: (@Sendable (_ database: String) -> String)?
  }

  let plan: Plan
  let server: PostgresServer
  let database: String
  let broker: TestBroker
  let directory: TemporaryDirectory
  let homes: [FleetHome]
  private let url: String

  /// Makes the servers, the database of the fleet and its homes. No node runs yet.
  static func make(_ plan: Plan = Plan()) async throws -> FleetScene {
    let scene = try FleetScene(plan)
    _ = try scene.writeSettings(of: "operator")
    try await scene.check(["fleet", "init", "--shards", "\(plan.shards)", "--name", "test"])
    try await scene.check(["fleet", "homes", "add"] + scene.homes.map(\.description))
    return scene
  }

  private init(_ plan: Plan) throws {
    self.plan = plan
    server = try plan.server ?? PostgresServer.shared()
    database = try server.makeDatabase()
    url = plan.url?(database) ?? server.url(database: database)
    broker = try TestBroker(baseTopics: [Self.base], persistence: true)
    directory = try TemporaryDirectory()
    homes = (1...plan.shards).flatMap { shard in
      (1...plan.homes).map { FleetHome(shard: shard, name: "home-\($0)") }
    }
  }

  var shards: ClosedRange<Int> { 1...plan.shards }

  // MARK: Nodes

  /// Starts a node and does not wait for it.
  func launch(_ name: String, place: String? = nil) throws -> NodeProcess {
    try NodeProcess(
      name, settings: try writeSettings(of: name, place: place ?? name),
      environment: environment(of: place ?? name),
      errorFile: directory.file("\(name)-\(UInt32.random(in: 0 ... .max)).log"))
  }

  /// Waits until all shards are served by these nodes: their intake is subscribed.
  func served(
    by nodes: NodeProcess..., within limit: Duration = .seconds(60)
  ) async throws {
    do {
      try await eventually(within: limit, "all shards to be served") {
        for node in nodes where !node.isRunning {
          throw FleetFailure(description: "\(node.name) has ended: \(node.log.suffix(6000))")
        }
        for shard in shards {
          var isServed = false
          for node in nodes where !isServed { isServed = await serves(node, shard) }
          if !isServed { return false }
        }
        return true
      }
    } catch let error as TimedOut {
      let logs = nodes.map { "\($0.name):\n\($0.log.suffix(4000))" }.joined(separator: "\n")
      throw FleetFailure(description: "\(error); leases: \(try leases())\n\(logs)")
    }
  }

  /// Waits until a node takes part in the fleet.
  func ready(_ node: NodeProcess) async throws {
    try await eventually("\(node.name) in the fleet") {
      try Soak.check(node.isRunning, "\(node.name) has ended: \(node.log.suffix(6000))")
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

  private static let status = VarlinkMethod<VarlinkNothing, StatusReply>(
    "io.threadkeeper.Status", "Get", for: .owner)

  /// Whether a node's intake takes the messages of a shard, by its local API.
  func serves(_ node: NodeProcess, _ shard: Int) async -> Bool {
    let socket = directory.file("\(node.name)/store/shards/\(shard)/varlink.sock")
    let client = try? await VarlinkClient.connect(to: socket)
    let status = try? await client?.call(Self.status, VarlinkNothing()).status
    return status?.pid == node.identifier && status?.intake.state == "running"
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
      guard parts.count == 5, let shard = Int(parts[0]), let epoch = Int(parts[3]) else {
        return nil
      }
      return Lease(
        shard: shard, node: parts[1], holds: parts[2] == "t", epoch: epoch, state: parts[4])
    }
  }

  /// Shards that a node holds.
  func shards(of node: String) throws -> [Int] {
    try leases().filter { $0.holds && $0.node == node }.map(\.shard)
  }

  /// Waits until a node holds all shards, or none.
  func waitUntil(
    _ node: NodeProcess, holds count: Int, within limit: Duration = .seconds(60)
  ) async throws {
    try await eventually(within: limit, "\(count) shards of \(node.name)") {
      try shards(of: node.name).count == count
    }
  }

  @discardableResult
  func sql(_ text: String) throws -> [String] { try server.run(text, database: database) }

  // MARK: Commands

  /// A command with the settings of a node.
  func command(_ arguments: [String], of node: String = "operator") async throws
    -> ThreadkeeperBinary.Outcome
  {
    try await ThreadkeeperBinary.run(
      arguments + ["--config", directory.file("\(node).yaml")], environment: environment(of: node))
  }

  /// The same, for one that must succeed.
  @discardableResult
  func check(_ arguments: [String], of node: String = "operator") async throws -> String {
    let outcome = try await command(arguments, of: node)
    try Soak.check(
      outcome.status == 0, "\(arguments) ended with \(outcome.status): \(outcome.error)")
    return outcome.output
  }

  private func environment(of place: String) -> [String: String] {
    [
      "PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin:/usr/sbin",
      "HOME": directory.path, "TMPDIR": directory.path,
      "THREADKEEPER_STATE_DIRECTORY": directory.file("\(place)/state"),
    ]
  }

  private func writeSettings(of node: String, place: String? = nil) throws -> String {
    let file = directory.file("\(place ?? node).yaml")
    let text = """
      mqtt:
        host: 127.0.0.1
        port: \(broker.port)
        base_topic: \(Self.base)
      store:
        url: "\(url)"
        path: \(directory.file("\(place ?? node)/store"))
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
}

#endif

// SPDX-License-Identifier: Apache-2.0

#if Fleet
import Foundation
import Logging
import Settings
import SodiumCrypto
import Synchronization
import TestKit
import ThreadDataset
import ThreadkeeperDaemon

@testable import Fleet

/// A fleet whose nodes run in this process: a database of its own, a broker of its own, and shards.
final class NodeFleet: Sendable {
  static let prefix = "fleet"

  let server: PostgresServer
  let database: String
  let broker: TestBroker
  let directory: TemporaryDirectory

  /// - Parameters:
  ///   - homes: of each shard.
  ///   - server: nil: the one that the tests share.
  init(shards: Int, homes: Int = 1, server: PostgresServer? = nil) throws {
    self.server = try server ?? PostgresServer.shared()
    database = try self.server.makeDatabase()
    broker = try TestBroker(baseTopics: [Self.prefix], persistence: true)
    directory = try TemporaryDirectory()
    _ = try FleetInit(settings("init"), FleetDatabase(settings("init")))
      .run(shards: shards, name: "test", progress: { _ in })
    for shard in 1...shards { try add((0..<homes).map { "home-\($0 + 1)" }, to: shard) }
  }

  func add(_ homes: [String], to shard: Int) throws {
    _ = try FleetDatabase(settings("init")).add(
      homes.map {
        FleetHomes.Row(HomeAddress(shard: shard, name: $0), settings: try HomeSettings())
      })
  }

  /// - Parameter place: of its state; nil: one of its own.
  func settings(_ node: String, place: String? = nil) -> Settings {
    var settings = Settings(stateDirectory: directory.file(place ?? node))
    settings.mqtt.host = .named("127.0.0.1")
    settings.mqtt.port = broker.port
    settings.mqtt.baseTopic = Self.prefix
    settings.http.isEnabled = false
    settings.store.url = SecretText(server.url(database: database))
    settings.fleet.node = node
    settings.fleet.address = "localhost"
    settings.fleet.connections = 4
    // They stand for the client of a key service.
    settings.fleet.sealCommand = ["base64", "-w0"]
    settings.fleet.unsealCommand = ["base64", "-d"]
    return settings
  }

  func start(_ settings: Settings) throws -> NodeRun { try NodeRun(settings) }
  func start(_ node: String) throws -> NodeRun { try start(settings(node)) }

  @discardableResult
  func sql(_ text: String) throws -> [String] { try server.run(text, database: database) }

  /// Shard and node of leases that hold.
  func holders() throws -> [Int: String] {
    let rows = try sql("SELECT shard, node FROM threadkeeper.lease WHERE until > now()")
    return Dictionary(
      rows.map { $0.split(separator: "|") }.map { (Int($0[0]) ?? 0, String($0[1])) },
      uniquingKeysWith: { $1 })
  }

  func epochs() throws -> [Int] {
    try sql("SELECT epoch FROM threadkeeper.shard ORDER BY id").compactMap { Int($0) }
  }

  /// Publishes as a router of a home, and waits until its state is published.
  func announce(_ name: String, of home: String, in shard: Int) async throws {
    let base = "\(Self.prefix)/\(shard)/\(home)"
    let agent = "a1b2c3d4e5f60718"
    let dataset = Hexadecimal.encode(try SampleNetwork.home.dataset(at: 1).bytes)
    let states = try await TestSubscriber.start(broker, "\(base)/router/+")
    let publisher = try await TestPublisher.start(broker)
    try await publisher.publish(
      "\(base)/in/router/announce",
      #"{"border_agent_id":"\#(agent)","name":"\#(name)","dataset":"\#(dataset)"}"#)
    try await states.wait { _ in states.latest("\(base)/router/\(agent)")?.contains(name) == true }
    try await publisher.stop()
    try await states.stop()
  }
}

struct Failed: Error, CustomStringConvertible {
  let description: String
}

/// A node that runs in this process.
final class NodeRun: Sendable {
  let node: FleetNode
  let log = RecordingLog()
  private let outcome = Outcome()

  private final class Outcome: Sendable {
    let result = Mutex<Result<Void, any Error>?>(nil)
  }

  init(_ settings: Settings) throws {
    node = try FleetNode.start(settings, logger: log.logger)
    Task { [node, outcome] in
      let result: Result<Void, any Error>
      do {
        try await node.serve()
        result = .success(())
      } catch {
        result = .failure(error)
      }
      outcome.result.withLock { $0 = result }
    }
  }

  deinit { node.leave() }

  /// Shards whose intake is subscribed.
  var serving: [Int] {
    node.runs.filter { $0.bridge.monitor.snapshot.intake == .running }.map(\.shard)
  }

  func serves(_ shards: [Int], within limit: Duration = .seconds(60)) async throws {
    do {
      try await eventually(within: limit) { serving == shards }
    } catch {
      throw Failed(
        description: "serves \(serving), not \(shards):\n\(log.lines.joined(separator: "\n"))")
    }
  }

  /// Waits for its end; throws what it ended with.
  func end(within limit: Duration = .seconds(30)) async throws {
    try await eventually(within: limit, "the end of the node") {
      outcome.result.withLock { $0 != nil }
    }
    try outcome.result.withLock { $0 }?.get()
  }

  func leave() async throws {
    node.leave()
    try await end()
  }
}
#endif

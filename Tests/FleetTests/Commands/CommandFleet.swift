// SPDX-License-Identifier: Apache-2.0

#if Fleet
import Foundation
import TestKit
import Testing
import ThreadkeeperDaemon

@testable import Fleet

/// A fleet of a test's own: a database, a broker, and the settings of its nodes. Nodes that it has started end with it.
final class CommandFleet: Sendable {
  let directory: TemporaryDirectory
  let server: PostgresServer
  let database: String
  let broker: TestBroker

  init(extraConfiguration: [String] = []) throws {
    directory = try TemporaryDirectory()
    server = try PostgresServer.shared()
    database = try server.makeDatabase()
    broker = try TestBroker(extraConfiguration: extraConfiguration)
  }

  /// The settings of a node, as a file.
  func settings(
    node: String = "one", user: String = "postgres", seal: String = "printf sealed; cat",
    unseal: String = "tail -c +7", address: String = "here.test", more: String = ""
  ) throws -> String {
    let file = directory.file("\(node)-\(user).yaml")
    try """
    store:
      path: \(directory.file(node))/store
      url: "\(server.url(database: database, user: user))"
    mqtt:
      host: 127.0.0.1
      port: \(broker.port)
      base_topic: fleet
    http: {enabled: false}
    fleet:
      node: \(node)
      address: \(address)
      seal_command: [sh, -c, "\(seal)"]
      unseal_command: [sh, -c, "\(unseal)"]
    \(more)
    """.write(toFile: file, atomically: true, encoding: .utf8)
    return file
  }

  /// Runs a command to its end.
  func run(
    _ arguments: String..., settings: String? = nil, environment: [String: String] = [:],
    input: ThreadkeeperBinary.Input = .nothing
  ) async throws -> ThreadkeeperBinary.Outcome {
    try await ThreadkeeperBinary.run(
      arguments + ["--config", settings ?? self.settings()], input: input, environment: environment)
  }

  /// The same for what must succeed.
  @discardableResult
  func check(
    _ arguments: String..., settings: String? = nil, environment: [String: String] = [:],
    input: ThreadkeeperBinary.Input = .nothing, at place: SourceLocation = #_sourceLocation
  ) async throws -> String {
    let outcome = try await ThreadkeeperBinary.run(
      arguments + ["--config", settings ?? self.settings()], input: input, environment: environment)
    #expect(outcome.status == 0, "\(arguments): \(outcome.error)", sourceLocation: place)
    return outcome.output
  }

  /// Starts `threadkeeper run`.
  func start(_ settings: String? = nil) throws -> RunningNode {
    try RunningNode(settings ?? self.settings())
  }

  func status() async throws -> FleetStatus {
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    return try decoder.decode(
      FleetStatus.self, from: Data(try await check("fleet", "status", "--json").utf8))
  }

  /// Waits until all shards are served.
  func served(by node: String? = nil) async throws {
    try await eventually("all shards are served") {
      try await status().shards.allSatisfy {
        $0.state == "serving" && (node == nil || $0.node == node)
      }
    }
  }

  /// Publishes as a border router does, again until it is listed: a node may not have a session yet.
  func announce(
    _ home: String, _ id: String, _ more: String = "", until word: String? = nil,
    settings: String? = nil
  ) async throws {
    let publisher = try await TestPublisher.start(broker)
    try await eventually("\(id) is listed") {
      try await publisher.publish(
        "fleet/\(home)/in/hub/announce", #"{"border_agent_id":"\#(id)"\#(more)}"#)
      try await Task.sleep(for: .milliseconds(200))
      return try await check("routers", "--home", home, settings: settings).contains(word ?? id)
    }
    try await publisher.stop()
  }
}

/// A process that ends with this object.
final class RunningNode: Sendable {
  let process: ChildProcess
  private let log: TemporaryDirectory

  init(_ settings: String) throws {
    log = try TemporaryDirectory()
    process = try ChildProcess(
      ThreadkeeperBinary.executable.path, ["run", "--config", settings],
      environment: ["PATH": "/usr/bin:/bin"],
      streams: (.nothing, .nothing, .file(log.file("log"))))
  }

  deinit { process.signal(SIGKILL) }

  var text: String { (try? String(contentsOfFile: log.file("log"), encoding: .utf8)) ?? "" }

  func stop() -> ChildProcess.End {
    process.signal(SIGTERM)
    return process.wait(within: 30)
  }
}
#endif

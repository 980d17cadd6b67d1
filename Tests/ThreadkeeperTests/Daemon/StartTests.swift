import Bridge
import Broker
import DaemonTestKit
import Foundation
import KeychainCore
import Logging
import Settings
import TestKit
import Testing

@testable import Threadkeeper

/// The log of a broker: each packet, in the order in which it has handled them.
private struct BrokerLog: Sendable {
  struct Missing: Error { let words: [String], lines: [Substring] }

  let path: String

  func lines(after line: Int = 0) throws -> [Substring] {
    Array(try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").dropFirst(line))
  }

  /// What the daemon has sent, besides CONNECT.
  func sent(after line: Int = 0) throws -> [Substring] {
    try lines(after: line).filter { $0.contains("Received ") && $0.contains(" from test-") }
  }

  /// Returns when it has them all. For who can't suspend.
  func wait(for words: [String], after line: Int = 0) throws {
    let deadline = ContinuousClock.now + .seconds(60)
    while true {
      let lines = try lines(after: line)
      if words.allSatisfy({ word in lines.contains { $0.contains(word) } }) { return }
      guard .now < deadline else { throw Missing(words: words, lines: lines) }
      usleep(5_000)
    }
  }
}

@Suite("The start", .timeLimit(.minutes(30))) struct StartTests {
  private struct Unreadable: Error {}

  private let directory: TemporaryDirectory
  private let log: BrokerLog
  private let broker: TestBroker
  private let moved: MovedStore

  init() throws {
    directory = try TemporaryDirectory()
    log = BrokerLog(path: directory.file("log"))
    broker = try TestBroker(extraConfiguration: ["log_dest file \(log.path)", "log_type all"])
    moved = try MovedStore()
  }

  /// - Parameter onLoad: is called before the records are read.
  private func bridge(onLoad: @escaping @Sendable () throws -> Void = {}) throws -> Bridge {
    try Bridge(
      BridgeConfiguration(MovedStore.settings(moved.store), version: ""),
      connection: broker.configuration(clientID: "test"), clientID: "test",
      store: ShardStandIn(shard: 1, records: SealedRecords(moved.keychain), onLoad: onLoad), connectsEarly: true,
      logger: Self.logger)
  }

  private static let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
  private static let both = [" as test-intake ", " as test-status "]

  @Test("While the records are read both connections are there, and what the broker sends waits") func waiting()
    async throws
  {
    // The broker has a session of it.
    let first = try bridge()
    let earlier = RunningWork { try await first.serve() }
    try await eventually("the subscription") { first.monitor.snapshot.intakeLink.isConnected }
    first.stop()
    try await earlier.end(within: .seconds(60), "the first run")
    try await TestPublisher.start(broker).publish(
      "threadkeeper/in/hub/announce", #"{"border_agent_id":"00112233445566aa","name":"Hub"}"#)

    let line = try log.lines().count
    let second = try bridge { [log] in try log.wait(for: Self.both + ["Sending PUBLISH to test-intake"], after: line) }
    #expect(try log.sent(after: line).isEmpty)
    let running = RunningWork { try await second.serve() }
    try await eventually("the acknowledgement") {
      try log.sent(after: line).contains { $0.contains("PUBACK from test-intake") }
    }
    #expect(second.loop.homes.snapshot.homes.values.map(\.routers.count) == [1])
    second.stop()
    try await running.end(within: .seconds(60), "the second run")
  }

  @Test("Records that cannot be read end it with their error, and the broker learns of no state and no last will")
  func unreadable() async throws {
    let watcher = try await TestSubscriber.start(broker, "threadkeeper/#")
    #expect(throws: Unreadable.self) {
      _ = try bridge { [log] in
        try log.wait(for: Self.both)
        throw Unreadable()
      }
    }
    try await checkEnd(watcher)
  }

  @Test("A daemon that ends without having run disconnects, and the broker learns of no state and no last will")
  func neverRun() async throws {
    let watcher = try await TestSubscriber.start(broker, "threadkeeper/#")
    var settings = Settings(stateDirectory: try TestBroker.temporaryDirectory())
    defer { try? FileManager.default.removeItem(atPath: settings.stateDirectory) }
    (settings.mqtt.host, settings.mqtt.port) = (.named("127.0.0.1"), broker.port)
    settings.mqtt.clientID = SecretText("test")
    let daemon = try Daemon.start(settings, ask: { _ in nil }, logger: Self.logger)
    try log.wait(for: Self.both)
    daemon.end()
    try await checkEnd(watcher)
  }

  /// Both connections have ended by DISCONNECT, and nothing was published.
  private func checkEnd(_ watcher: TestSubscriber) async throws {
    try log.wait(for: ["Received DISCONNECT from test-intake", "Received DISCONNECT from test-status"])
    #expect(try log.sent().allSatisfy { $0.contains("DISCONNECT") })
    try await TestPublisher.start(broker).publish("threadkeeper/marker", "x")
    let messages = try await watcher.wait { !$0.isEmpty }
    #expect(messages.first?.topic == "threadkeeper/marker")
  }
}

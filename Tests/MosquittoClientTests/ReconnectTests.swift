// SPDX-License-Identifier: Apache-2.0

import Foundation
import MosquittoClient
import Synchronization
import TestKit
import Testing

@Suite("Coming back", .timeLimit(.minutes(2)))
struct ReconnectTests {
  struct NotStored: Error {}

  @Test("A broker that is killed and comes back on its port finds its client again")
  func brokerRestart() async throws {
    let broker = try TestBroker()
    let client = TestClient(broker.configuration(clientID: "keeper", "in/#"))
    try await client.ready()
    broker.kill()
    try await eventually("a refused attempt") {
      client.handler.record.disconnections.contains { $0.error.reason == .nothingListens }
    }
    let first = try #require(client.handler.record.disconnections.first)
    #expect(first.wasConnected)
    try broker.start()
    try await client.ready(connection: 2)
    #expect(client.handler.record.sessions.last?.sessionPresent == false, "it kept nothing")

    let publisher = try await TestPublisher.start(broker)
    try await publisher.publish("in/a", "after")
    try await eventually { client.handler.messageCount == 1 }
    try await publisher.stop()
    try await client.stop()
  }

  @Test("A broker that shuts down is named as a cause")
  func brokerStops() async throws {
    let broker = try TestBroker()
    let client = TestClient(broker.configuration(clientID: "keeper"))
    try await client.ready()
    broker.stop()
    try await eventually { !client.handler.record.disconnections.isEmpty }
    let first = try #require(client.handler.record.disconnections.first)
    // Only later versions of Mosquitto say it themselves.
    let words = ["shutting down", "did the broker stop?"]
    #expect(words.contains { first.error.message.contains($0) }, "\(first.error)")
    try await client.stop()
  }

  @Test("A kept session brings what came while the client was away, in order, across a restart")
  func keptSession() async throws {
    let broker = try TestBroker(persistence: true)
    let first = TestClient(broker.configuration(clientID: "keeper", "in/#"))
    try await first.ready()
    try await first.stop()
    let publisher = try await TestPublisher.start(broker)
    try await publisher.publish(
      (0..<2500).map { Publication(topic: "in/\($0)", payload: [1]) })
    try await publisher.stop()
    broker.stop()
    try broker.start()

    let second = TestClient(broker.configuration(clientID: "keeper", "in/#"))
    try await eventually(within: .seconds(30)) { second.handler.messageCount == 2500 }
    #expect(second.handler.record.sessions.first?.sessionPresent == true)
    #expect(second.handler.messages.map(\.topic) == (0..<2500).map { "in/\($0)" })
    try await second.stop()
  }

  @Test(
    "What a handler could not keep is delivered again; what it kept is not, and the order stays",
    arguments: [MosquittoConfiguration.ProtocolVersion.v5, .v311])
  func redelivery(version: MosquittoConfiguration.ProtocolVersion) async throws {
    let broker = try TestBroker()
    let batches = Mutex(0)
    var configuration = broker.configuration(clientID: "keeper", "in/#")
    configuration.protocolVersion = version
    configuration.batchMessages = 50
    let client = TestClient(configuration) { _ in
      // Every third batch fails.
      if batches.withLock({
        $0 += 1; return $0 % 3 == 0
      }) {
        throw NotStored()
      }
    }
    try await client.ready()
    let publisher = try await TestPublisher.start(broker)
    try await publisher.publish((0..<500).map { Publication(topic: "in/\($0)", payload: [1]) })
    try await eventually(within: .seconds(60)) {
      Set(client.handler.messages.map(\.topic)).count == 500
    }
    #expect(client.handler.messages.map(\.topic) == (0..<500).map { "in/\($0)" })
    #expect(client.handler.record.disconnections.count >= 3)
    #expect(client.handler.record.disconnections.allSatisfy { $0.error.reason == .handler })
    try await publisher.stop()
    try await client.stop()
  }

  @Test(
    "A second client with the same id ends the first one, with words, and works on",
    arguments: [MosquittoConfiguration.ProtocolVersion.v5, .v311])
  func takeover(version: MosquittoConfiguration.ProtocolVersion) async throws {
    let broker = try TestBroker()
    var configuration = broker.configuration(clientID: "keeper", "in/#")
    configuration.protocolVersion = version
    let first = TestClient(configuration)
    try await first.ready()
    let second = TestClient(configuration)
    let error = try await #require(throws: MosquittoError.self) { try await first.end() }
    #expect(error.reason == .sessionTakenOver)
    #expect(error.message.contains("same `mqtt.client_id`"))
    #expect(first.handler.record.disconnections.last?.isFatal == true)

    let publisher = try await TestPublisher.start(broker)
    try await publisher.publish("in/a", "x")
    try await eventually { second.handler.messageCount == 1 }
    #expect(second.handler.record.disconnections.allSatisfy { !$0.isFatal })
    try await publisher.stop()
    try await second.stop()
  }

  @Test("A broker that says that the session was taken over is believed at once")
  func statedTakeover() async throws {
    let fake = try FakeBroker()
    let client = TestClient(AcknowledgementOrderTests.configuration(fake))
    try await client.ready()
    fake.send([0xE0, 1, 0x8E])
    let error = try await #require(throws: MosquittoError.self) { try await client.end() }
    #expect(error.reason == .sessionTakenOver)
    #expect(client.handler.record.disconnections.count == 1)
  }

  @Test("A broker that restarts again and again is no second client")
  func restarts() async throws {
    let broker = try TestBroker()
    let client = TestClient(broker.configuration(clientID: "keeper", "in/#"))
    for restart in 1...6 {
      try await client.ready(connection: restart)
      broker.kill()
      try broker.start()
    }
    try await client.ready(connection: 7)
    #expect(client.handler.record.disconnections.allSatisfy { !$0.isFatal })
    try await client.stop()
  }

  @Test(
    "A broker that keeps its sessions and is up again before each attempt is no second client",
    arguments: [MosquittoConfiguration.ProtocolVersion.v5, .v311])
  func quickRestarts(version: MosquittoConfiguration.ProtocolVersion) async throws {
    let broker = try TestBroker(persistence: true)
    var configuration = broker.configuration(clientID: "keeper", "in/#")
    configuration.protocolVersion = version
    configuration.reconnect = .init(initial: .seconds(1), ceiling: .seconds(1), jitter: 0)
    let client = TestClient(configuration)
    for restart in 1...5 {
      try await client.ready(connection: restart)
      try await Self.restart(broker)
    }
    try await client.ready(connection: 6)
    let record = client.handler.record
    #expect(record.sessions.dropFirst().allSatisfy { $0.sessionPresent }, "else it proves nothing")
    #expect(record.disconnections.allSatisfy { !$0.isFatal })
    try await client.stop()
  }

  /// On a thread of its own: the ones that tests share are few, and a restart blocks.
  static func restart(_ broker: TestBroker) async throws {
    try await withCheckedThrowingContinuation { (done: CheckedContinuation<Void, any Error>) in
      Thread {
        done.resume(
          with: Result {
            broker.stop()
            try broker.start()
          })
      }.start()
    }
  }

  @Test("A new configuration is used at once")
  func reconfigure() async throws {
    let broker = try TestBroker()
    let client = TestClient(broker.configuration(clientID: "keeper", "in/#"))
    try await client.ready()
    var configuration = broker.configuration(clientID: "keeper", "other/#")
    configuration.cleanStart = true
    client.client.reconfigure(configuration)
    try await client.ready(connection: 2)
    let publisher = try await TestPublisher.start(broker)
    try await publisher.publish("in/a", "no")
    try await publisher.publish("other/a", "yes")
    try await eventually { client.handler.messages.map(\.topic) == ["other/a"] }
    #expect(client.handler.record.disconnections.isEmpty, "it was asked for")
    try await publisher.stop()
    try await client.stop()
  }

  @Test("A quiet connection is kept alive by pings")
  func keepAlive() async throws {
    let fake = try FakeBroker()
    var configuration = AcknowledgementOrderTests.configuration(fake)
    configuration.keepAlive = 5
    let client = TestClient(configuration)
    try await client.ready()
    try await eventually(within: .seconds(12)) { fake.events.contains(.pinged) }
    #expect(client.handler.record.disconnections.isEmpty)
    try await client.stop()
  }
}

// SPDX-License-Identifier: Apache-2.0

import Broker
import Foundation
import Synchronization
import TestKit
import Testing

@Suite("Coming back", .timeLimit(.minutes(30)))
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
    try await eventually { second.handler.messageCount == 2500 }
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
    "A client that takes the session over again and again is named, and outlasted",
    arguments: [MosquittoConfiguration.ProtocolVersion.v5, .v311])
  func takeover(version: MosquittoConfiguration.ProtocolVersion) async throws {
    let broker = try TestBroker()
    var configuration = broker.configuration(clientID: "keeper", "in/#")
    configuration.protocolVersion = version
    configuration.keepAlive = 10
    configuration.reconnect = .init(
      initial: .milliseconds(20), ceiling: .milliseconds(400), jitter: 0.5)
    let client = TestClient(configuration)
    try await client.ready()
    var other = configuration
    other.lastWill = nil
    for number in 1... {
      let attempt = await MosquittoClient.attempt(other, within: .seconds(10))
      #expect(attempt == nil)
      try await client.ready(connection: number + 1)
      let reasons = client.handler.record.disconnections.map(\.error.reason)
      if reasons.count { $0 == .sessionTakenOver } >= 3 { break }
      try #require(number < 50, "\(reasons)")
    }
    let contested = client.handler.record.disconnections.filter {
      $0.error.reason == .sessionTakenOver
    }
    #expect(contested.allSatisfy { !$0.isFatal && $0.error.message.contains("same client id") })
    #expect(contested.allSatisfy { !$0.error.message.contains("keeper") })
    #expect(contested.allSatisfy { ($0.retryDelay ?? .zero) >= .milliseconds(10) })
    // For as long as a keep-alive and more, without a loss: on a machine that is busy that takes its time.
    try await eventually(within: .seconds(600), "the session to be its own again") {
      client.handler.record.sessionsRegained >= 1
    }
    let publisher = try await TestPublisher.start(broker)
    try await publisher.publish("in/a", "x")
    try await eventually { client.handler.messageCount == 1 }
    try await publisher.stop()
    try await client.stop()
  }

  @Test("A broker that says that the session was taken over is believed at once, and tried again")
  func statedTakeover() async throws {
    let fake = try FakeBroker()
    let client = TestClient(AcknowledgementOrderTests.configuration(fake))
    try await client.ready()
    fake.send([0xE0, 1, 0x8E])
    try await client.ready(connection: 2)
    let first = try #require(client.handler.record.disconnections.first)
    #expect(first.error.reason == .sessionTakenOver)
    #expect(!first.isFatal)
    try await client.stop()
  }

  @Test("A connection that is cut fifty times is made again each time")
  func cutConnections() async throws {
    let fake = try FakeBroker()
    var configuration = AcknowledgementOrderTests.configuration(fake)
    configuration.reconnect = .init(
      initial: .milliseconds(5), ceiling: .milliseconds(20), jitter: 0)
    let client = TestClient(configuration)
    for connection in 1...50 {
      try await client.ready(connection: connection)
      fake.dropConnection()
    }
    try await client.ready(connection: 51)
    #expect(client.handler.record.disconnections.allSatisfy { !$0.isFatal })
    try await client.stop()
  }

  @Test("A subscription that is never answered ends the connection")
  func noSubscriptionAnswer() async throws {
    var behaviour = FakeBroker.Behaviour()
    behaviour.subscribeCode = nil
    let fake = try FakeBroker(behaviour)
    var configuration = AcknowledgementOrderTests.configuration(fake)
    configuration.answerLimit = .milliseconds(300)
    let client = TestClient(configuration)
    try await eventually { !client.handler.record.disconnections.isEmpty }
    let first = try #require(client.handler.record.disconnections.first)
    #expect(first.error.reason == .noAnswer)
    #expect(first.error.message.contains("subscription"))
    fake.change { $0.subscribeCode = 1 }
    try await eventually { !client.handler.record.subscribed.isEmpty }
    try await client.stop()
  }

  @Test(
    "An answer to SUBSCRIBE may come late behind messages, and must come after them",
    arguments: [UInt8(0x30), 0x31])
  func answerBehindMessages(publish: UInt8) async throws {
    var behaviour = FakeBroker.Behaviour()
    behaviour.subscribeCode = nil
    let fake = try FakeBroker(behaviour)
    var configuration = AcknowledgementOrderTests.configuration(fake)
    configuration.answerLimit = .seconds(4)
    // At most once, "in/a"; 0x31: retained.
    let message = [publish, 8, 0, 4] + Array("in/a".utf8) + [0] + Array("x".utf8)
    fake.send(
      Array(repeating: message, count: 80), pause: .milliseconds(100), after: .subscribed("in/#"))
    let client = TestClient(configuration)
    try await eventually { !client.handler.record.disconnections.isEmpty }
    let first = try #require(client.handler.record.disconnections.first)
    #expect(first.error.message.contains("has not answered a subscription"))
    #expect(client.handler.messageCount == 80, "that took longer than the limit")
    fake.change { $0.subscribeCode = 1 }
    try await client.stop()
  }

  @Test("A connection request that is never answered ends the connection")
  func noConnectAnswer() async throws {
    var behaviour = FakeBroker.Behaviour()
    behaviour.connectCode = nil
    let fake = try FakeBroker(behaviour)
    var configuration = AcknowledgementOrderTests.configuration(fake)
    configuration.answerLimit = .milliseconds(300)
    let client = TestClient(configuration)
    try await eventually { !client.handler.record.disconnections.isEmpty }
    #expect(client.handler.record.disconnections.first?.error.reason == .noAnswer)
    fake.change { $0.connectCode = 0 }
    try await eventually { client.handler.record.sessions.count == 1 }
    try await client.stop()
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
    try await eventually { fake.events.contains(.pinged) }
    #expect(client.handler.record.disconnections.isEmpty)
    try await client.stop()
  }
}

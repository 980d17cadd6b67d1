import Synchronization
import TestKit
import Testing

@testable import Broker

@Suite("Coming back", .timeLimit(.minutes(30))) struct ReconnectTests {
  private typealias NotStored = AcknowledgementOrderTests.NotStored

  @Test("A broker that is killed and comes back on its port finds its client again") func brokerRestart() async throws {
    let broker = try TestBroker()
    let client = TestClient(broker.configuration(clientID: "keeper", "in/#"))
    try await client.ready()
    broker.kill()
    try await eventually("a refused attempt") {
      client.record.disconnections.contains { $0.error.reason == .nothingListens }
    }
    #expect(try await client.disconnection().wasConnected)
    try broker.start()
    try await client.ready(connection: 2)
    #expect(client.record.sessions.last?.sessionPresent == false, "it kept nothing")

    try await TestPublisher.start(broker).publish("in/a", "after")
    try await eventually { client.handler.messageCount == 1 }
  }

  @Test("A broker that shuts down is named as a cause") func brokerStops() async throws {
    let broker = try TestBroker()
    let client = TestClient(broker.configuration(clientID: "keeper"))
    try await client.ready()
    broker.stop()
    let first = try await client.disconnection()
    // Only later versions of Mosquitto say it themselves.
    let words = ["shutting down", "did the broker stop?"]
    #expect(words.contains { first.error.message.contains($0) }, "\(first.error)")
  }

  @Test("A kept session brings what came while the client was away, in order, across a restart") func keptSession()
    async throws
  {
    let broker = try TestBroker(persistence: true)
    let first = TestClient(broker.configuration(clientID: "keeper", "in/#"))
    try await first.ready()
    try await first.stop()
    try await TestPublisher.start(broker).publish((0..<2500).map { Publication(topic: "in/\($0)", payload: [1]) })
    broker.stop()
    try broker.start()

    let second = TestClient(broker.configuration(clientID: "keeper", "in/#"))
    try await eventually { second.handler.messageCount == 2500 }
    #expect(second.record.sessions.first?.sessionPresent == true)
    #expect(second.handler.messages.map(\.topic) == (0..<2500).map { "in/\($0)" })
  }

  @Test(
    "What a handler could not keep is delivered again; what it kept is not, and the order stays",
    arguments: MosquittoConfiguration.ProtocolVersion.both) func redelivery(
      version: MosquittoConfiguration.ProtocolVersion
    ) async throws
  {
    let broker = try TestBroker()
    let batches = Mutex(0)
    var configuration = broker.configuration(clientID: "keeper", "in/#")
    configuration.protocolVersion = version
    configuration.batchMessages = 50
    let client = TestClient(configuration) { _ in
      let number = batches.withLock {
        $0 += 1
        return $0
      }
      // Every third batch fails.
      if number % 3 == 0 { throw NotStored() }
    }
    try await client.ready()
    try await TestPublisher.start(broker).publish((0..<500).map { Publication(topic: "in/\($0)", payload: [1]) })
    try await eventually(within: .seconds(60)) { Set(client.handler.messages.map(\.topic)).count == 500 }
    #expect(client.handler.messages.map(\.topic) == (0..<500).map { "in/\($0)" })
    #expect(client.record.disconnections.count >= 3)
    #expect(client.record.disconnections.allSatisfy { $0.error.reason == .handler })
  }

  @Test(
    "A client that takes the session over again and again is named, and outlasted",
    arguments: MosquittoConfiguration.ProtocolVersion.both) func takeover(
      version: MosquittoConfiguration.ProtocolVersion
    ) async throws
  {
    let broker = try TestBroker()
    var configuration = broker.configuration(clientID: "keeper", "in/#")
    configuration.protocolVersion = version
    configuration.keepAlive = 10
    configuration.reconnect = .init(initial: .milliseconds(20), ceiling: .milliseconds(400), jitter: 0.5)
    let client = TestClient(configuration)
    try await client.ready()
    for number in 1... {
      let attempt = await MosquittoClient.attempt(configuration, within: .seconds(600))
      #expect(attempt == nil)
      try await client.ready(connection: number + 1)
      let reasons = client.record.disconnections.map(\.error.reason)
      if reasons.count(where: { $0 == .sessionTakenOver }) >= 3 { break }
      try #require(number < 50, "\(reasons)")
    }
    let contested = client.record.disconnections.filter { $0.error.reason == .sessionTakenOver }
    #expect(contested.allSatisfy { !$0.isFatal && $0.error.message.contains("same client id") })
    #expect(contested.allSatisfy { !$0.error.message.contains("keeper") })
    #expect(contested.allSatisfy { ($0.retryDelay ?? .zero) >= .milliseconds(10) })
    // For as long as a keep-alive and more, without a loss: on a machine that is busy that takes its time.
    try await eventually(within: .seconds(600), "the session to be its own again") {
      client.record.sessionsRegained >= 1
    }
    try await TestPublisher.start(broker).publish("in/a", "x")
    try await eventually { client.handler.messageCount == 1 }
  }

  @Test("A connection that is cut fifty times is made again each time: that is no second client") func cutConnections()
    async throws
  {
    let (fake, client) = try FakeBroker.withClient(client: {
      $0.reconnect = .init(initial: .milliseconds(5), ceiling: .milliseconds(20), jitter: 0)
    })
    for connection in 1...50 {
      try await client.ready(connection: connection)
      fake.dropConnection()
    }
    try await client.ready(connection: 51)
    #expect(client.record.disconnections.allSatisfy { !$0.isFatal })
    #expect(client.record.sessions.allSatisfy { $0.sessionPresent }, "else it proves nothing")
  }

  @Test("A subscription that is never answered ends the connection") func noSubscriptionAnswer() async throws {
    let (fake, client) = try FakeBroker.withClient(
      broker: { $0.subscribeCode = nil }, client: { $0.answerLimit = .milliseconds(300) })
    let error = try await client.disconnection().error
    #expect(error.reason == .noAnswer)
    #expect(error.message.contains("subscription"))
    fake.change { $0.subscribeCode = 1 }
    try await client.ready()
  }

  @Test(
    "An answer to SUBSCRIBE may come late behind messages, and must come after them", arguments: [UInt8(0x30), 0x31])
  func answerBehindMessages(publish: UInt8) async throws {
    let (fake, client) = try FakeBroker.withClient(
      broker: { $0.subscribeCode = nil }, client: { $0.answerLimit = .seconds(2) })
    fake.sendSlowly(FakeBroker.message(publish), after: .subscribed("in/#"))
    let error = try await client.disconnection().error
    #expect(error.message.contains("has not answered a subscription"))
    #expect(client.handler.messageCount == 25, "that took longer than the limit")
  }

  @Test("A new configuration is used at once") func reconfigure() async throws {
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
    #expect(client.record.disconnections.isEmpty, "it was asked for")
  }

  @Test("A look at what is due comes before the broker gives a quiet connection up") func looks() {
    for seconds in [3, 5, 10, 16, 19, 29, 60, 3_600] {
      let latest = Duration.seconds(seconds) + Connection.tickInterval(UInt16(seconds))
      #expect(latest < .seconds(seconds) * 3 / 2, "a keep-alive of \(seconds) s")
    }
    #expect(Connection.tickInterval(60) == .seconds(15) && Connection.tickInterval(0) == .seconds(15))
  }

  @Test("A quiet connection is kept alive by pings") func keepAlive() async throws {
    let (fake, client) = try FakeBroker.withClient(client: { $0.keepAlive = 5 })
    try await client.ready()
    try await eventually { fake.events.contains(.pinged) }
    #expect(client.record.disconnections.isEmpty)
  }
}

import TestKit
import Testing

@testable import Broker

@Suite("Publishing", .timeLimit(.minutes(30))) struct PublishTests {
  @Test("What is published arrives, byte for byte", arguments: MosquittoConfiguration.ProtocolVersion.both)
  func roundTrip(version: MosquittoConfiguration.ProtocolVersion) async throws {
    let broker = try TestBroker()
    var configuration = broker.configuration(clientID: "receiver", "in/#")
    configuration.protocolVersion = version
    let receiver = TestClient(configuration)
    try await receiver.ready()
    configuration.clientID = "publisher"
    configuration.subscriptions = []
    let publisher = TestPublisher(configuration)
    let sent = Publication(
      topic: "in/a", payload: Array(0...255), messageExpiry: 30, contentType: "text/plain", correlationData: [1, 0, 2],
      responseTopic: "out/a")
    #expect(try await publisher.publish([sent]) == [.delivered])
    try await eventually { receiver.handler.messageCount == 1 }
    let message = try #require(receiver.handler.messages.first)
    #expect(message.topic == "in/a")
    #expect(message.payload == Array(0...255))
    #expect(message.qos == .atLeastOnce)
    #expect(!message.isRetained)
    #expect(message.responseTopic == (version == .v5 ? "out/a" : nil))
    #expect(message.correlationData == (version == .v5 ? [1, 0, 2] : nil))
    #expect((message.messageExpiry ?? 99 <= 30) == (version == .v5))
  }

  @Test("A retained message, an empty payload and 64,000 bytes go through") func shapes() async throws {
    let broker = try TestBroker()
    let publisher = try await TestPublisher.start(broker)
    let large = [UInt8](repeating: 0xA5, count: 64_000)
    try await publisher.publish([
      Publication(topic: "state", payload: [1], retain: true), Publication(topic: "gone", payload: [1], retain: true),
      Publication(topic: "gone", payload: [], retain: true),
    ])
    let subscriber = try await TestSubscriber.start(broker, "#")
    try await publisher.publish([Publication(topic: "empty", payload: []), Publication(topic: "large", payload: large)])
    let messages = try await subscriber.wait { $0.count == 3 }
    #expect(messages.map(\.topic) == ["state", "empty", "large"])
    #expect(messages.map(\.isRetained) == [true, false, false])
    #expect(messages[1].payload.isEmpty)
    #expect(messages[2].payload == large)
  }

  @Test("Never more under way than the broker takes, QoS 0 left out") func window() async throws {
    let (fake, client) = try FakeBroker.withClient(broker: {
      $0.receiveMaximum = 3
      $0.acknowledges = false
    })
    try await client.ready()
    #expect(client.record.sessions.first?.serverReceiveMaximum == 3)
    #expect(client.record.sessions.first?.publishWindow == 3)
    client.publish((1...10).map { Publication(topic: "t/\($0)", payload: [1], token: $0) })

    var acknowledged = 0
    while acknowledged < 10 {
      let expected = min(10, acknowledged + 3)
      try await eventually("\(expected) publications") { fake.published.count == expected }
      // One at a time, so that a fourth one would be seen with the next.
      fake.send([0x40, 2, 0, UInt8(fake.published[acknowledged])])
      acknowledged += 1
      try await eventually { client.record.acknowledged.count == acknowledged }
    }
    #expect(client.record.acknowledged.map(\.token) == Array(1...10))
    #expect(client.record.largestLimit == 3)
    #expect(client.record.mostUnderWay == 3)

    client.publish((11...30).map { Publication(topic: "t", payload: [1], qos: 0, token: $0) })
    try await eventually { client.record.acknowledged.count == 30 }
  }

  @Test("A full window is filled again when a quarter of it is free") func refill() async throws {
    let (fake, client) = try FakeBroker.withClient(broker: {
      $0.receiveMaximum = 8
      $0.acknowledges = false
    })
    try await client.ready()
    client.publish((1...20).map { Publication(topic: "t/\($0)", payload: [1], token: $0) })
    for acknowledged in 0..<20 {
      try await eventually("after \(acknowledged)") { fake.published.count == min(20, 8 + acknowledged / 2 * 2) }
      fake.send([0x40, 2, 0, UInt8(fake.published[acknowledged])])
      try await eventually { client.record.acknowledged.count == acknowledged + 1 }
    }
    #expect(client.record.acknowledged.map(\.token) == Array(1...20))
  }

  @Test("A publication that the access list denies is an outcome, and the connection lives on") func denied()
    async throws
  {
    let broker = try TestBroker(logins: EmbeddedBrokerConfiguration.Login.home)
    let publisher = try await TestPublisher.start(broker, user: "border-router")
    let outcomes = try await publisher.publish([
      Publication(topic: "threadkeeper/bridge/state", payload: [1]),
      Publication(topic: "threadkeeper/in/border-router/announce", payload: [1]),
    ])
    let error = try #require(outcomes[0].refusal)
    #expect(error.reason == .notAuthorized)
    #expect(error.message.contains("`threadkeeper/bridge/state`"))
    #expect(error.message.contains("`border-router`"))
    #expect(outcomes[1] == .delivered)
  }

  @Test("A topic that is none is refused here, with words, and the rest goes on") func badTopics() async throws {
    let broker = try TestBroker()
    let publisher = try await TestPublisher.start(broker)
    let outcomes = try await publisher.publish(
      ["a/#", "+", "", "a\0b", String(repeating: "a", count: 65_536), "fine"].map {
        Publication(topic: $0, payload: [1])
      })
    #expect(outcomes.dropLast().allSatisfy { $0.refusal?.reason == .topic }, "\(outcomes)")
    #expect(outcomes.last == .delivered)
  }

  @Test("Many threads can publish, and a stock broker's window of 20 is respected") func wakeFromThreads() async throws
  {
    let broker = try TestBroker(receiveMaximum: 20)
    let client = TestClient(broker.configuration(clientID: "status"))
    try await client.ready()
    #expect(client.record.sessions.first?.publishWindow == 20)
    await withTaskGroup(of: Void.self) { group in
      for task in 0..<8 {
        group.addTask {
          for number in 0..<50 {
            client.publish([Publication(topic: "t", payload: [1], token: UInt64(task * 50 + number))])
          }
        }
      }
    }
    try await eventually { client.record.acknowledged.count == 400 }
    #expect(Set(client.record.acknowledged.map(\.token)).count == 400)
    #expect(client.record.mostUnderWay <= 20 && client.record.disconnections.isEmpty)
  }

  @Test("Lost acknowledgements end the connection after the timeout, and a new one is made", arguments: [50, 100])
  func lostAcknowledgements(lost: Int) async throws {
    let (_, client) = try FakeBroker.withClient(
      broker: { $0.acknowledgementsLost = lost }, client: { $0.acknowledgementTimeout = .milliseconds(500) })
    try await client.ready()
    client.publish((1...200).map { Publication(topic: "t", payload: [1], token: $0) })
    try await client.ready(connection: 2)
    let error = try await client.disconnection().error
    #expect(error.reason == .noAnswer)
    #expect(error.message.contains("acknowledged a publication for 0.5 seconds"))
    client.publish([Publication(topic: "t", payload: [1], token: 201)])
    try await eventually("the window has room again") { client.record.acknowledged.last?.token == 201 }
    #expect(client.record.disconnections.count == 1, "acknowledged ones are not waited for")
  }

  @Test("An acknowledgement may come late behind retained messages, and must come after them")
  func acknowledgementBehindRetained() async throws {
    let (fake, client) = try FakeBroker.withClient(
      broker: { $0.acknowledgementsLost = 1 }, client: { $0.acknowledgementTimeout = .seconds(2) })
    // SUBSCRIBE is packet 1.
    fake.sendSlowly(FakeBroker.message(0x31), after: .published(topic: "t", identifier: 2))
    try await client.ready()
    client.publish([Publication(topic: "t", payload: [1], token: 1)])
    let error = try await client.disconnection().error
    #expect(error.message.contains("has not acknowledged a publication"))
    #expect(client.handler.messageCount == 25, "that took longer than the limit")
  }

  @Test("A broker that acknowledges one after the other may take long for all") func slowAcknowledgements() async throws
  {
    let (fake, client) = try FakeBroker.withClient(
      broker: { $0.acknowledges = false }, client: { $0.acknowledgementTimeout = .seconds(2) })
    // SUBSCRIBE is packet 1.
    fake.send(
      (2...26).map { [0x40, 2, 0, $0] }, pause: .milliseconds(100), after: .published(topic: "t", identifier: 31))
    try await client.ready()
    client.publish((1...30).map { Publication(topic: "t", payload: [1], token: $0) })
    let error = try await client.disconnection().error
    #expect(error.message.contains("has not acknowledged a publication"))
    #expect(client.record.acknowledged.count == 25, "that took longer than the limit")
  }

  @Test("After a reconnect only what the handler offers is published, not what was under way") func forgotten()
    async throws
  {
    let (fake, client) = try FakeBroker.withClient(broker: { $0.acknowledges = false })
    try await client.ready()
    client.publish([Publication(topic: "t/1", payload: [1], token: 1)])
    try await eventually { fake.events.contains(.published(topic: "t/1", identifier: 2)) }
    fake.change { $0.acknowledges = true }
    client.handler.offer([Publication(topic: "t/2", payload: [1], token: 2)])
    fake.dropConnection()
    try await client.ready(connection: 2)
    try await eventually { !client.record.acknowledged.isEmpty }
    #expect(client.record.acknowledged.map(\.token) == [2])
    let topics = fake.events.compactMap { if case .published(let topic, _) = $0 { topic } else { nil } }
    #expect(topics == ["t/1", "t/2"], "the old handle's messages went with it")
  }
}

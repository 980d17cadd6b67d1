import Synchronization
import TestKit
import Testing

@testable import Broker

@Suite("Acknowledged means kept", .timeLimit(.minutes(30))) struct AcknowledgementOrderTests {
  struct NotStored: Error {}

  @Test(
    "No acknowledgement leaves while the handler runs, all leave after it",
    arguments: MosquittoConfiguration.ProtocolVersion.both) func order(version: MosquittoConfiguration.ProtocolVersion)
    async throws
  {
    let fake = try FakeBroker()
    var configuration = fake.configuration
    configuration.protocolVersion = version
    let client = TestClient(configuration) { batch in
      fake.mark("begin")
      fake.mark("end \(batch.count)")
    }
    try await client.ready()
    let identifiers = fake.publish(FakeBroker.messages(100))
    try await eventually { fake.acknowledgements.count == 100 }

    #expect(fake.acknowledgements == identifiers, "in the order of arrival")
    var isInside = false
    var handled = 0
    var acknowledged = 0
    for event in fake.events {
      switch event {
      case .mark("begin"): isInside = true
      case .mark(let end):
        isInside = false
        handled += Int(end.dropFirst(4)) ?? 0
      case .acknowledged:
        acknowledged += 1
        #expect(!isInside)
        #expect(acknowledged <= handled, "acknowledged before it was handled")
      default: break
      }
    }
    try await client.stop()
  }

  @Test("What the handler could not keep is never acknowledged, and comes again later") func failure() async throws {
    let isBroken = Mutex(true)
    let (fake, client) = try FakeBroker.withClient(onReceived: { _ in if isBroken.withLock({ $0 }) { throw NotStored() }
      })
    try await client.ready()
    fake.publish(FakeBroker.messages(10))
    // It comes back by itself; in between the first connection must have ended without a word.
    try await client.ready(connection: 2)
    #expect(fake.acknowledgements.isEmpty)
    #expect(!fake.events.contains(.disconnected), "a DISCONNECT would send them first")
    let loss = try await client.disconnection()
    #expect(loss.error.reason == .handler && loss.cause is NotStored && loss.retryDelay != nil)

    isBroken.withLock { $0 = false }
    let again = fake.publish(FakeBroker.messages(10))
    try await eventually { fake.acknowledgements == again }
  }

  @Test("Failures in a row wait longer and longer, so that nothing spins") func backoff() async throws {
    let (fake, client) = try FakeBroker.withClient(client: {
      $0.reconnect = .init(initial: .milliseconds(10), ceiling: .milliseconds(80), jitter: 0)
    }) { _ in throw NotStored() }
    for connection in 1...6 {
      try await client.ready(connection: connection)
      fake.publish(FakeBroker.messages(1))
      try await eventually { client.record.disconnections.count >= connection }
    }
    let delays = client.record.disconnections.prefix(6).compactMap(\.retryDelay)
    #expect(delays == [10, 20, 40, 80, 80, 80].map { .milliseconds($0) })
  }

  @Test("A heap of packets in one piece does not stall, and no batch is larger than allowed", arguments: [false, true])
  func heap(tls: Bool) async throws {
    let (fake, client) = try FakeBroker.withClient(certificates: tls ? TestCertificates.shared() : nil)
    try await client.ready()
    // More than the 278 after which the library's own pipe is full; with TLS some 1,600 of them
    // fit into one record, and only the first read shows on the socket.
    let messages = FakeBroker.messages(3000)
    let identifiers = fake.publish(messages)
    try await eventually { fake.acknowledgements.count == 3000 }
    #expect(fake.acknowledgements == identifiers)
    #expect(client.handler.messages.map(\.topic) == messages.map(\.topic))
    let sizes = client.record.batchSizes
    #expect(sizes.max() ?? 0 <= 500, "\(sizes)")
  }

  @Test("A small limit for messages holds to the message", arguments: [false, true]) func messageLimit(tls: Bool)
    async throws
  {
    let (fake, client) = try FakeBroker.withClient(
      certificates: tls ? TestCertificates.shared() : nil, client: { $0.batchMessages = 7 })
    try await client.ready()
    fake.publish(FakeBroker.messages(700))
    try await eventually { fake.acknowledgements.count == 700 }
    let sizes = client.record.batchSizes
    #expect(sizes.max() == 7, "\(sizes)")
  }

  @Test("A limit for bytes ends a batch with the message that passes it") func byteLimit() async throws {
    let (fake, client) = try FakeBroker.withClient(client: { $0.batchBytes = 10_000 })
    try await client.ready()
    fake.publish(FakeBroker.messages(90, bytes: 4000))
    try await eventually { fake.acknowledgements.count == 90 }
    let sizes = client.record.batchSizes
    #expect(sizes.max() ?? 0 <= 3, "\(sizes)")
  }

  @Test(
    "Everything that a publisher can make large counts",
    arguments: [
      IncomingMessage(topic: "t", payload: Array(repeating: 0, count: 999)),
      IncomingMessage(topic: String(repeating: "t", count: 1_000), payload: []),
      IncomingMessage(topic: "t", payload: [], correlationData: Array(repeating: 0, count: 999)),
      IncomingMessage(topic: "t", payload: [], responseTopic: String(repeating: "r", count: 999)),
    ]) func bytes(_ message: IncomingMessage)
  {
    var batch = IntakeBatch(maximumMessages: 500, maximumBytes: 2_000)
    batch.append(message)
    #expect(batch.bytes == 1_000 && !batch.isFull)
    batch.append(message)
    #expect(batch.isFull)
    batch.clear()
    #expect(batch.bytes == 0 && batch.isEmpty)
  }

  @Test("Messages of a kept session that come with the answer to CONNECT are handled after it") func earlyMessages()
    async throws
  {
    let (fake, client) = try FakeBroker.withClient(broker: { $0.connectCode = nil })
    try await eventually { !fake.events.isEmpty }
    // CONNACK (session present) and a message in one piece.
    fake.send([0x20, 3, 1, 0, 0] + [0x32, 8, 0, 3] + Array("a/b".utf8) + [0, 9, 0])
    try await eventually { fake.acknowledgements == [9] }
    #expect(client.record.sessions.first?.sessionPresent == true)
    #expect(client.handler.messages.map(\.topic) == ["a/b"])
  }
}

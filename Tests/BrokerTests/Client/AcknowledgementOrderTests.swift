// SPDX-License-Identifier: Apache-2.0

import Broker
import Synchronization
import TestKit
import Testing

@Suite("Acknowledged means kept", .timeLimit(.minutes(30)))
struct AcknowledgementOrderTests {
  struct NotStored: Error {}

  static func configuration(
    _ fake: FakeBroker, version: MosquittoConfiguration.ProtocolVersion = .v5
  ) -> MosquittoConfiguration {
    MosquittoConfiguration(
      host: "127.0.0.1", port: fake.port, clientID: "intake", protocolVersion: version,
      sessionExpiry: 3600, subscriptions: [.init("in/#")], answerLimit: .seconds(600),
      reconnect: .init(initial: .milliseconds(10), ceiling: .milliseconds(50)))
  }

  static func messages(_ count: Int, bytes: Int = 3) -> [(topic: String, payload: [UInt8])] {
    (0..<count).map { ("in/\($0)", [UInt8](repeating: UInt8($0 & 0xFF), count: bytes)) }
  }

  @Test(
    "No acknowledgement leaves while the handler runs, all leave after it",
    arguments: [
      MosquittoConfiguration.ProtocolVersion.v5, .v311,
    ])
  func order(version: MosquittoConfiguration.ProtocolVersion) async throws {
    let fake = try FakeBroker()
    let client = TestClient(Self.configuration(fake, version: version)) { batch in
      fake.mark("begin")
      fake.mark("end \(batch.count)")
    }
    try await client.ready()
    let identifiers = fake.publish(Self.messages(100))
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

  @Test("What the handler could not keep is never acknowledged, and comes again later")
  func failure() async throws {
    let fake = try FakeBroker()
    let isBroken = Mutex(true)
    let client = TestClient(Self.configuration(fake)) { _ in
      if isBroken.withLock({ $0 }) { throw NotStored() }
    }
    try await client.ready()
    fake.publish(Self.messages(10))
    // It comes back by itself; in between the first connection must have ended without a word.
    try await client.ready(connection: 2)
    #expect(fake.acknowledgements.isEmpty)
    #expect(!fake.events.contains(.disconnected), "a DISCONNECT would send them first")
    let loss = try #require(client.handler.record.disconnections.first)
    #expect(loss.error.reason == .handler)
    #expect(loss.cause is NotStored)
    #expect(loss.retryDelay != nil)

    isBroken.withLock { $0 = false }
    let again = fake.publish(Self.messages(10))
    try await eventually { fake.acknowledgements.count == 10 }
    #expect(fake.acknowledgements == again)
    try await client.stop()
  }

  @Test("Failures in a row wait longer and longer, so that nothing spins")
  func backoff() async throws {
    let fake = try FakeBroker()
    var configuration = Self.configuration(fake)
    configuration.reconnect = .init(
      initial: .milliseconds(10), ceiling: .milliseconds(80), jitter: 0)
    let client = TestClient(configuration) { _ in throw NotStored() }
    for connection in 1...6 {
      try await client.ready(connection: connection)
      fake.publish(Self.messages(1))
      try await eventually { client.handler.record.disconnections.count >= connection }
    }
    let delays = client.handler.record.disconnections.prefix(6).compactMap(\.retryDelay)
    #expect(delays == [10, 20, 40, 80, 80, 80].map { .milliseconds($0) })
    try await client.stop()
  }

  @Test(
    "A heap of packets in one piece does not stall, and no batch is larger than allowed",
    arguments: [false, true])
  func heap(tls: Bool) async throws {
    let certificates = tls ? try TestCertificates() : nil
    let fake = try FakeBroker(certificates: certificates)
    var configuration = Self.configuration(fake)
    configuration.tls = certificates.map { .init(caFile: $0.authority) }
    let client = TestClient(configuration)
    try await client.ready()
    // More than the 278 after which the library's own pipe is full; with TLS some 1,600 of them
    // fit into one record, and only the first read shows on the socket.
    let identifiers = fake.publish(Self.messages(3000))
    try await eventually { fake.acknowledgements.count == 3000 }
    #expect(fake.acknowledgements == identifiers)
    #expect(client.handler.messages.map(\.topic) == (0..<3000).map { "in/\($0)" })
    let sizes = client.handler.record.batches.map(\.count)
    #expect(sizes.max() ?? 0 <= 500, "\(sizes)")
    try await client.stop()
  }

  @Test("A small limit for messages holds to the message", arguments: [false, true])
  func messageLimit(tls: Bool) async throws {
    let certificates = tls ? try TestCertificates() : nil
    let fake = try FakeBroker(certificates: certificates)
    var configuration = Self.configuration(fake)
    configuration.tls = certificates.map { .init(caFile: $0.authority) }
    configuration.batchMessages = 7
    let client = TestClient(configuration)
    try await client.ready()
    fake.publish(Self.messages(700))
    try await eventually { fake.acknowledgements.count == 700 }
    let sizes = client.handler.record.batches.map(\.count)
    #expect(sizes.max() == 7, "\(sizes)")
    try await client.stop()
  }

  @Test("A limit for bytes ends a batch with the message that passes it")
  func byteLimit() async throws {
    let fake = try FakeBroker()
    var configuration = Self.configuration(fake)
    configuration.batchBytes = 10_000
    let client = TestClient(configuration)
    try await client.ready()
    fake.publish(Self.messages(90, bytes: 4000))
    try await eventually { fake.acknowledgements.count == 90 }
    let sizes = client.handler.record.batches.map(\.count)
    #expect(sizes.max() ?? 0 <= 3, "\(sizes)")
    try await client.stop()
  }

  @Test("Messages of a kept session that come with the answer to CONNECT are handled after it")
  func earlyMessages() async throws {
    let fake = try FakeBroker()
    fake.change { $0.connectCode = nil }
    let client = TestClient(Self.configuration(fake))
    try await eventually { !fake.events.isEmpty }
    // CONNACK (session present) and a message in one piece.
    fake.send([0x20, 3, 1, 0, 0] + [0x32, 8, 0, 3] + Array("a/b".utf8) + [0, 9, 0])
    try await eventually { fake.acknowledgements == [9] }
    #expect(client.handler.record.sessions.first?.sessionPresent == true)
    #expect(client.handler.messages.map(\.topic) == ["a/b"])
    try await client.stop()
  }
}

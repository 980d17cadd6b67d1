// SPDX-License-Identifier: Apache-2.0

import Broker
import TestKit
import Testing

@Suite("Words for a connection that can't be made", .timeLimit(.minutes(30)))
struct ConnectionWordsTests {
  /// The first thing that the handler is told when a connection can't be made.
  static func failure(_ configuration: MosquittoConfiguration) async throws -> MosquittoError {
    let client = TestClient(configuration)
    try await eventually("a failed attempt") { !client.handler.record.disconnections.isEmpty }
    let event = try #require(client.handler.record.disconnections.first)
    #expect(!event.wasConnected)
    #expect(event.retryDelay != nil, "it tries again: \(event.error)")
    try await client.stop()
    return event.error
  }

  @Test("Nothing listens: the address and its settings are named")
  func nothingListens() async throws {
    // Below 1024: no broker of another test can take it meanwhile.
    let port: UInt16 = 1
    let error = try await Self.failure(
      MosquittoConfiguration(host: "127.0.0.1", port: port, clientID: "a"))
    #expect(error.reason == .nothingListens)
    #expect(
      error.message
        == "nothing listens on 127.0.0.1:\(port): is mosquitto running? (`mqtt.host`, `mqtt.port`)")
  }

  @Test(
    "A wrong password: the user is named, the password is not",
    arguments: [MosquittoConfiguration.ProtocolVersion.v5, .v311])
  func wrongPassword(version: MosquittoConfiguration.ProtocolVersion) async throws {
    let broker = try TestBroker(logins: [.init("keeper", role: .daemon)])
    var configuration = broker.configuration(clientID: "a", user: "keeper")
    configuration.protocolVersion = version
    configuration.password = "not-the-password"
    let error = try await Self.failure(configuration)
    #expect(error.reason == .credentials)
    #expect(
      error.message == "the broker refused the user name or password of `keeper`")
  }

  @Test("No user name where one is wanted: the settings are named")
  func noUser() async throws {
    let broker = try TestBroker(logins: [.init("keeper", role: .daemon)])
    let error = try await Self.failure(broker.configuration(clientID: "a"))
    #expect(error.reason == .credentials)
    #expect(error.message.contains("set `mqtt.username` and `mqtt.password`"))
    #expect(error.message.contains("`threadkeeper setup`"))
  }

  @Test("A name that is none: the setting is named")
  func unknownHost() async throws {
    let error = try await Self.failure(
      MosquittoConfiguration(host: "no such host", clientID: "a"))
    #expect(error.reason == .unknownHost)
    #expect(error.message.contains("`mqtt.host`"))
  }

  @Test("A server that says nothing: after a limit, with words")
  func noAnswer() async throws {
    let fake = try FakeBroker()
    fake.change { $0.connectCode = nil }
    var configuration = AcknowledgementOrderTests.configuration(fake)
    configuration.answerLimit = .milliseconds(100)
    let error = try await Self.failure(configuration)
    #expect(error.reason == .noAnswer)
    #expect(error.message.contains("`mqtt.port`"))
  }

  @Test("A server that speaks another protocol")
  func notMQTT() async throws {
    let fake = try FakeBroker()
    fake.change { $0.connectCode = nil }
    let configuration = AcknowledgementOrderTests.configuration(fake)
    let client = TestClient(configuration)
    try await eventually { !fake.events.isEmpty }
    fake.send(Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8))
    fake.dropConnection()
    try await eventually { !client.handler.record.disconnections.isEmpty }
    let error = try #require(client.handler.record.disconnections.first?.error)
    #expect([.protocolError, .closedByBroker].contains(error.reason))
    #expect(error.message.contains("mqtt.p") || error.message.contains("mqtt.tls"))
    try await client.stop()
  }

  @Test(
    "Each answer of a broker has words of its own",
    arguments: [
      (MosquittoConfiguration.ProtocolVersion.v5, UInt8(0x84), "set `mqtt.protocol: 3.1.1`"),
      (.v5, 0x85, "set another `mqtt.client_id`"), (.v5, 0x86, "set `mqtt.username`"),
      (.v5, 0x88, "takes no connection now"), (.v5, 0x8A, "banned"), (.v5, 0x9A, "last will"),
      (.v5, 0x9D, "set `mqtt.host`"), (.v5, 0x83, "reason 131"),
      (.v311, 1, "set `mqtt.protocol: 5`"), (.v311, 2, "set another `mqtt.client_id`"),
      (.v311, 3, "takes no connection now"), (.v311, 4, "set `mqtt.username`"),
      (.v311, 5, "set `mqtt.username`"),
    ])
  func refusals(
    version: MosquittoConfiguration.ProtocolVersion, code: UInt8, words: String
  ) async throws {
    let fake = try FakeBroker()
    fake.change { $0.connectCode = code }
    let error = try await Self.failure(
      AcknowledgementOrderTests.configuration(fake, version: version))
    #expect(error.message.contains(words), "\(error)")
  }

  @Test("A refused subscription ends the connection with words, unless it is not required")
  func refusedSubscription() async throws {
    let fake = try FakeBroker()
    fake.change { $0.subscribeCode = 0x87 }
    var configuration = AcknowledgementOrderTests.configuration(fake)
    let strict = TestClient(configuration)
    try await eventually { !strict.handler.record.disconnections.isEmpty }
    let error = try #require(strict.handler.record.disconnections.first?.error)
    #expect(error.reason == .subscription)
    #expect(error.message.contains("`in/#`"))
    try await strict.stop()

    let other = try FakeBroker()
    other.change { $0.subscribeCode = 0x87 }
    configuration.port = other.port
    configuration.subscriptions[0].isRequired = false
    let lenient = TestClient(configuration)
    try await lenient.ready()
    #expect(lenient.handler.record.subscribed.first?.map(\.filter) == ["in/#"])
    #expect(lenient.handler.record.disconnections.isEmpty)
    try await lenient.stop()
  }

  @Test(
    "A goodbye of the broker has words, and the client comes back",
    arguments: [
      (UInt8(0x98), "administrator"), (0x8B, "shutting down"), (0x95, "`max_packet_size`"),
      (0x87, "`mqtt.username`"), (0x8D, "`mqtt.keep_alive`"), (0x82, "broke the protocol"),
      (0x9C, "reason 156"),
    ])
  func goodbyes(code: UInt8, words: String) async throws {
    let fake = try FakeBroker()
    let client = TestClient(AcknowledgementOrderTests.configuration(fake))
    try await client.ready()
    fake.send([0xE0, 1, code])
    try await client.ready(connection: 2)
    let event = try #require(client.handler.record.disconnections.first)
    #expect(event.wasConnected)
    #expect(event.error.message.contains(words), "\(event.error)")
    try await client.stop()
  }
}

import Broker
import TestKit
import Testing

@Suite("Words for a connection that can't be made", .timeLimit(.minutes(30))) struct ConnectionWordsTests {
  typealias Version = MosquittoConfiguration.ProtocolVersion

  /// The first thing that the handler is told when a connection can't be made.
  static func failure(_ configuration: MosquittoConfiguration) async throws -> MosquittoError {
    let event = try await TestClient(configuration).disconnection()
    #expect(!event.wasConnected)
    #expect(event.retryDelay != nil, "it tries again: \(event.error)")
    return event.error
  }

  @Test("Nothing listens: the address and its settings are named") func nothingListens() async throws {
    // Below 1024: no broker of another test can take it meanwhile.
    let error = try await Self.failure(MosquittoConfiguration(host: "127.0.0.1", port: 1, clientID: "a"))
    #expect(error.reason == .nothingListens)
    #expect(error.message == "nothing listens on 127.0.0.1:1: is mosquitto running? (`mqtt.host`, `mqtt.port`)")
  }

  @Test("A name that is none: the setting is named") func unknownHost() async throws {
    let error = try await Self.failure(MosquittoConfiguration(host: "no such host", clientID: "a"))
    #expect(error.reason == .unknownHost)
    #expect(error.message.contains("`mqtt.host`"))
  }

  @Test("A server that says nothing: after a limit, with words") func noAnswer() async throws {
    let (fake, client) = try FakeBroker.withClient(
      broker: { $0.connectCode = nil }, client: { $0.answerLimit = .milliseconds(100) })
    let event = try await client.disconnection()
    #expect(event.error.reason == .noAnswer && !event.wasConnected)
    #expect(event.error.message.contains("`mqtt.port`"))
    fake.change { $0.connectCode = 0 }
    try await eventually { !client.record.sessions.isEmpty }
  }

  @Test("A server that speaks another protocol") func notMQTT() async throws {
    let (fake, client) = try FakeBroker.withClient(broker: { $0.connectCode = nil })
    try await eventually { !fake.events.isEmpty }
    fake.send(Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8))
    fake.dropConnection()
    let error = try await client.disconnection().error
    #expect([.protocolError, .closedByBroker].contains(error.reason))
    #expect(error.message.contains("mqtt.p") || error.message.contains("mqtt.tls"))
  }

  @Test(
    "Each answer of a broker has words of its own",
    arguments: [
      (Version.v5, UInt8(0x84), "set `mqtt.protocol: 3.1.1`"), (.v5, 0x85, "set another `mqtt.client_id`"),
      (.v5, 0x88, "takes no connection now"), (.v5, 0x9A, "last will"), (.v5, 0x83, "reason 131"),
      (.v311, 1, "set `mqtt.protocol: 5`"), (.v311, 2, "set another `mqtt.client_id`"),
      (.v311, 3, "takes no connection now"),
    ]) func refusals(version: Version, code: UInt8, words: String) async throws
  {
    let error = try await Self.refusal(version, code)
    #expect(error.message.contains(words), "\(error)")
  }

  @Test(
    "A wrong password: the user is named, the password is not; without a user the settings are",
    arguments: [(Version.v5, UInt8(0x86)), (.v5, 0x87), (.v311, 4), (.v311, 5)]) func credentials(
      version: Version, code: UInt8
    ) async throws
  {
    let wrong = try await Self.refusal(version, code) { ($0.username, $0.password) = ("keeper", "not-the-password") }
    #expect(wrong.reason == .credentials)
    #expect(wrong.message == "the broker refused the user name or password of `keeper`")
    let none = try await Self.refusal(version, code)
    #expect(none.reason == .credentials)
    #expect(none.message.contains("set `mqtt.username` and `mqtt.password`"))
    #expect(none.message.contains("`threadkeeper setup`"))
  }

  private static func refusal(
    _ version: Version, _ code: UInt8, _ change: (inout MosquittoConfiguration) -> Void = { _ in }
  ) async throws -> MosquittoError {
    let fake = try FakeBroker()
    fake.change { $0.connectCode = code }
    var configuration = fake.configuration
    configuration.protocolVersion = version
    change(&configuration)
    return try await failure(configuration)
  }

  @Test("A refused subscription ends the connection with words, unless it is not required") func refusedSubscription()
    async throws
  {
    let (_, strict) = try FakeBroker.withClient(broker: { $0.subscribeCode = 0x87 })
    let error = try await strict.disconnection().error
    #expect(error.reason == .subscription)
    #expect(error.message.contains("`in/#`"))
    let (_, lenient) = try FakeBroker.withClient(
      broker: { $0.subscribeCode = 0x87 }, client: { $0.subscriptions[0].isRequired = false })
    try await lenient.ready()
    #expect(lenient.record.subscribed.first?.map(\.filter) == ["in/#"])
    #expect(lenient.record.disconnections.isEmpty)
  }

  @Test(
    "A DISCONNECT of the broker has words, and the client comes back",
    arguments: [
      (UInt8(0x8B), "shutting down"), (0x95, "`max_packet_size`"), (0x87, "`mqtt.username`"), (0x8D, "overloaded"),
      (0x82, "broke the protocol"), (0x8E, "same client id"), (0x9C, "reason 156"),
    ]) func disconnects(code: UInt8, words: String) async throws
  {
    let (fake, client) = try FakeBroker.withClient()
    try await client.ready()
    fake.send([0xE0, 1, code])
    try await client.ready(connection: 2)
    let event = try await client.disconnection()
    #expect(event.wasConnected && !event.isFatal)
    #expect((event.error.reason == .sessionTakenOver) == (code == 0x8E))
    #expect(event.error.message.contains(words), "\(event.error)")
  }
}

import Broker
import TestKit
import Testing

extension MosquittoConfiguration.ProtocolVersion { static var both: [Self] { [.v5, .v311] } }

extension FakeBroker {
  /// How a client reaches it; impatient, for tests.
  var configuration: MosquittoConfiguration {
    var configuration = MosquittoConfiguration(
      host: "127.0.0.1", port: port, clientID: "intake", sessionExpiry: 3600, subscriptions: [.init("in/#")],
      reconnect: .init(initial: .milliseconds(10), ceiling: .milliseconds(50)))
    configuration.answerLimit = .seconds(600)
    return configuration
  }

  /// A broker that behaves otherwise, and a client with a configuration of its own. The broker lives as long as the
  /// client, which ends with its last reference.
  static func withClient(
    broker change: (inout Behaviour) -> Void = { _ in }, certificates: TestCertificates? = nil,
    client configure: (inout MosquittoConfiguration) -> Void = { _ in },
    onReceived: (@Sendable ([IncomingMessage]) throws -> Void)? = nil
  ) throws -> (FakeBroker, TestClient) {
    var behaviour = Behaviour()
    change(&behaviour)
    let fake = try FakeBroker(behaviour, certificates: certificates)
    var configuration = fake.configuration
    configuration.tls = certificates.map { .init(caFile: $0.authority) }
    configure(&configuration)
    let client = TestClient(configuration) { batch in try withExtendedLifetime(fake) { try onReceived?(batch) } }
    return (fake, client)
  }

  static func messages(_ count: Int, bytes: Int = 3) -> [(topic: String, payload: [UInt8])] {
    (0..<count).map { ("in/\($0)", [UInt8](repeating: UInt8($0 & 0xFF), count: bytes)) }
  }

  /// PUBLISH of "x" on "in/a", at most once.
  ///
  /// - Parameter head: 0x30; 0x31: retained.
  static func message(_ head: UInt8) -> [UInt8] { [head, 8, 0, 4] + Array("in/a".utf8) + [0] + Array("x".utf8) }

  /// Sends a packet 25 times in 2.5 seconds.
  func sendSlowly(_ packet: [UInt8], after event: Event) {
    send(Array(repeating: packet, count: 25), pause: .milliseconds(100), after: event)
  }

  /// The identifiers of what the client has published.
  var published: [UInt16] {
    events.compactMap { if case .published(_, let identifier) = $0 { identifier } else { nil } }
  }
}

extension TestClient {
  var record: RecordingHandler.Record { handler.record }

  /// Waits for the first connection that ended, or could not be made.
  func disconnection() async throws -> MosquittoDisconnection {
    try await eventually("a disconnection") { !record.disconnections.isEmpty }
    return try #require(record.disconnections.first)
  }
}

extension PublicationOutcome {
  var refusal: MosquittoError? { if case .refused(let error) = self { error } else { nil } }
}

import CLibMosquitto
import Glibc

/// What went wrong between this client and its broker.
package struct MosquittoError: Error, Sendable, Equatable {
  package var reason: Reason
  /// One sentence for a person: what happened, what to do, which setting. Never a password.
  package var message: String

  package init(_ reason: Reason, _ message: String) {
    self.reason = reason
    self.message = message
  }

  /// The kind, for code and for metrics; the raw value is stable.
  package enum Reason: String, Sendable, CaseIterable {
    // Nobody reached.
    case unknownHost = "unknown_host"
    case nothingListens = "nothing_listens"
    case unreachable
    case noAnswer = "no_answer"
    case untrustedListener = "untrusted_listener"
    // TLS.
    case tlsFiles = "tls_files"
    case tlsCertificate = "tls_certificate"
    case tlsHostName = "tls_host_name"
    case tlsClientCertificate = "tls_client_certificate"
    case tlsHandshake = "tls_handshake"
    // The broker said no.
    case credentials
    case notAuthorized = "not_authorized"
    case clientIdentifier = "client_identifier"
    case protocolVersion = "protocol_version"
    case brokerUnavailable = "broker_unavailable"
    case subscription
    // The connection ended.
    case closedByBroker = "closed_by_broker"
    case connectionLost = "connection_lost"
    case keepAlive = "keep_alive"
    case sessionTakenOver = "session_taken_over"
    case sessionNotHeld = "session_not_held"
    case protocolError = "protocol_error"
    case handler
    // One publication.
    case topic
    case packetTooLarge = "packet_too_large"
    case unsupported
    case refused
    // This side.
    case configuration
    case system
  }

  /// True when trying again can't help.
  package var isFatal: Bool { reason == .configuration }
}

extension MosquittoError: CustomStringConvertible { package var description: String { message } }

extension MosquittoError {
  /// libmosquitto has one result for everything that is wrong with TLS; what it was stands only in
  /// the lines that it logs.
  init(tlsLog log: [String], certificate: CertificateFailure? = nil, _ configuration: MosquittoConfiguration) {
    let address = configuration.address
    let ca = "`mqtt.tls.ca_file` (\(configuration.tls?.caFile ?? "not set"))"
    // The first row that has words of the log.
    let rows: [([String], MosquittoError)] = [
      (["load CA certificates"], .init(.tlsFiles, "\(ca) holds no certificate in PEM form")),
      (["load client certificate"], .init(.tlsFiles, "`mqtt.tls.cert_file` holds no certificate in PEM form")),
      (
        ["are inconsistent", "key values mismatch"],
        .init(.tlsFiles, "`mqtt.tls.cert_file` and `mqtt.tls.key_file` don't belong to each other")
      ),
      (
        ["load client key"],
        .init(.tlsFiles, "`mqtt.tls.key_file` holds no private key in PEM form, or it is locked with a passphrase")
      ),
      (
        ["host name verification failed"],
        .init(
          .tlsHostName,
          "the certificate of \(address) is for another name: set `mqtt.host` to a name that stands "
            + "in the certificate")
      ), (["certificate verify failed"], .certificate(certificate, configuration)),
      (
        [
          "certificate required", "alert handshake failure", "alert bad certificate", "alert unknown ca",
          "alert certificate",
        ], .init(.tlsClientCertificate, Self.refusedCertificate(address, configuration))
      ),
      (
        ["wrong version number", "packet length too long"],
        .init(.tlsHandshake, "\(address) does not speak TLS: is `mqtt.port` the broker's TLS port (often 8883)?")
      ), (["unexpected eof"], .closedBeforeAnswer(address, configuration)),
    ]
    let row = rows.first { words, _ in log.contains { line in words.contains { line.contains($0) } } }
    self =
      row?.1
      ?? (log.isEmpty
        ? .closedBeforeAnswer(address, configuration)
        : .init(.tlsHandshake, "TLS with \(address) failed: \(log.joined(separator: "; "))"))
  }

  private static func refusedCertificate(_ address: String, _ configuration: MosquittoConfiguration) -> String {
    configuration.tls?.certificateFile == nil
      ? "\(address) wants a client certificate: set `mqtt.tls.cert_file` and `mqtt.tls.key_file`"
      : "\(address) refused the client certificate of `mqtt.tls.cert_file`: "
        + "is it signed by an authority that the broker knows, and still valid?"
  }

  /// A file that can't be opened, asked before the library is, which would only say "invalid".
  static func unreadable(_ setting: String, _ path: String, _ code: Int32) -> MosquittoError {
    MosquittoError(.tlsFiles, "`\(setting)` (\(path)) can't be read: \(errorText(code))")
  }
}

/// The only place that turns codes into sentences: libmosquitto's results, the reason codes of
/// MQTT 5 (section 2.4) and the return codes of MQTT 3.1.1 (section 3.2.2.3).
extension MosquittoError {
  static func invalid(_ setting: String, _ problem: String) -> MosquittoError {
    MosquittoError(.configuration, "`\(setting)` \(problem)")
  }

  static func system(_ call: String, _ code: Int32) -> MosquittoError {
    MosquittoError(.system, "\(call) failed: \(errorText(code))\(remedy(code))")
  }

  private static func remedy(_ code: Int32) -> String {
    code == EMFILE || code == ENFILE ? "; raise the limit of open files (`ulimit -n`)" : ""
  }

  static let runTwice = MosquittoError(.configuration, "this client has already run: make a new one for another run")

  /// What the handler threw. Errors of this project never hold a secret, so it may be shown.
  static func handler(_ error: any Error) -> MosquittoError {
    MosquittoError(.handler, "the messages could not be stored, so the broker keeps them: \(error)")
  }

  // MARK: Results of the library

  /// - Parameters:
  ///   - result: a `MOSQ_ERR_…` that is not success.
  ///   - code: `errno` right after the call; for a failed look-up, `getaddrinfo`'s code.
  ///   - answered: whether the broker had accepted this connection.
  ///   - log: what the library wrote about errors since the connection began.
  ///   - certificate: what is wrong with the broker's.
  init(
    result: Int32, errno code: Int32, answered: Bool, log: [String], certificate: CertificateFailure? = nil,
    _ configuration: MosquittoConfiguration
  ) {
    let address = configuration.address
    self =
      switch mosq_err_t(rawValue: result) {
      case MOSQ_ERR_EAI:
        .init(
          .unknownHost,
          "the name `\(configuration.host)` of `mqtt.host` can't be resolved ("
            + "\(gai_strerror(code).map { String(cString: $0) } ?? "no answer")): "
            + "is it written right, and does this machine have name resolution?")
      case MOSQ_ERR_TLS, MOSQ_ERR_TLS_HANDSHAKE: .init(tlsLog: log, certificate: certificate, configuration)
      case MOSQ_ERR_KEEPALIVE:
        .init(
          .keepAlive,
          "\(address) has not answered a ping for \(configuration.keepAlive) s: the network or the " + "broker is down")
      case MOSQ_ERR_PROTOCOL, MOSQ_ERR_MALFORMED_PACKET, MOSQ_ERR_MALFORMED_UTF8, MOSQ_ERR_DUPLICATE_PROPERTY:
        .init(
          .protocolError,
          "\(address) sent what MQTT does not allow: is `mqtt.port` the port of an MQTT broker, "
            + "and does it speak `mqtt.protocol`?")
      case MOSQ_ERR_NOMEM: .init(.system, "libmosquitto found no memory")
      case MOSQ_ERR_CONN_LOST, MOSQ_ERR_NO_CONN, MOSQ_ERR_ERRNO:
        .init(systemError: code, answered: answered, log: log, certificate: certificate, configuration)
      case MOSQ_ERR_INVAL: .init(.configuration, "libmosquitto refuses the settings under `mqtt`")
      default:
        .init(
          .connectionLost,
          "the connection to \(address) failed: "
            + (mosquitto_strerror(result).map { String(cString: $0) } ?? "error \(result)"))
      }
  }

  private init(
    systemError code: Int32, answered: Bool, log: [String], certificate: CertificateFailure?,
    _ configuration: MosquittoConfiguration
  ) {
    let address = configuration.address
    self =
      switch code {
      case ECONNREFUSED:
        .init(.nothingListens, "nothing listens on \(address): is mosquitto running? (`mqtt.host`, `mqtt.port`)")
      case EHOSTUNREACH, ENETUNREACH, ENETDOWN, EHOSTDOWN:
        .init(
          .unreachable,
          "\(address) can't be reached (\(Self.errorText(code))): is it switched on and on this "
            + "network? (`mqtt.host`)")
      case ETIMEDOUT:
        .init(
          .noAnswer,
          "\(address) does not answer: is the address right, and does a firewall drop the port? "
            + "(`mqtt.host`, `mqtt.port`)")
      case EPROTO where configuration.tls != nil && !answered:
        .init(tlsLog: log, certificate: certificate, configuration)
      case 0, EAGAIN, EPROTO, ECONNRESET, EPIPE, ENOTCONN:
        answered ? .closed(address) : .closedBeforeAnswer(address, configuration)
      default:
        .init(
          answered ? .connectionLost : .unreachable,
          "the connection to \(address) failed: \(Self.errorText(code))\(Self.remedy(code))")
      }
  }

  private static func closed(_ address: String) -> MosquittoError {
    MosquittoError(.connectionLost, "\(address) closed the connection: did the broker stop?")
  }

  /// Names each address of a name that has several.
  mutating func add(_ failures: [AddressRace.Failure]) {
    let tried = failures.map { "\($0.address) (\(Self.errorText($0.code)))" }
    message += "; tried \(tried.joined(separator: ", "))"
  }

  static func closedBeforeAnswer(_ address: String, _ configuration: MosquittoConfiguration) -> MosquittoError {
    let remedy =
      configuration.tls == nil
      ? "does that port want TLS (`mqtt.tls.ca_file`)?"
      : "does that port speak TLS, and does it want a client certificate "
        + "(`mqtt.tls.cert_file`, `mqtt.tls.key_file`)?"
    return MosquittoError(.closedByBroker, "\(address) closed the connection without an answer: \(remedy)")
  }

  static func noAnswer(_ configuration: MosquittoConfiguration) -> MosquittoError {
    let tls = configuration.tls == nil ? ", and does it want TLS (`mqtt.tls.ca_file`)?" : "?"
    return MosquittoError(
      .noAnswer,
      "\(configuration.address) took the connection but gives no answer: "
        + "is `mqtt.port` the port of an MQTT broker\(tls)")
  }

  static func noSubscriptionAnswer(_ configuration: MosquittoConfiguration) -> MosquittoError {
    MosquittoError(
      .noAnswer,
      "\(configuration.address) has not answered a subscription for " + "\(configuration.answerLimit): connecting again"
    )
  }

  static func noAcknowledgement(_ configuration: MosquittoConfiguration) -> MosquittoError {
    MosquittoError(
      .noAnswer,
      "\(configuration.address) has not acknowledged a publication for "
        + "\(configuration.acknowledgementTimeout): connecting again")
  }

  // A client id is no secret of MQTT, but who knows ours can take the session over. These messages
  // are published, so none names it.

  /// What is added when the broker drops us again and again without a word.
  static func suspectedTakeover(_ error: MosquittoError) -> MosquittoError {
    MosquittoError(
      error.reason,
      error.message + " It does so again and again soon after letting us in, which is how a second "
        + "client with the same client id looks.")
  }

  /// And once the session counts as contested.
  static let silentTakeover = MosquittoError(
    .sessionTakenOver,
    "the broker closes the connection again and again soon after letting us in: another client "
      + "uses the same client id, or something on the way cuts connections")

  static let sessionNotHeld = MosquittoError(
    .sessionNotHeld, "this process is not allowed to have this session now: the connection stays closed")

  // MARK: What the broker says

  /// The answer to CONNECT.
  init(connack code: Int32, _ configuration: MosquittoConfiguration) {
    self =
      switch (configuration.protocolVersion, code) {
      case (.v311, 1), (.v5, 0x84), (.v5, 1):
        .init(
          .protocolVersion,
          configuration.protocolVersion == .v5
            ? "the broker does not speak MQTT 5: set `mqtt.protocol: 3.1.1`"
            : "the broker does not speak MQTT 3.1.1: set `mqtt.protocol: 5`")
      case (.v311, 2), (_, 0x85):
        .init(.clientIdentifier, "the broker refused the client id: set another `mqtt.client_id`")
      case (.v311, 3), (_, 0x88), (_, 0x89), (_, 0x97), (_, 0x9F):
        .init(
          .brokerUnavailable,
          "the broker is there but takes no connection now (\(Self.reasonText(code))): " + "look into its log")
      case (.v311, 4), (.v311, 5), (_, 0x86), (_, 0x87), (_, 0x8C): .badCredentials(configuration)
      case (_, 0x90), (_, 0x99), (_, 0x9A), (_, 0x9B):
        .init(
          .unsupported,
          "the broker refused the last will (\(Self.reasonText(code))): does its access list let "
            + "`mqtt.username` write under `mqtt.base_topic`, and does it allow retained messages?")
      default: .init(.refused, "the broker refused the connection (\(Self.reasonText(code))): look into its log")
      }
  }

  private static func badCredentials(_ configuration: MosquittoConfiguration) -> MosquittoError {
    guard let user = configuration.username else {
      return MosquittoError(
        .credentials,
        "the broker wants a user name and password: give them with `threadkeeper setup`, or set "
          + "`mqtt.username` and `mqtt.password`")
    }
    return MosquittoError(
      .credentials,
      configuration.password == nil
        ? "the broker wants a password for the user `\(user)`"
        : "the broker refused the user name or password of `\(user)`")
  }

  /// A DISCONNECT of the broker (MQTT 5).
  init(disconnect code: Int32, _ configuration: MosquittoConfiguration) {
    self =
      switch code {
      case 0x8E: .init(.sessionTakenOver, "another client took over the session: it uses the same client id")
      case 0x87: .badCredentials(configuration)
      case 0x8D: .init(.keepAlive, "the broker received nothing for too long: is this machine overloaded?")
      case 0x93, 0x94, 0x81, 0x82, 0x99:
        .init(.protocolError, "the broker says that we broke the protocol (\(Self.reasonText(code)))")
      case 0x95:
        .init(
          .packetTooLarge,
          "the broker closed the connection: a packet was too large for it "
            + "(`message_size_limit` and `max_packet_size` in mosquitto.conf)")
      default: .init(.closedByBroker, "the broker closed the connection (\(Self.reasonText(code))): look into its log")
      }
  }

  /// A SUBACK that refuses.
  init(suback code: Int32, filter: String, _ configuration: MosquittoConfiguration) {
    let user = configuration.username.map { " `\($0)`" } ?? ""
    self.init(
      .subscription,
      "the broker refused the subscription to `\(filter)` (\(Self.reasonText(code))): "
        + "its access list must let the user\(user) read it")
  }

  // MARK: One publication

  /// A PUBACK that refuses (MQTT 5).
  init(puback code: Int32, topic: String, _ configuration: MosquittoConfiguration) {
    let user = configuration.username.map { " `\($0)`" } ?? ""
    self =
      code == 0x87
      ? .init(.notAuthorized, "the broker's access list does not let the user\(user) publish to `\(topic)`")
      : .init(.refused, "the broker refused a message to `\(topic)` (\(Self.reasonText(code)))")
  }

  /// A publication that the library refuses before it is sent.
  init(publish result: Int32, topic: String, bytes: Int) {
    self =
      switch mosq_err_t(rawValue: result) {
      case MOSQ_ERR_PAYLOAD_SIZE, MOSQ_ERR_OVERSIZE_PACKET:
        .init(
          .packetTooLarge,
          "a message of \(bytes) bytes to `\(topic)` is larger than the broker takes "
            + "(`message_size_limit` and `max_packet_size` in mosquitto.conf)")
      case MOSQ_ERR_QOS_NOT_SUPPORTED: .init(.unsupported, "the broker takes no QoS 1, which `\(topic)` needs")
      case MOSQ_ERR_NOMEM: .init(.system, "libmosquitto found no memory for a message to `\(topic)`")
      default: .init(.topic, "`\(topic)` is no topic that can be published to")
      }
  }

  // MARK: Words of others

  static func errorText(_ code: Int32) -> String { strerror(code).map { String(cString: $0) } ?? "error \(code)" }

  /// The name of a reason code as the specification has it, and the number for the search engine.
  private static func reasonText(_ code: Int32) -> String {
    let name = mosquitto_reason_string(code).map { String(cString: $0) } ?? "unknown"
    return "\(name), reason \(code)"
  }
}

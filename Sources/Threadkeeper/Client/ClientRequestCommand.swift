import ArgumentParser
import BorderRouterAgent
import Broker
import FoundationEssentials
import SodiumCrypto
import Synchronization
import ThreadRequests
import ThreadkeeperSupport
import Wire

/// `threadkeeper client request`
struct ClientRequestCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    "request", "Ask the daemon something over MQTT, and wait for its answer.",
    """
    With the daemon's line the request is sealed and signed, and secrets in the answer are opened; \
    what is secret and came in plaintext is refused, because anybody may have said it. Some questions \
    wait for a person's consent, for two minutes at most. Prints what the daemon has to say, as JSON, \
    which may be secret.

    Examples:
      threadkeeper client request ping --username phone
      threadkeeper client request preferred/get --username phone \\
        --daemon "$DAEMON_LINE" --host broker.local --password-file ~/.mqtt
      threadkeeper client request network/get --username phone \\
        --field ext_pan_id=1111111122222222 --daemon "$DAEMON_LINE"
      threadkeeper client request preferred/check --username phone \\
        --daemon "$DAEMON_LINE" --fields - < dataset.json
    """)

  @Argument(help: "The command.") var command: RequestCommand

  @Option(help: ArgumentHelp("A field of the request.", valueName: "name=text")) var field: [String] = []

  @Option(help: ArgumentHelp("All fields as a JSON object, on standard input: secrets belong there.", valueName: "-"))
  var fields: String?

  @Option(help: ArgumentHelp("The daemon's enrolment line.", valueName: "line")) var daemon: String?

  @OptionGroup var key: ClientKeyOption

  @Option(help: ArgumentHelp("How long to wait; over 120 where a person may have to agree.", valueName: "seconds"))
  var timeout = 150

  @OptionGroup var broker: BrokerOptions
  @OptionGroup var output: OutputOptions

  func validate() throws {
    try broker.requireLogin()
    guard fields == nil || (fields == "-" && field.isEmpty) else {
      throw ValidationError("Say --field, or --fields - with an object on standard input.")
    }
    guard (1...3_600).contains(timeout) else { throw ValidationError("--timeout is 1 to 3600 seconds.") }
  }

  func run() async throws {
    let exchange = ClientExchange(broker: broker, keys: try identities())
    var fields = try readFields()
    defer { wipe(&fields) }
    if command.needsConsent, StandardStream.error.isTerminal {
      try StandardStream.error.write(
        "A person may have to agree: `threadkeeper consent list` shows it to the daemon's user on its machine.\n")
    }
    let answer = try await exchange.ask(command, fields, within: .seconds(timeout))
    let data = String(decoding: answer.data, as: UTF8.self)
    try StandardStream.output.write(output.json ? "{\"data\":\(data),\"sealed\":\(answer.wasSealed)}\n" : data + "\n")
  }

  private func identities() throws -> ClientExchange.Keys? {
    guard let daemon else { return nil }
    return (try key.file().read(), try .argument(daemon, whose: "--daemon"))
  }

  private func readFields() throws -> [UInt8] {
    if fields != nil {
      guard let bytes = try StandardInput.read(limit: Envelope.limit),
        (try? UntrustedJSON.check(bytes, depth: Envelope.nesting - 1)) == true,
        UntrustedJSON.value(of: "transaction", in: bytes, depth: Envelope.nesting) == nil
      else {
        throw CommandFailure(.badInput, "standard input has no JSON object, or one with a transaction of its own")
      }
      return bytes
    }
    var object: [String: String] = [:]
    for pair in field {
      guard let equals = pair.firstIndex(of: "="), equals > pair.startIndex else {
        throw CommandFailure(.usage, "a field is NAME=TEXT")
      }
      object[String(pair[..<equals])] = String(pair[pair.index(after: equals)...])
    }
    guard object["transaction"] == nil else { throw CommandFailure(.usage, "the transaction is made here") }
    return Array(try JSONEncoder().encode(object))
  }
}

extension RequestCommand: ExpressibleByArgument {}

/// How a client's command reaches the broker, without any settings of a daemon.
struct BrokerOptions: ParsableArguments {
  @Option(help: "Name or address of the broker.") var host = "localhost"

  @Option(help: "Without it: 1883, with --cafile 8883.") var port: UInt16?

  @Option(help: ArgumentHelp("Use TLS; who may have signed the broker's certificate, as PEM.", valueName: "file"))
  var cafile: String?

  @Option(
    help: ArgumentHelp(
      "Another user of this machine that may be a broker here without TLS; may be given again.",
      discussion: "root, `mosquitto` and the user that runs this may without it.", valueName: "user")) var brokerUser:
    [String] = []

  @Option(help: "The client's login; it also names its topics.") var username = ""

  @Option(help: ArgumentHelp("Its password: the first line of a file that others cannot read.", valueName: "file"))
  var passwordFile: String?

  @Option(help: "The base topic of the home.") var baseTopic = "threadkeeper"

  /// - Throws: `ValidationError` where nobody is named.
  func requireLogin() throws {
    guard !username.isEmpty else { throw ValidationError("Missing expected argument '--username <username>'") }
  }

  func configuration(subscribingTo topic: String) throws(CommandFailure) -> MosquittoConfiguration {
    var password: String?
    if let passwordFile { password = try Password.fromFile(passwordFile) }
    let users = try brokerUser.map { name throws(CommandFailure) in
      guard let user = SystemAccount.user(name) else {
        throw CommandFailure(
          .usage, "--broker-user: this machine has no user \(name.printable)", remedy: "give its number")
      }
      return user
    }
    var configuration = MosquittoConfiguration(
      host: host, port: port ?? (cafile == nil ? 1883 : 8883), clientID: ClientIDs().id(of: ""),
      username: try Username.ofClient(username), password: password,
      tls: cafile.map { MosquittoConfiguration.TLS(caFile: $0) }, cleanStart: true, subscriptions: [.init(topic)])
    configuration.brokerUsers = Set(users)
    return configuration
  }
}

/// Errors of the broker name settings of the daemon, which a client does not have: they are options here.
extension BrokerOptions {
  private static let names = [
    (
      "give them with `threadkeeper setup`, or set `mqtt.username` and `mqtt.password`",
      "give them with `--username` and `--password-file`"
    ), (", and does it want a client certificate (`mqtt.tls.cert_file`, `mqtt.tls.key_file`)?", "?"),
    (": set `mqtt.protocol: 3.1.1`", ", and this command speaks nothing else"), ("`mqtt.protocol`", "MQTT 5"),
    ("`mqtt.tls.ca_file`", "`--cafile`"), ("`mqtt.host`", "`--host`"), ("`mqtt.port`", "`--port`"),
    ("`mqtt.username`", "`--username`"), ("`mqtt.broker_users`", "`--broker-user`"),
    ("`mqtt.password`", "`--password-file`"), ("`mqtt.base_topic`", "`--base-topic`"),
  ]

  /// The same in words of these options.
  static func words(_ error: MosquittoError) -> String {
    if error.reason == .tlsClientCertificate {
      return "the broker wants a client certificate, and this command has none to show"
    }
    return names.reduce(error.message) { $0.replacing($1.0, with: $1.1) }
  }
}

/// Asks the daemon over the broker: seals and signs where the daemon's key is known, and opens the answer.
struct ClientExchange {
  typealias Keys = (own: Identity, daemon: PublicIdentity)

  let broker: BrokerOptions
  /// Of the client and of the daemon; nil: all is said in plaintext.
  let keys: Keys?

  /// - Parameter fields: a JSON object.
  /// - Throws: `CommandFailure`, also for what the daemon refuses.
  func ask(_ command: RequestCommand, _ fields: [UInt8], within limit: Duration) async throws -> ClientAnswer {
    let topic = "\(broker.baseTopic)/in/\(broker.username)/request/\(command.rawValue)"
    let answerTopic = "\(broker.baseTopic)/out/\(broker.username)/response/\(command.rawValue)"
    // Its answer has it, and those to others do not.
    let transaction = Base64.encode(RandomBytes.make(12), .urlSafe)
    let exchange = RequestExchange(
      Publication(
        topic: topic, payload: try payload(transaction, fields, topic: topic), messageExpiry: 30,
        contentType: "application/json", correlationData: Array(transaction.utf8), responseTopic: answerTopic)
    ) { message in
      guard message.topic == answerTopic else { return false }
      if let correlation = message.correlationData { return correlation == Array(transaction.utf8) }
      return ClientAnswer.read(message.payload)?.transaction == transaction
    }
    let outcome: RequestExchange.Outcome?
    do {
      outcome = try await exchange.perform(broker.configuration(subscribingTo: answerTopic), within: limit)
    } catch let error as MosquittoError { throw failure(error) }
    switch outcome {
    case nil where command.needsConsent:
      throw CommandFailure(
        .temporary, "nobody answers, or nobody has decided yet",
        remedy: "ask again, with --timeout over 120, and meanwhile, by the daemon's user on its"
          + " machine: `threadkeeper consent list`")
    case nil:
      throw CommandFailure(
        .temporary, "nobody answers", remedy: "does the daemon run, and may \(broker.username) read \(answerTopic)?")
    case .failure(let error): throw failure(error)
    case .success(let payload):
      return try ClientAnswer(
        payload, to: transaction, keys: keys, topic: answerTopic, needsSeal: keys != nil && command.disclosesSecrets)
    }
  }

  private func failure(_ error: MosquittoError) -> CommandFailure {
    CommandFailure(error.exitStatus, BrokerOptions.words(error))
  }

  /// The fields and the transaction, sealed where the daemon's key is known.
  private func payload(_ transaction: String, _ fields: [UInt8], topic: String) throws -> [UInt8] {
    let start = Array("{\"transaction\":\"\(transaction)\"".utf8)
    // Nothing of the object is touched: it goes on after its brace.
    let rest = fields.drop { $0 != UInt8(ascii: "{") }.dropFirst()
    let isEmpty = rest.first { $0 > 0x20 } == UInt8(ascii: "}")
    var request = start + (isEmpty ? [] : [UInt8(ascii: ",")]) + rest
    guard let keys else { return request }
    defer { wipe(&request) }
    do throws(SealingError) {
      let envelope = try Envelope.seal(
        request, to: keys.daemon, from: keys.own,
        at: .init(
          topic: topic, order: .identifier(transaction), now: Int64(Date().timeIntervalSince1970),
          lifetime: Envelope.requestLifetime))
      return start + Array(",\"sealed\":".utf8) + envelope.json() + [UInt8(ascii: "}")]
    } catch { throw CommandFailure(.badInput, error.message) }
  }
}

/// Publishes one request and waits for its answer.
final class RequestExchange: MosquittoHandler {
  typealias Outcome = Result<[UInt8], MosquittoError>

  private struct State {
    var client: MosquittoClient?
    var isSubscribed = false
    /// The request, until it is on its way.
    var waiting: [Publication]
    var outcome: Outcome?
  }

  private let isAnswer: @Sendable (IncomingMessage) -> Bool
  private let state: Mutex<State>

  /// - Parameter isAnswer: whether it is the answer, and not one to others who share the login.
  init(_ request: Publication, isAnswer: @escaping @Sendable (IncomingMessage) -> Bool) {
    state = Mutex(State(waiting: [request]))
    self.isAnswer = isAnswer
  }

  /// - Parameter limit: in all.
  /// - Returns: nil when nobody has answered by then.
  func perform(_ configuration: MosquittoConfiguration, within limit: Duration) async throws -> Outcome? {
    let client = MosquittoClient(configuration, handler: self)
    state.withLock { $0.client = client }
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await client.run() }
      group.addTask { if (try? await Task.sleep(for: limit)) != nil { client.stop() } }
      defer {
        group.cancelAll()
        client.stop()
        state.withLock { $0.client = nil }
      }
      try await group.next()
    }
    return state.withLock { $0.outcome }
  }

  // MARK: On the client's thread

  func connected(_ session: MosquittoSession) {}

  /// Only from now on an answer is received.
  func subscribed(refused: [SubscriptionRefusal]) {
    let client = state.withLock { state in
      state.isSubscribed = true
      return state.client
    }
    client?.wake()
  }

  func publications(upTo limit: Int) -> [Publication] {
    state.withLock { state in
      guard state.isSubscribed, limit > 0 else { return [] }
      defer { state.waiting = [] }
      return state.waiting
    }
  }

  func received(_ batch: [IncomingMessage]) {
    for message in batch where !message.isRetained && isAnswer(message) { return end(.success(message.payload)) }
  }

  func acknowledged(_ publication: SentPublication, _ outcome: PublicationOutcome) {
    if case .refused(let error) = outcome { end(.failure(error)) }
  }

  func disconnected(_ event: MosquittoDisconnection) { end(.failure(event.error)) }

  private func end(_ outcome: Outcome) {
    let client = state.withLock { state in
      if state.outcome == nil { state.outcome = outcome }
      return state.client
    }
    client?.stop()
  }
}

/// What the daemon answers to a request, and what it means for who asked.
struct ClientAnswer {
  /// The text of `data`; an empty object where there is none.
  let data: [UInt8]
  /// Whether only the daemon can have said it, and only to this client.
  let wasSealed: Bool

  /// - Parameters:
  ///   - transaction: of the request. An envelope is bound to it: an old one is no answer.
  ///   - keys: of the client and of the daemon; nil: nothing can be opened.
  ///   - needsSeal: whether data that is not sealed is refused: anybody on the broker could have said it.
  init(
    _ payload: [UInt8], to transaction: String, keys: (own: Identity, daemon: PublicIdentity)?, topic: String,
    needsSeal: Bool
  ) throws(CommandFailure) {
    guard let answer = Self.read(payload) else { throw CommandFailure(.badInput, "the answer cannot be read") }
    guard answer.status == .ok else { throw Self.failure(answer.error) }
    guard let sealed = answer.data?.sealed else {
      guard !needsSeal else {
        throw CommandFailure(.badInput, "not_sealed: the answer is not sealed, so anybody may have made it")
      }
      data = UntrustedJSON.value(of: "data", in: payload, depth: WireReader.nesting) ?? Array("{}".utf8)
      wasSealed = false
      return
    }
    guard let keys else {
      throw CommandFailure(.usage, "the answer is sealed", remedy: "give the daemon's line with --daemon")
    }
    do throws(EnvelopeRefusal) {
      let opened = try Envelope.open(
        sealed, with: keys.own, from: [keys.daemon], topic: topic, now: Int64(Date().timeIntervalSince1970))
      guard opened.order == .identifier(transaction) else { throw .replayed }
      self.data = opened.body
      wasSealed = true
    } catch { throw CommandFailure(.badInput, "\(error.rawValue): \(error.message)") }
  }

  /// Nil for what is none.
  static func read(_ payload: [UInt8]) -> ThreadAnswer? { payload.count <= 1 << 20 ? ThreadAnswer(json: payload) : nil }

  private static func failure(_ failure: AnswerFailure?) -> CommandFailure {
    guard let failure else { return CommandFailure(.badInput, "the answer cannot be read") }
    let status: ExitStatus =
      switch failure.code {
      case "not_authorized", "not_enrolled", "consent_required", "consent_denied": .notPermitted
      case "not_found", "stale_id": .noInput
      case "rate_limited", "consent_expired", "expired", "replayed", "not_yet_valid": .temporary
      case "read_only": .inputOutput
      case "unsupported": .unavailable
      default: .badInput
      }
    return CommandFailure(status, "\(failure.code): \(failure.message)\(failure.field.map { " (field \($0))" } ?? "")")
  }
}

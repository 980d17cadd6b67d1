// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Broker
import SodiumCrypto
import ThreadRequests
import ThreadkeeperDaemon
import ThreadkeeperSupport

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// `threadkeeper client request`
struct ClientRequestCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "request",
    abstract: "Ask the daemon something over MQTT, and wait for its answer.",
    discussion: """
      With the daemon's line the request is sealed and signed, and secrets in the answer are opened; \
      what is secret and came in plaintext is refused, because anybody may have said it. Some questions \
      wait for a person's consent, for two minutes at most; at a terminal the command that approves \
      it is shown. Prints what the daemon has to say, as JSON, which may be secret.

      Examples:
        threadkeeper client request ping --username phone
        threadkeeper client request preferred/get --username phone \\
          --daemon "$DAEMON_LINE" --host broker.local --password-file ~/.mqtt
        threadkeeper client request network/get --username phone \\
          --field ext_pan_id=1111111122222222 --daemon "$DAEMON_LINE"
        threadkeeper client request preferred/check --username phone \\
          --daemon "$DAEMON_LINE" --fields - < dataset.json
      """)

  @Argument(help: "The command, such as preferred/get.")
  var command: String

  @Option(help: ArgumentHelp("A field of the request.", valueName: "name=text"))
  var field: [String] = []

  @Option(
    help: ArgumentHelp(
      "All fields as a JSON object, on standard input: secrets belong there.", valueName: "-"))
  var fields: String?

  @Option(help: ArgumentHelp("The daemon's enrolment line.", valueName: "line"))
  var daemon: String?

  @OptionGroup var key: ClientKeyOption

  @Option(
    help: ArgumentHelp(
      "How long to wait; over 120 where a person may have to agree.", valueName: "seconds"))
  var timeout = 150

  @OptionGroup var broker: BrokerOptions
  @OptionGroup var output: OutputOptions

  func validate() throws {
    try broker.requireLogin()
    guard fields == nil || (fields == "-" && field.isEmpty) else {
      throw ValidationError("Say --field, or --fields - with an object on standard input.")
    }
    guard (1...3_600).contains(timeout) else {
      throw ValidationError("--timeout is 1 to 3600 seconds.")
    }
    guard RequestCommand(rawValue: command) != nil else {
      let commands = RequestCommand.allCases.map(\.rawValue).joined(separator: ", ")
      throw ValidationError("There is no such command. The commands are \(commands).")
    }
  }

  func run() async throws {
    let exchange = ClientExchange(broker: broker, keys: try identities())
    var question = ClientQuestion(
      command: command, fields: try readFields(),
      isSecret: RequestCommand(rawValue: command)?.disclosesSecrets ?? false)
    defer { wipe(&question.fields) }
    let notice = ConsentNotice.isWanted(for: command, atTerminal: StandardStream.error.isTerminal)
    let teller = Task { [transaction = question.transaction] in
      if notice { await ConsentNotice(exchange: exchange, transaction: transaction).run() }
    }
    defer { teller.cancel() }
    let answer = try await exchange.ask(question, within: .seconds(timeout))
    let data = String(decoding: answer.data, as: UTF8.self)
    try StandardStream.output.write(
      output.json ? "{\"data\":\(data),\"sealed\":\(answer.wasSealed)}\n" : data + "\n")
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
        throw CommandFailure(
          .badInput, "standard input has no JSON object, or one with a transaction of its own")
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
    guard object["transaction"] == nil else {
      throw CommandFailure(.usage, "the transaction is made here")
    }
    return Array(try JSONEncoder().encode(object))
  }
}

/// What the daemon answers to a request, and what it means for who asked.
struct ClientAnswer {
  private struct Form: Decodable {
    struct Failure: Decodable {
      var code: String
      var message: String?
      var field: String?
    }

    var v: Int
    var status: String
    var error: Failure?
    var transaction: String?
  }

  /// The text of `data`; an empty object where there is none.
  let data: [UInt8]
  /// Whether only the daemon can have said it, and only to this client.
  let wasSealed: Bool

  /// The most objects and arrays within each other in an answer.
  static let nesting = 16

  /// - Parameters:
  ///   - transaction: of the request. An envelope is bound to it: an old one is no answer.
  ///   - keys: of the client and of the daemon; nil: nothing can be opened.
  ///   - needsSeal: whether data that is not sealed is refused: anybody on the broker could have said it.
  init(
    _ payload: [UInt8], to transaction: String,
    keys: (own: Identity, daemon: PublicIdentity)?, topic: String, needsSeal: Bool
  ) throws(CommandFailure) {
    guard Self.isReadable(payload),
      let form = try? JSONDecoder().decode(Form.self, from: Data(payload)), form.v == 1
    else { throw CommandFailure(.badInput, "the answer cannot be read") }
    guard form.status == "ok" else { throw Self.failure(form.error) }
    let data = UntrustedJSON.value(of: "data", in: payload, depth: Self.nesting) ?? Array("{}".utf8)
    guard let envelope = UntrustedJSON.value(of: "sealed", in: data, depth: Self.nesting) else {
      guard !needsSeal else {
        throw CommandFailure(
          .badInput, "not_sealed: the answer is not sealed, so anybody may have made it")
      }
      self.data = data
      wasSealed = false
      return
    }
    guard let keys else {
      throw CommandFailure(
        .usage, "the answer is sealed", remedy: "give the daemon's line with --daemon")
    }
    do throws(EnvelopeRefusal) {
      let opened = try Envelope.open(
        envelope, with: keys.own, from: [keys.daemon], topic: topic,
        now: Int64(Date().timeIntervalSince1970))
      guard opened.order == .identifier(transaction) else { throw .replayed }
      self.data = opened.body
      wasSealed = true
    } catch {
      throw CommandFailure(.badInput, "\(error.rawValue): \(error.message)")
    }
  }

  /// The `transaction` of an answer; for brokers that pass no correlation data on.
  static func transaction(of payload: [UInt8]) -> String? {
    guard isReadable(payload) else { return nil }
    return (try? JSONDecoder().decode(Form.self, from: Data(payload)))?.transaction
  }

  private static func isReadable(_ payload: [UInt8]) -> Bool {
    payload.count <= 1 << 20 && (try? UntrustedJSON.check(payload, depth: nesting)) == true
  }

  private static func failure(_ failure: Form.Failure?) -> CommandFailure {
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
    return CommandFailure(
      status,
      "\(failure.code): \(failure.message ?? "the daemon says no more")"
        + (failure.field.map { " (field \($0))" } ?? ""))
  }
}

/// Tells who waits at a terminal what for, and what approves it.
struct ConsentNotice: Sendable {
  /// Before the first look, and between two more and more: each is a connection of its own.
  private static let shortest = Duration.milliseconds(300)
  private static let longest = Duration.seconds(5)
  private static let limit = Duration.seconds(10)

  let exchange: ClientExchange
  /// Of the request that waits.
  let transaction: String

  /// Whether a person may have to be told.
  static func isWanted(for command: String, atTerminal: Bool) -> Bool {
    atTerminal && RequestCommand(rawValue: command)?.needsConsent == true
  }

  /// Returns when it is printed, or cancelled because the answer has come. What goes wrong here is no
  /// matter: the request itself is under way.
  func run() async {
    var pause = Self.shortest
    while (try? await Task.sleep(for: pause)) != nil {
      let waiting = (try? await exchange.waiting(within: Self.limit)) ?? []
      guard !Task.isCancelled else { return }
      if let own = waiting.first(where: { $0.isAwaited(by: transaction) }) {
        try? StandardStream.error.write(own.words().printable + "\n")
        return
      }
      pause = min(pause * 2, Self.longest)
    }
  }
}

// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import MosquittoClient
import SealedEnvelope
import SodiumCrypto

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// `threadkeeper client request`
struct ClientRequestCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "request",
    abstract: "Ask the keeper something over MQTT, and wait for its answer.",
    discussion: """
      With the keeper's line the request is sealed and signed, and secrets in the answer are opened; \
      what is secret and came in clear is refused, because anybody may have said it. Some questions \
      wait for a person's consent, for two minutes at most. Prints what the keeper has to say, as \
      JSON, which may be secret.

      Examples:
        threadkeeper client request ping --username phone
        threadkeeper client request preferred/get --username phone \\
          --keeper "$KEEPER" --host broker.local --password-file ~/.mqtt
        threadkeeper client request network/get --username phone \\
          --field ext_pan_id=1111111122222222 --keeper "$KEEPER"
        threadkeeper client request preferred/check --username phone \\
          --keeper "$KEEPER" --fields - < dataset.json
      """)

  /// Questions whose answers hold keys.
  private static let secret: Set = [
    "preferred/get", "network/get", "networks/nearby", "credentials/get",
  ]

  @Argument(help: "The command, such as preferred/get.")
  var command: String

  @Option(help: ArgumentHelp("A field of the request.", valueName: "name=text"))
  var field: [String] = []

  @Option(
    help: ArgumentHelp(
      "All fields as a JSON object, on standard input: secrets belong there.", valueName: "-"))
  var fields: String?

  @Option(help: ArgumentHelp("The keeper's enrolment line.", valueName: "line"))
  var keeper: String?

  @OptionGroup var key: ClientKeyOption

  @Option(help: ArgumentHelp("How long to wait.", valueName: "seconds"))
  var timeout = 150

  @OptionGroup var broker: BrokerOptions
  @OptionGroup var output: OutputOptions

  func validate() throws {
    guard fields == nil || (fields == "-" && field.isEmpty) else {
      throw ValidationError("Say --field, or --fields - with an object on standard input.")
    }
    guard (1...3_600).contains(timeout) else {
      throw ValidationError("--timeout is 1 to 3600 seconds.")
    }
    let levels = command.split(separator: "/", omittingEmptySubsequences: false)
    guard levels.allSatisfy({ !$0.isEmpty && $0.allSatisfy { $0.isLetter || $0 == "_" } }) else {
      throw ValidationError("A command is made of words and slashes, such as preferred/get.")
    }
  }

  func run() async throws {
    let keys = try identities()
    let topic = "\(broker.baseTopic)/in/\(broker.username)/request/\(command)"
    let answerTopic = "\(broker.baseTopic)/out/\(broker.username)/response/\(command)"
    let transaction = Base64.encode(RandomOctets.make(12), .urlSafe)
    let exchange = RequestExchange(
      Publication(
        topic: topic, payload: try payload(transaction, keys, topic: topic), messageExpiry: 30,
        contentType: "application/json", correlationData: Array(transaction.utf8),
        responseTopic: answerTopic)
    ) { message in
      guard message.topic == answerTopic else { return false }
      if let correlation = message.correlationData { return correlation == Array(transaction.utf8) }
      return ClientAnswer.transaction(of: message.payload) == transaction
    }
    let outcome: RequestExchange.Outcome?
    do {
      outcome = try await exchange.perform(
        broker.configuration(subscribingTo: answerTopic), within: .seconds(timeout))
    } catch let error as MosquittoError {
      throw CommandFailure(broker: error)
    }
    switch outcome {
    case nil:
      throw CommandFailure(
        .temporary, "nobody answers",
        remedy: "does the keeper run, and may \(broker.username) read \(answerTopic)?")
    case .failed(let error): throw CommandFailure(broker: error)
    case .answer(let payload):
      let answer = try ClientAnswer(
        payload, to: transaction, keys: keys, topic: answerTopic,
        needsSeal: keys != nil && Self.secret.contains(command))
      let data = String(decoding: answer.data, as: UTF8.self)
      try StandardStream.output.write(
        output.json ? "{\"data\":\(data),\"sealed\":\(answer.wasSealed)}\n" : data + "\n")
    }
  }

  private func identities() throws -> (own: Identity, keeper: PublicIdentity)? {
    guard let keeper else { return nil }
    return (try key.file().read(), try .argument(keeper, whose: "--keeper"))
  }

  /// The fields and the transaction, sealed where the keeper's key is known.
  private func payload(
    _ transaction: String, _ keys: (own: Identity, keeper: PublicIdentity)?, topic: String
  ) throws -> [UInt8] {
    var body = try readFields()
    defer { wipe(&body) }
    let start = Array("{\"transaction\":\"\(transaction)\"".utf8)
    // Nothing of the object is touched: it goes on after its brace.
    let rest = body.drop { $0 != UInt8(ascii: "{") }.dropFirst()
    let isEmpty = rest.first { $0 > 0x20 } == UInt8(ascii: "}")
    var request = start + (isEmpty ? [] : [UInt8(ascii: ",")]) + rest
    guard let keys else { return request }
    defer { wipe(&request) }
    do throws(SealingError) {
      let envelope = try Envelope.seal(
        request, to: keys.keeper, from: keys.own,
        at: .init(
          topic: topic, order: .identifier(transaction), now: Int64(Date().timeIntervalSince1970),
          lifetime: Envelope.requestLifetime))
      return start + Array(",\"sealed\":".utf8) + envelope + [UInt8(ascii: "}")]
    } catch {
      throw CommandFailure(.badInput, error.message)
    }
  }

  private func readFields() throws -> [UInt8] {
    if fields != nil {
      guard let octets = try StandardInput.read(limit: Envelope.limit),
        JSONObjectText.isObject(octets),
        JSONObjectText.value(of: "transaction", in: octets) == nil
      else {
        throw CommandFailure(
          .badInput, "standard input has no JSON object, or one with a transaction of its own")
      }
      return octets
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

extension CommandFailure {
  fileprivate init(broker error: MosquittoError) {
    switch error.reason {
    case .credentials, .notAuthorized, .clientIdentifier: self.init(.notPermitted, error.message)
    case .configuration, .protocolVersion, .tlsFiles: self.init(.configuration, error.message)
    default: self.init(.unavailable, error.message)
    }
  }
}

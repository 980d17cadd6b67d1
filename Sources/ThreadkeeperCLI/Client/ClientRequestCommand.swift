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

  @Argument(help: "The command.")
  var command: RequestCommand

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
  }

  func run() async throws {
    let exchange = ClientExchange(broker: broker, keys: try identities())
    var fields = try readFields()
    defer { wipe(&fields) }
    if command.needsConsent, StandardStream.error.isTerminal {
      try StandardStream.error.write(
        "A person may have to agree: `threadkeeper consent list` shows it to the daemon's user on its machine.\n"
      )
    }
    let answer = try await exchange.ask(command, fields, within: .seconds(timeout))
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

extension RequestCommand: ExpressibleByArgument {}

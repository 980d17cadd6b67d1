// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import BorderRouterAgent
import Broker
import FoundationEssentials
import SodiumCrypto
import ThreadRequests
import ThreadkeeperDaemon
import ThreadkeeperSupport

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

/// How a client's command reaches the broker, without any settings of a daemon.
struct BrokerOptions: ParsableArguments {
  @Option(help: "Name or address of the broker.")
  var host = "localhost"

  @Option(help: "Without it: 1883, with --cafile 8883.")
  var port: UInt16?

  @Option(
    help: ArgumentHelp(
      "Use TLS; who may have signed the broker's certificate, as PEM.", valueName: "file"))
  var cafile: String?

  @Option(
    help: ArgumentHelp(
      "Another user of this machine that may be a broker here without TLS; may be given again.",
      discussion: "root, `mosquitto` and the user that runs this may without it.",
      valueName: "user"))
  var brokerUser: [String] = []

  @Option(help: "The client's login; it also names its topics.")
  var username = ""

  @Option(
    help: ArgumentHelp(
      "Its password: the first line of a file that others cannot read.",
      valueName: "file"))
  var passwordFile: String?

  @Option(help: "The base topic of the home.")
  var baseTopic = "threadkeeper"

  /// - Throws: `ValidationError` where nobody is named.
  func requireLogin() throws {
    guard !username.isEmpty else {
      throw ValidationError("Missing expected argument '--username <username>'")
    }
  }

  func configuration(subscribingTo topic: String) throws(CommandFailure) -> MosquittoConfiguration {
    var password: String?
    if let passwordFile { password = try Password.fromFile(passwordFile) }
    let users = try brokerUser.map { name throws(CommandFailure) in
      guard let user = SystemAccount.user(name) else {
        throw CommandFailure(
          .usage, "--broker-user: this machine has no user \(name.printable)",
          remedy: "give its number")
      }
      return user
    }
    var configuration = MosquittoConfiguration(
      host: host, port: port ?? (cafile == nil ? 1883 : 8883),
      clientID: ClientIDs().id(of: ""),
      username: try Username.ofClient(username), password: password,
      tls: cafile.map { MosquittoConfiguration.TLS(caFile: $0) }, cleanStart: true,
      subscriptions: [.init(topic)])
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
    ),
    (", and does it want a client certificate (`mqtt.tls.cert_file`, `mqtt.tls.key_file`)?", "?"),
    (": set `mqtt.protocol: 3.1.1`", ", and this command speaks nothing else"),
    ("`mqtt.protocol`", "MQTT 5"),
    ("`mqtt.tls.ca_file`", "`--cafile`"), ("`mqtt.host`", "`--host`"),
    ("`mqtt.port`", "`--port`"), ("`mqtt.username`", "`--username`"),
    ("`mqtt.broker_users`", "`--broker-user`"), ("`mqtt.password`", "`--password-file`"),
    ("`mqtt.base_topic`", "`--base-topic`"),
  ]

  /// The same in words of these options.
  static func words(_ error: MosquittoError) -> String {
    if error.reason == .tlsClientCertificate {
      return "the broker wants a client certificate, and this command has none to show"
    }
    return names.reduce(error.message) { $0.replacing($1.0, with: $1.1) }
  }
}

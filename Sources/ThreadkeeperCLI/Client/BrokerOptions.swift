// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import BorderRouterAgent
import Broker
import ThreadkeeperDaemon

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
    return MosquittoConfiguration(
      host: host, port: port ?? (cafile == nil ? 1883 : 8883),
      clientID: ClientIDs().id(of: ""),
      username: try Username.ofClient(username), password: password,
      tls: cafile.map { MosquittoConfiguration.TLS(caFile: $0) }, cleanStart: true,
      subscriptions: [.init(topic)])
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
    ("`mqtt.protocol`", "MQTT 5"), (" (`mqtt.keep_alive`)", ""),
    ("`mqtt.tls.ca_file`", "`--cafile`"), ("`mqtt.host`", "`--host`"),
    ("`mqtt.port`", "`--port`"), ("`mqtt.username`", "`--username`"),
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

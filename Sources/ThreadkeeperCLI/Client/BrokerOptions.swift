// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import BorderRouterAgent
import Broker
import Glibc
import ThreadkeeperDaemon

/// How a client's command reaches the broker, without any settings of a daemon.
struct BrokerOptions: ParsableArguments {
  private static let limit = 65_535

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
    MosquittoConfiguration(
      host: host, port: port ?? (cafile == nil ? 1883 : 8883),
      clientID: ClientIDs().id(of: ""),
      username: try Username.ofClient(username), password: try password(),
      tls: cafile.map { MosquittoConfiguration.TLS(caFile: $0) }, cleanStart: true,
      subscriptions: [.init(topic)])
  }

  private func password() throws(CommandFailure) -> String? {
    guard let passwordFile else { return nil }
    return try Self.password(inFile: passwordFile)
  }

  /// The first line of a file that other users cannot read.
  static func password(inFile passwordFile: String) throws(CommandFailure) -> String {
    let descriptor = open(passwordFile, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else {
      throw CommandFailure(
        .noInput, "can't read \(passwordFile): \(String(cString: strerror(errno)))")
    }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & 0o007 == 0 else {
      throw CommandFailure(
        .notPermitted, "\(passwordFile) is open to every user of this machine",
        remedy: "chmod 600 \(passwordFile)")
    }
    var bytes = [UInt8](repeating: 0, count: Self.limit + 1)
    let count = bytes.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress, $0.count) }
    let line = bytes.prefix(max(count, 0)).prefix { $0 != 0x0A && $0 != 0x0D }
    guard line.count <= Self.limit, let text = String(validating: line, as: UTF8.self),
      !text.isEmpty
    else {
      throw CommandFailure(.badInput, "the first line of \(passwordFile) is no password")
    }
    return text
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

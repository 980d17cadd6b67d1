// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The files of the private broker.
///
/// ```
/// mosquitto.conf  acl  passwords (hashes)   written at each start
/// logins (name and password)  port          kept from run to run
/// clients/<name>/mosquitto_pub|sub|rr       options for Mosquitto's own tools
/// data/  mosquitto.log  mosquitto.pid  lock  socket
/// ```
struct BrokerDirectory {
  let path: String

  var configurationFile: String { "\(path)/mosquitto.conf" }
  var accessListFile: String { "\(path)/acl" }
  var passwordFile: String { "\(path)/passwords" }
  var loginsFile: String { "\(path)/logins" }
  var portFile: String { "\(path)/port" }
  var logFile: String { "\(path)/mosquitto.log" }
  var processFile: String { "\(path)/mosquitto.pid" }
  var lockFile: String { "\(path)/lock" }
  /// Nil where the path is longer than the kernel takes (sun_path of unix(7)).
  var socket: String? {
    let socket = "\(path)/socket"
    return socket.utf8.count < 108 ? socket : nil
  }
  var dataDirectory: String { "\(path)/data/" }

  func clientDirectory(_ user: String) -> String { "\(path)/clients/\(user)" }

  /// Whether the broker has logged that it runs: when it has read its files and opened its listeners.
  var isLoggedAsRunning: Bool { PrivateFile.read(logFile)?.contains(" running\n") == true }

  /// The end of the broker's log.
  var logTail: String {
    let lines = (PrivateFile.read(logFile, last: 4096) ?? "").split(separator: "\n")
    return lines.suffix(10).joined(separator: "\n")
  }

  var keptPort: UInt16? {
    PrivateFile.read(portFile).flatMap { UInt16($0.filter(\.isNumber)) }
  }

  /// Name to password, one pair a line with a tab in between.
  var keptPasswords: [String: String] {
    var passwords: [String: String] = [:]
    for line in (PrivateFile.read(loginsFile) ?? "").split(separator: "\n") {
      let parts = line.split(separator: "\t", maxSplits: 1)
      if parts.count == 2 { passwords[String(parts[0])] = String(parts[1]) }
    }
    return passwords
  }

  func writeLogins(_ passwords: [String: String], port: UInt16) throws(EmbeddedBrokerError) {
    let names = passwords.keys.sorted()
    try PrivateFile.write(
      names.map { "\($0)\t\(passwords[$0] ?? "")\n" }.joined(), to: loginsFile)
    try PrivateFile.makeDirectory("\(path)/clients")
    for name in names {
      let directory = clientDirectory(name)
      try PrivateFile.makeDirectory(directory)
      let options = "-h 127.0.0.1\n-p \(port)\n-u \(name)\n-P \(passwords[name] ?? "")\n"
      for tool in ["mosquitto_pub", "mosquitto_sub", "mosquitto_rr"] {
        try PrivateFile.write(options, to: "\(directory)/\(tool)")
      }
    }
  }

  func writeConfiguration(
    _ configuration: EmbeddedBrokerConfiguration, port: UInt16
  ) throws(EmbeddedBrokerError) {
    var lines = [
      "# Rewritten at each start.",
      "listener \(port) 127.0.0.1",
      "allow_anonymous \(configuration.logins.isEmpty)",
    ]
    if let socket {
      lines += [
        "# For the daemon: nobody else can listen there when the broker is away. The port is for scripts.",
        "listener 0 \(socket)",
      ]
    }
    if !configuration.logins.isEmpty {
      lines += ["password_file \(passwordFile)", "acl_file \(accessListFile)"]
    }
    if configuration.persistence {
      try PrivateFile.makeDirectory(String(dataDirectory.dropLast()))
      lines += [
        "persistence true", "persistence_location \(dataDirectory)", "autosave_interval 60",
      ]
    } else {
      lines.append("persistence false")
    }
    lines += [
      "# A stock broker keeps 1000 messages for a client that is away, and drops the newest. Not 0,",
      "# which means no limit: Mosquitto 2.0.11 then closes a connection for one denied message.",
      "max_queued_messages 1000000",
      "max_queued_bytes 268435456",
      "# A larger packet ends its connection before it fills the memory.",
      "max_packet_size 65536",
      "max_inflight_messages \(configuration.receiveMaximum)",
      "set_tcp_nodelay true",
      "log_dest stderr",
      "log_timestamp_format %Y-%m-%dT%H:%M:%S",
    ]
    // It would become another user, who can't read this directory.
    if geteuid() == 0 { lines.append("user root") }
    lines += configuration.extraConfiguration
    try PrivateFile.write(lines.joined(separator: "\n") + "\n", to: configurationFile)
  }
}

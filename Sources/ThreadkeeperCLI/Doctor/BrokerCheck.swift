// SPDX-License-Identifier: Apache-2.0

import MosquittoClient
import Settings
import ThreadkeeperDaemon

/// Whether the broker is reached with the daemon's login, and what it offers.
enum BrokerCheck {
  private static let check = Check(.broker, "broker")

  /// - Parameter loginRemedy: what helps against a wrong password, by where it comes from.
  static func findings(refused error: MosquittoError, loginRemedy: String?) -> [Finding] {
    let status: ExitStatus =
      switch error.reason {
      case .credentials, .notAuthorized: .notPermitted
      case .configuration, .protocolVersion, .clientIdentifier, .tlsFiles: .configuration
      default: .unavailable
      }
    return [check.problem(Check.sentence(error.message), remedy(error.reason, loginRemedy), status)]
  }

  /// What to do where the message itself only asks.
  private static func remedy(
    _ reason: MosquittoError.Reason, _ loginRemedy: String?
  ) -> String {
    switch reason {
    case .unknownHost, .unreachable, .noAnswer:
      "Correct `mqtt.host` in the settings, and see that the broker's machine is on"
    case .nothingListens:
      "Start the broker, `sudo systemctl start mosquitto`, or correct `mqtt.host` and `mqtt.port`"
    case .credentials, .notAuthorized:
      loginRemedy
        ?? "Run `threadkeeper login`, or correct the login on the broker: `sudo mosquitto_passwd FILE USER`"
    case .clientIdentifier:
      "Set `mqtt.client_id` to what the broker's `clientid_prefixes` asks for"
    case .protocolVersion: "Set `mqtt.protocol`"
    case .tlsFiles, .tlsCertificate, .tlsHostName, .tlsClientCertificate, .tlsHandshake:
      "Correct `mqtt.tls` and `mqtt.port` in the settings"
    case .closedByBroker:
      "Set `mqtt.tls.ca_file` where the port wants TLS, and look into the broker's log"
    default: "Look into the broker's log: `sudo journalctl -u mosquitto -n 20`"
    }
  }

  /// - Parameter values: `$SYS/broker/…`.
  static func findings(
    _ session: MosquittoSession, _ mqtt: Settings.MQTT, values: [String: String]
  ) -> [Finding] {
    let version = values["$SYS/broker/version"]
    let name = mqtt.username.map { " as \($0)" } ?? ""
    let protocolName = session.protocolVersion == .v5 ? "MQTT 5" : "MQTT 3.1.1"
    return [
      check.ok(
        "The broker lets the daemon's login in\(name), with \(protocolName)"
          + (version.map { " (\($0))" } ?? "")),
      Check(.broker, "client_id").ok(
        "It takes client ids that begin with `\(mqtt.clientID ?? "threadkeeper")`"),
    ] + offers(session) + brokerVersion(version) + transport(session, mqtt)
  }

  private static func offers(_ session: MosquittoSession) -> [Finding] {
    let check = Check(.broker, "offers")
    var findings: [Finding] = []
    if session.maximumQoS < 1 {
      findings.append(
        check.problem(
          "It takes no QoS 1", "Set `max_qos 2` in mosquitto.conf, or use another broker")
      )
    }
    if !session.isRetainAvailable {
      findings.append(
        check.problem(
          "It keeps no retained messages", "Set `retain_available true` in mosquitto.conf"))
    }
    if !session.areWildcardsAvailable {
      findings.append(
        check.problem(
          "It allows no filters with `+` and `#`", "Allow wildcard subscriptions in its settings"))
    }
    if let size = session.maximumPacketSize, size < 65_536 {
      findings.append(
        check.warning(
          "It takes only packets of at most \(size) bytes",
          "Set `max_packet_size` in mosquitto.conf to 65536 or more"))
    }
    if let most = session.serverReceiveMaximum, most <= 20 {
      findings.append(
        check.note(
          "It takes \(most) unacknowledged messages at a time, which slows much traffic",
          "Set `max_inflight_messages 4000` in mosquitto.conf"))
    }
    return findings
  }

  private static func brokerVersion(_ version: String?) -> [Finding] {
    guard let version, version.hasPrefix("mosquitto version ") else { return [] }
    let number = version.dropFirst("mosquitto version ".count)
    guard let major = number.split(separator: ".").first.flatMap({ Int($0) }), major < 2 else {
      return []
    }
    return [
      Check(.broker, "version").warning(
        "Mosquitto \(number) is older than 2.0, with which threadkeeper is tested",
        "Upgrade the broker")
    ]
  }

  private static func transport(
    _ session: MosquittoSession, _ mqtt: Settings.MQTT
  ) -> [Finding] {
    var findings: [Finding] = []
    if session.protocolVersion == .v311 {
      findings.append(
        Check(.broker, "protocol").note(
          "With MQTT 3.1.1 a broker cannot say what it refuses",
          "Set `mqtt.protocol: 5` if the broker knows it"))
    }
    if let host = hostInPlaintext(mqtt) {
      findings.append(
        Check(.broker, "tls").note(
          "Passwords and network keys travel to \(host) unencrypted",
          "Set `mqtt.tls.ca_file`, where others use this network"))
    }
    return findings
  }

  /// The broker's machine, where passwords go there unencrypted.
  static func hostInPlaintext(_ mqtt: Settings.MQTT) -> String? {
    guard case .named(let host) = mqtt.host, mqtt.tls == nil, !isThisMachine(host) else {
      return nil
    }
    return host
  }

  static func isThisMachine(_ host: String) -> Bool {
    host == "localhost" || host == "::1" || host.hasPrefix("127.")
  }
}

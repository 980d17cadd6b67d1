import Broker
import Settings
import ThreadkeeperSupport

/// Whether the broker is reached with the daemon's login, and what it offers.
package enum BrokerCheck {
  private static let check = Check(.broker, "broker")
  /// Gives the daemon another password.
  static let newLogin = "Run `threadkeeper setup`, or, while the daemon runs, `threadkeeper login`"

  /// - Parameter loginRemedy: what helps against a wrong password, by where it comes from.
  package static func findings(refused error: MosquittoError, loginRemedy: String?) -> [Finding] {
    // A client id that is refused stands in the settings, and says nothing of the login.
    let status = error.reason == .clientIdentifier ? .configuration : error.exitStatus
    return [check.problem(Check.sentence(error.message), remedy(error.reason, loginRemedy), status)]
  }

  /// Whoever of a login connects throws the others of it out, also this command's own probes.
  static let sharedClientID = [
    Check(.broker, "client_id").problem(
      "The broker gives all clients of a login one client id, so the daemon's two connections end each other",
      "Remove `use_username_as_clientid` from mosquitto.conf, or what your broker calls it, and restart the broker",
      .configuration)
  ]

  /// Whether the broker let this command in; also where it threw it out then.
  static func mayShareClientID(_ access: Result<AccessReport, MosquittoError>) -> Bool {
    switch access {
    case .success: true
    case .failure(let error): [.connectionLost, .closedByBroker, .sessionTakenOver].contains(error.reason)
    }
  }

  /// What to do where the message itself only asks.
  private static func remedy(_ reason: MosquittoError.Reason, _ loginRemedy: String?) -> String {
    switch reason {
    case .unknownHost, .unreachable, .noAnswer:
      "Correct `mqtt.host` in the settings, and see that the broker's machine is on"
    case .nothingListens: "Start the broker, `sudo systemctl start mosquitto`, or correct `mqtt.host` and `mqtt.port`"
    case .credentials, .notAuthorized:
      loginRemedy ?? "\(newLogin); or correct the login on the broker: `sudo mosquitto_passwd FILE USER`"
    case .clientIdentifier: "Set `mqtt.client_id` to what the broker's `clientid_prefixes` asks for"
    case .protocolVersion: "Set `mqtt.protocol`"
    case .untrustedListener: "Start the broker before other programs can take its port, use a port below 1024, or TLS"
    case .tlsFiles, .tlsCertificate, .tlsHostName, .tlsClientCertificate, .tlsHandshake:
      "Correct `mqtt.tls` and `mqtt.port` in the settings"
    case .closedByBroker: "Set `mqtt.tls.ca_file` where the port wants TLS, and look into the broker's log"
    default: "Look into the broker's log: `sudo journalctl -u mosquitto -n 20`"
    }
  }

  /// - Parameter values: `$SYS/broker/…`.
  package static func findings(_ session: MosquittoSession, _ mqtt: Settings.MQTT, values: [String: String])
    -> [Finding]
  {
    let version = values["$SYS/broker/version"]
    let name = mqtt.username.map { " as \($0)" } ?? ""
    let protocolName = session.protocolVersion == .v5 ? "MQTT 5" : "MQTT 3.1.1"
    return [
      check.ok(
        "The broker lets the daemon's login in\(name), with \(protocolName)" + (version.map { " (\($0))" } ?? "")),
      Check(.broker, "client_id").ok(
        "It takes client ids that begin with "
          + (mqtt.clientID == nil ? "`threadkeeper`" : "the value of `mqtt.client_id`")),
    ] + transport(session, mqtt)
  }

  private static func transport(_ session: MosquittoSession, _ mqtt: Settings.MQTT) -> [Finding] {
    var findings: [Finding] = []
    if session.protocolVersion == .v311 {
      findings.append(
        Check(.broker, "protocol").note(
          "With MQTT 3.1.1 a broker cannot say what it refuses", "Set `mqtt.protocol: 5` if the broker knows it"))
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
    guard case .named(let host) = mqtt.host, mqtt.tls == nil, !isThisMachine(host) else { return nil }
    return host
  }

  static func isThisMachine(_ host: String) -> Bool { Loopback.contains(host: host) }
}

extension Settings.MQTT {
  /// Tries the login.
  ///
  /// - Returns: why the broker does not let it in, or is not reached; nil where it does, and for the private one.
  func refusal(within limit: Duration = .seconds(15)) async -> MosquittoError? {
    guard case .named(let host) = host,
      case .failure(let error) = await BrokerProbe(.init(self, host: host), within: limit).greeting()
    else { return nil }
    return error
  }
}

extension MosquittoError {
  /// The broker was reached, and does not let this login in.
  var isRefusal: Bool { reason == .credentials || reason == .notAuthorized }

  /// How a command ends that needs the broker.
  var exitStatus: ExitStatus {
    switch reason {
    case .credentials, .notAuthorized, .clientIdentifier: .notPermitted
    case .configuration, .protocolVersion, .tlsFiles: .configuration
    default: .unavailable
    }
  }
}

/// Whether the broker keeps what waits for the daemon. A client learns nothing of it, so the broker's own file has to be
/// read, where it is on this machine.
package enum QueueCheck {
  private static let persistence = "`\(MosquittoOptions.persistence)`"
  private static let queue = MosquittoOptions.queue.map { "`\($0)`" }.listed

  /// - Parameter options: of the broker, where it is on this machine and can be read.
  package static func findings(_ options: MosquittoOptions?) -> [Finding] {
    let queue = Check(.broker, "queue")
    let persistence = Check(.broker, "persistence")
    guard let options else {
      return [
        queue.notChecked(
          "How many messages wait for the daemon while it is away, and whether they outlive a restart of the "
            + "broker: no client can see it", "Look into mosquitto.conf for \(persistence), \(queue)")
      ]
    }
    var findings: [Finding] = []
    if options.isPersistent {
      findings.append(persistence.ok("Sessions and what waits in them outlive a restart of the broker"))
    } else {
      findings.append(
        persistence.warning(
          "A restart of the broker forgets what waits for the daemon",
          "Set \(persistence) in mosquitto.conf, and restart it"))
    }
    let most = options.queueLimit
    if options.keepsQueue {
      findings.append(queue.ok("Up to \(most == 0 ? "any number of" : "\(most)") messages wait"))
    } else {
      findings.append(
        queue.warning(
          "Only \(most) messages wait for the daemon while it is away; the broker drops the rest",
          "Set \(queue) in mosquitto.conf, and restart it"))
    }
    return findings
  }

  /// - Parameter passesLarge: nil where each client has a limit of its own.
  static func large(_ passesLarge: Bool?) -> [Finding] {
    let check = Check(.broker, "message_size")
    guard let passesLarge else { return [] }
    return passesLarge
      ? [
        check.warning(
          "The broker passes on messages of more than a megabyte, and with MQTT 3.1.1 no client can refuse them: "
            + "one of 200 MB can end the daemon",
          "Set `mqtt.protocol: 5`, or `\(MosquittoOptions.messageSize)` in mosquitto.conf, and restart the broker")
      ] : [check.ok("No message of more than a megabyte reaches a client")]
  }

  /// - Parameter values: `$SYS/broker/…`.
  package static func dropped(_ values: [String: String]) -> [Finding] {
    let check = Check(.broker, "dropped")
    guard !values.isEmpty else {
      return [
        check.notChecked(
          "Whether the broker drops messages: the daemon's login reads nothing below `$SYS/broker/`",
          "Add `topic read $SYS/broker/#` for it, as `threadkeeper acl` does")
      ]
    }
    guard let count = values["$SYS/broker/publish/messages/dropped"].flatMap({ Int($0) }) else { return [] }
    return count == 0
      ? [check.ok("The broker has dropped no message since its start")]
      : [
        check.note(
          "The broker has dropped \(count) messages since its start, of this or another client",
          "Set \(persistence), \(queue) in mosquitto.conf")
      ]
  }
}

/// What the broker keeps that it should not.
enum RetainedCheck {
  /// Topics that are named; the others are counted.
  private static let shown = 3

  /// - Parameters:
  ///   - report: of a probe of these bases.
  ///   - routers: topics of the routers that are listed, `<base>/router/<id>`; nil where that is not known.
  static func findings(_ report: AccessReport, bases: [String], routers: Set<String>?) -> [Finding] {
    let check = Check(.broker, "retained")
    var findings: [Finding] = []
    let inbound = topics(report, below: "in", of: bases)
    if !inbound.isEmpty {
      findings.append(
        check.warning(
          "The broker keeps messages that are not to be retained, perhaps with network keys: " + list(inbound),
          "Clear each: `mosquitto_pub -r -n -t TOPIC`, as the login that may write there"))
    }
    let end = "/availability"
    let kept = topics(report, below: "router", of: bases).filter { $0.hasSuffix(end) }.map {
      String($0.dropLast(end.count))
    }
    if let routers {
      let left = kept.filter { !routers.contains($0) }
      if !left.isEmpty {
        findings.append(
          check.warning(
            "The broker keeps states of border routers that are not listed: \(list(left))",
            "Clear each with the daemon's login: `mosquitto_sub -t 'TOPIC/#' --remove-retained --retained-only -W 2`"))
      }
    } else if !kept.isEmpty {
      findings.append(
        check.notChecked(
          "Whether the broker keeps states of routers that are gone: the store cannot be read here",
          "Run this as the daemon's user"))
    }
    // What the login may not read, it does not get.
    let hidden = bases.filter { base in
      report.own.contains {
        $0.topic.base == base && [.inbound, .router].contains($0.topic.group) && $0.outcome != .delivered
      }
    }
    if !hidden.isEmpty {
      findings.append(
        check.notChecked(
          "Whether the broker keeps leftovers below \(list(hidden)): the daemon's login does not read all "
            + "of `in/` and `router/` there"))
    }
    guard findings.isEmpty else { return findings }
    return [check.ok("The broker keeps no messages below `in/`, and no states of unlisted border routers")]
  }

  private static func topics(_ report: AccessReport, below level: String, of bases: [String]) -> [String] {
    report.retained.filter { topic in bases.contains { topic.utf8.starts(with: "\($0)/\(level)/".utf8) } }
  }

  private static func list(_ topics: [String]) -> String {
    let more = topics.count - shown
    return topics.prefix(shown).map { "`\($0)`" }.listed + (more > 0 ? " and \(more) more" : "")
  }
}

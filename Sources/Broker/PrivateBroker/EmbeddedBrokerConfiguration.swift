import Glibc

/// What the private broker shall be like.
package struct EmbeddedBrokerConfiguration: Sendable {
  /// Where its files lie; made with mode 0700 when it is not there. Passwords and port found in it
  /// are used again.
  package var directory: String
  /// Nil: the port of the last run if it is free, else any free one.
  package var port: UInt16?
  /// The base topics that the access list is about.
  package var baseTopics: [String]
  /// Home Assistant's discovery prefix, for the same list.
  package var discoveryPrefix = "homeassistant"
  /// Whether sessions and retained messages survive an end of the broker, in `directory/data`.
  package var persistence: Bool
  /// Who may log in. With none, everybody may do everything.
  package var logins: [Login]
  /// How many unacknowledged messages the broker gives to, and takes from, each client.
  package var receiveMaximum: UInt16 = 4000
  /// Lines for the end of mosquitto.conf.
  package var extraConfiguration: [String] = []
  /// The program; nil looks in `PATH` and where Debian puts it.
  package var program: String?
  /// How long it may take until it accepts connections.
  package var startLimit = Duration.seconds(10)
  /// How long it may take to end after SIGTERM, before SIGKILL.
  package var stopLimit = Duration.seconds(5)

  package init(
    directory: String, port: UInt16? = nil, baseTopics: [String] = ["threadkeeper"], persistence: Bool = true,
    logins: [Login] = Login.home
  ) {
    self.directory = directory
    self.port = port
    self.baseTopics = baseTopics
    self.persistence = persistence
    self.logins = logins
  }
}

extension EmbeddedBrokerConfiguration {
  /// A user of the broker. The password is made up unless it is given.
  package struct Login: Sendable {
    package enum Role: Sendable {
      /// threadkeeper itself: everything under the base topics.
      case daemon
      /// Reads state, events and alerts.
      case monitor
      /// Writes under `in/<name>/`, reads under `out/<name>/`.
      case client
    }

    package var name: String
    package var role: Role
    package var password: String?

    package init(_ name: String, role: Role = .client, password: String? = nil) {
      self.name = name
      self.role = role
      self.password = password
    }

    /// The logins of a home: the daemon, one that border routers share, and one that watches.
    package static var home: [Login] {
      [Login("threadkeeper", role: .daemon), Login("border-router"), Login("monitor", role: .monitor)]
    }
  }
}

extension EmbeddedBrokerConfiguration.Login: CustomStringConvertible, CustomReflectable {
  /// The name; never the password.
  package var description: String { name }

  package var customMirror: Mirror { Mirror(self, children: ["name": name, "role": role]) }
}

/// Why the private broker is not there, in words that say what to do.
package struct EmbeddedBrokerError: Error, Sendable, Equatable, CustomStringConvertible {
  package enum Reason: String, Sendable {
    case programMissing = "program_missing"
    case directory
    case alreadyRunning = "already_running"
    case portTaken = "port_taken"
    case notReady = "not_ready"
    case died
    case accessList = "access_list"
    case password
    case system
  }

  package var reason: Reason
  package var message: String

  package var description: String { message }

  init(_ reason: Reason, _ message: String) {
    self.reason = reason
    self.message = message
  }

  static func programMissing(_ name: String, package: String) -> EmbeddedBrokerError {
    EmbeddedBrokerError(
      .programMissing,
      "`mqtt.host: embedded` needs the program `\(name)`, which is not installed "
        + "(`apt install \(package)`); or name the broker you have in `mqtt.host`")
  }

  static func file(_ path: String, _ doing: String, _ code: Int32) -> EmbeddedBrokerError {
    EmbeddedBrokerError(.directory, "can't \(doing) `\(path)`: \(errorText(code))")
  }

  static func foreignDirectory(_ path: String, owner: UInt32) -> EmbeddedBrokerError {
    EmbeddedBrokerError(
      .directory,
      "can't use the directory `\(path)`: it belongs to user \(owner). Run threadkeeper as that user, or "
        + "remove the directory or name another with --state-directory")
  }

  static func alreadyRunning(_ directory: String) -> EmbeddedBrokerError {
    EmbeddedBrokerError(
      .alreadyRunning, "the private broker of `\(directory)` already runs for another process: stop that one first")
  }

  static func portTaken(_ port: UInt16, log: String) -> EmbeddedBrokerError {
    EmbeddedBrokerError(
      .portTaken, "the private broker can't listen on 127.0.0.1:\(port): another program does\(tail(log))")
  }

  static func notReady(_ seconds: Int64, log: String) -> EmbeddedBrokerError {
    EmbeddedBrokerError(.notReady, "the private broker takes no connection after \(seconds) s\(tail(log))")
  }

  static func died(_ how: String, log: String) -> EmbeddedBrokerError {
    EmbeddedBrokerError(.died, "the private broker has ended (\(how))\(tail(log))")
  }

  static func password(_ message: String) -> EmbeddedBrokerError { EmbeddedBrokerError(.password, message) }

  static func accessList(_ error: AccessListError) -> EmbeddedBrokerError {
    EmbeddedBrokerError(.accessList, error.message)
  }

  static func system(_ call: String, _ code: Int32) -> EmbeddedBrokerError {
    EmbeddedBrokerError(.system, "\(call) failed: \(errorText(code))")
  }

  /// One line: commands and logs print what ends one as an escape. Without the lines about clients: who knows the
  /// daemon's client id can take its session.
  private static func tail(_ log: String) -> String {
    let lines = log.split(whereSeparator: \.isNewline).filter { !$0.lowercased().contains("client") }
    return lines.isEmpty ? "" : ". Its log ends with: \(lines.joined(separator: " / "))"
  }

  private static func errorText(_ code: Int32) -> String {
    strerror(code).map { String(cString: $0) } ?? "error \(code)"
  }
}

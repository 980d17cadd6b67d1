// SPDX-License-Identifier: Apache-2.0

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
  package var receiveMaximum: UInt16
  /// Lines for the end of mosquitto.conf.
  package var extraConfiguration: [String]
  /// The program; nil looks in `PATH` and where Debian puts it.
  package var program: String?
  /// How long it may take until it accepts connections.
  package var startLimit: Duration
  /// How long it may take to end after SIGTERM, before SIGKILL.
  package var stopLimit: Duration

  package init(
    directory: String, port: UInt16? = nil, baseTopics: [String] = ["threadkeeper"],
    persistence: Bool = true, logins: [Login] = Login.home, receiveMaximum: UInt16 = 4000,
    extraConfiguration: [String] = [], program: String? = nil,
    startLimit: Duration = .seconds(10), stopLimit: Duration = .seconds(5)
  ) {
    self.directory = directory
    self.port = port
    self.baseTopics = baseTopics
    self.persistence = persistence
    self.logins = logins
    self.receiveMaximum = receiveMaximum
    self.extraConfiguration = extraConfiguration
    self.program = program
    self.startLimit = startLimit
    self.stopLimit = stopLimit
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
      [
        Login("threadkeeper", role: .daemon), Login("border-router"),
        Login("monitor", role: .monitor),
      ]
    }
  }
}

extension EmbeddedBrokerConfiguration.Login: CustomStringConvertible, CustomReflectable {
  /// The name; never the password.
  package var description: String { name }

  package var customMirror: Mirror {
    Mirror(self, children: ["name": name, "role": role])
  }
}

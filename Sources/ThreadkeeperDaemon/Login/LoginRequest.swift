// SPDX-License-Identifier: Apache-2.0

/// What `login` and `logout` ask of the running daemon. See docs/reference/daemon-socket.md.
package struct LoginRequest: DaemonRequest {
  package typealias Report = LoginReport

  package enum Command: String, Codable, CaseIterable, Sendable {
    case login = "broker/login"
    case logout = "broker/logout"
  }

  package var v = DaemonRequestVersion.current
  package var command: Command
  /// The broker that the caller's settings name, as `BrokerAddress.url`. A daemon that speaks to
  /// another one, or to the same one without TLS, says so.
  package var broker: String
  package var username: String?
  package var password: String?
  /// False stores the login without asking the broker.
  package var validate: Bool?

  package init(
    command: Command, broker: String, username: String? = nil, password: String? = nil,
    validate: Bool? = nil
  ) {
    self.command = command
    self.broker = broker
    self.username = username
    self.password = password
    self.validate = validate
  }
}

extension LoginRequest: CustomStringConvertible, CustomReflectable {
  /// Never the password.
  package var description: String { command.rawValue }
  package var customMirror: Mirror { Mirror(self, children: ["command": command.rawValue]) }
}

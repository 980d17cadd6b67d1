// SPDX-License-Identifier: Apache-2.0

/// What `login` and `logout` ask of the running keeper. See docs/reference/daemon-socket.md.
struct LoginRequest: KeeperRequest {
  typealias Report = LoginReport

  enum Command: String, Codable, CaseIterable, Sendable {
    case login = "broker/login"
    case logout = "broker/logout"
  }

  var v = KeeperVersion.current
  var command: Command
  /// The broker that the caller's settings name, as `BrokerAddress.url`. A keeper that speaks to
  /// another one, or to the same one without TLS, says so.
  var broker: String
  var username: String?
  var password: String?
  /// False stores the login without asking the broker.
  var validate: Bool?
}

extension LoginRequest: CustomStringConvertible, CustomReflectable {
  /// Never the password.
  var description: String { command.rawValue }
  var customMirror: Mirror { Mirror(self, children: ["command": command.rawValue]) }
}

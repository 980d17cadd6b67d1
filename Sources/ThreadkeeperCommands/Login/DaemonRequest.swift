// SPDX-License-Identifier: Apache-2.0

/// What `login` and `logout` ask of the running keeper. See docs/architecture.md.
struct DaemonRequest: KeeperRequest {
  typealias Report = LoginReport

  /// Of the form of requests and answers. Another one is not guessed at.
  static let version = 1

  enum Command: String, Codable, CaseIterable, Sendable {
    case login = "broker/login"
    case logout = "broker/logout"
  }

  var v = version
  var command: Command
  /// The broker that the caller's settings name, as `BrokerAddress.url`. A keeper that speaks to
  /// another one, or to the same one without TLS, says so.
  var broker: String
  var username: String?
  var password: String?
  /// False stores the login without asking the broker.
  var validate: Bool?

  static func check(version: Int) throws(CommandFailure) {
    guard version == Self.version else {
      throw CommandFailure(
        .usage, "the running keeper does not know requests of version \(version)",
        remedy: "is it of another version? Start it again")
    }
  }
}

extension DaemonRequest: CustomStringConvertible, CustomReflectable {
  /// Never the password.
  var description: String { command.rawValue }
  var customMirror: Mirror { Mirror(self, children: ["command": command.rawValue]) }
}

/// What comes of it.
struct LoginReport: Codable, Sendable {
  /// `added` or `updated`.
  var stored: String?
  /// The users whose logins are deleted.
  var deleted: [String]?
  /// Whether the keeper goes on with what is stored now; not while the settings have a password.
  var inUse: Bool

  enum CodingKeys: String, CodingKey {
    case stored, deleted
    case inUse = "in_use"
  }
}

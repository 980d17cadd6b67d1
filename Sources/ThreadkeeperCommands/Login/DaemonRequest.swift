// SPDX-License-Identifier: Apache-2.0

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What a command asks of the running keeper, as JSON. See docs/architecture.md.
struct DaemonRequest: Codable, Sendable {
  /// Of the form of requests and answers. Another one is not guessed at.
  static let version = 1

  enum Command: String, Codable, Sendable {
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

  var octets: [UInt8] { get throws { try Array(JSONEncoder().encode(self)) } }

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

/// What the keeper answers: the form of an answer over MQTT, and a number for the exit status.
struct DaemonAnswer: Codable, Sendable {
  enum Status: String, Codable, Sendable {
    case ok, error
  }

  struct Failure: Codable, Sendable {
    /// Stable: `refused`, `unavailable`, `conflict`, `invalid_payload`, `ending`,
    /// `store`.
    var code: String
    var message: String
    var help: String?
    /// The exit status that the command should end with.
    var exit: Int32
  }

  struct Result: Codable, Sendable {
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

  var v = DaemonRequest.version
  var status: Status
  var error: Failure?
  var data: Result?

  init(_ result: Result) {
    status = .ok
    data = result
  }

  init(_ failure: CommandFailure) {
    status = .error
    let code =
      switch failure.status {
      case .notPermitted: "refused"
      case .unavailable: "unavailable"
      case .configuration: "conflict"
      case .usage: "invalid_payload"
      case .temporary: Self.ending
      default: "store"
      }
    error = Failure(
      code: code, message: failure.message, help: failure.remedy, exit: failure.status.rawValue)
  }

  var octets: [UInt8] { get throws { try Array(JSONEncoder().encode(self)) } }

  /// What the answer comes to.
  func result() throws(CommandFailure) -> Result {
    guard v == DaemonRequest.version else { throw Self.unreadable }
    if let data, status == .ok { return data }
    guard let error else { throw Self.unreadable }
    throw CommandFailure(
      ExitStatus(rawValue: error.exit) ?? .software, error.message, remedy: error.help)
  }

  /// The keeper ends before it has done what it was asked for.
  static let ending = "ending"

  static let unreadable = CommandFailure(
    .software, "the running keeper gives an answer that cannot be read",
    remedy: "is it of another version? Start it again")
}

// SPDX-License-Identifier: Apache-2.0

/// What `routers transfer`, `release` and `remove` ask of the daemon that holds the store.
struct RoutersRequest: KeeperRequest {
  enum Command: String, Codable, CaseIterable, Sendable {
    case transfer = "routers/transfer"
    case release = "routers/release"
    case remove = "routers/remove"
  }

  var v = KeeperVersion.current
  var command: Command
  var home: String
  /// 16 or 32 hex digits.
  var agent: String
  /// Of `transfer`.
  var team: String?

  typealias Report = RoutersReport
}

/// What has changed. Also what the commands print with `--json`.
struct RoutersReport: Codable, Sendable {
  var home: String
  var borderAgentID: String
  /// Absent where nobody owned the id.
  var previousTeam: String?
  /// Absent where nobody owns it now.
  var team: String?
  /// Whether credentials were stored under the id: handed to the team, or deleted.
  var credentials: Bool
  var changed: Bool
  /// Of `transfer`: whether a login of the team has announced a router before.
  var teamKnown: Bool?

  enum CodingKeys: String, CodingKey {
    case home
    case borderAgentID = "border_agent_id"
    case previousTeam = "previous_team"
    case team, credentials, changed
    case teamKnown = "team_known"
  }
}

// SPDX-License-Identifier: Apache-2.0

/// What `routers transfer`, `release` and `remove` ask of the daemon that holds the store.
package struct RoutersRequest: DaemonRequest {
  package enum Command: String, Codable, CaseIterable, Sendable {
    case transfer = "routers/transfer"
    case release = "routers/release"
    case remove = "routers/remove"
  }

  package var v = DaemonRequestVersion.current
  package var command: Command
  package var home: String
  /// 16 or 32 hex digits.
  package var agent: String
  /// Of `transfer`.
  package var team: String?

  package init(command: Command, home: String, agent: String, team: String? = nil) {
    self.command = command
    self.home = home
    self.agent = agent
    self.team = team
  }

  package typealias Report = RoutersReport
}

/// What has changed. Also what the commands print with `--json`.
package struct RoutersReport: Codable, Sendable {
  package var home: String
  package var borderAgentID: String
  /// Absent where nobody owned the id.
  package var previousTeam: String?
  /// Absent where nobody owns it now.
  package var team: String?
  /// Whether credentials were stored under the id: handed to the team, or deleted.
  package var credentials: Bool
  package var changed: Bool
  /// Of `transfer`: whether a login of the team has announced a router before.
  package var teamKnown: Bool?

  enum CodingKeys: String, CodingKey {
    case home
    case borderAgentID = "border_agent_id"
    case previousTeam = "previous_team"
    case team, credentials, changed
    case teamKnown = "team_known"
  }
}

// SPDX-License-Identifier: Apache-2.0

import VarlinkSocket

/// `io.threadkeeper.Routers`: who owns a border agent id, and what is there on purpose.
package enum RoutersMethods {
  private static let interface = VarlinkInterface.routers.name

  package static let transfer = VarlinkMethod<RouterTransfer, RoutersReport>(
    interface, "Transfer", for: .owner)
  package static let release = VarlinkMethod<RouterSelection, RoutersReport>(
    interface, "Release", for: .owner)
  package static let remove = VarlinkMethod<RouterSelection, RoutersReport>(
    interface, "Remove", for: .owner)
  package static let accept = VarlinkMethod<RouterSelection, RouterAcceptance>(
    interface, "Accept", for: .owner)
  package static let acceptNetwork = VarlinkMethod<NetworkSelection, NetworkAcceptance>(
    interface, "AcceptNetwork", for: .owner)
}

/// A border agent id of a home.
package struct RouterSelection: Codable, Sendable {
  package var home: String
  /// 16 or 32 hexadecimal digits.
  package var borderAgentId: String

  package init(home: String, borderAgentId: String) {
    self.home = home
    self.borderAgentId = borderAgentId
  }
}

/// A border agent id of a home, and the team that is to own it.
package struct RouterTransfer: Codable, Sendable {
  package var home: String
  /// 16 or 32 hexadecimal digits.
  package var borderAgentId: String
  package var team: String

  package init(_ router: RouterSelection, team: String) {
    home = router.home
    borderAgentId = router.borderAgentId
    self.team = team
  }
}

/// What has changed. Also what the commands print with `--json`.
package struct RoutersReport: Codable, Sendable {
  package var home: String
  package var borderAgentId: String
  /// Absent where nobody owned the id.
  package var previousTeam: String?
  /// Absent where nobody owns it now.
  package var team: String?
  /// Whether credentials were stored under the id: handed to the team, or deleted.
  package var credentials: Bool
  package var changed: Bool
  /// Of a transfer: whether a login of the team has announced a router before.
  package var teamKnown: Bool?
}

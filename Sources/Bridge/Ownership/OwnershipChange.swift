// SPDX-License-Identifier: Apache-2.0

import BridgeProtocol

/// What a transfer, release or removal of a border agent id has changed.
package struct OwnershipChange: Sendable, Hashable {
  /// The team that owned the id before; nil where none did.
  package var previousTeam: String?
  /// The team that owns it now; nil where none does.
  package var team: String?
  /// Whether credentials were stored under the id before.
  package var hadCredentials: Bool
  /// Whether the owner could not be read, because what is stored of it is damaged.
  package var isDamaged = false
  /// Whether the router was listed before.
  package var wasListed: Bool
  /// Whether a login of the new team has announced a router to this store before.
  package var isTeamKnown = true

  package var isChange: Bool { team == nil || previousTeam?.hasBytes(of: team ?? "") != true }
}

/// Why the owner of a border agent id cannot be changed.
package enum OwnershipFailure: Error, Hashable, Sendable {
  /// Nothing is stored or listed under the id.
  case unknownID
  /// The router is listed, and no team owns its id.
  case unownedID
  /// What is stored of the owner is damaged, so it cannot be given to another team.
  case damaged
}

// SPDX-License-Identifier: Apache-2.0

import ThreadDataset

/// What one transaction has changed of a home, and what is decided again when it ends.
struct HomeChanges {
  /// The network that all members of the preferred network are on instead.
  var movedTo: ExtendedPANID?
  /// The preferred network has changed, so every router is checked again from the first one.
  var isPreferredNew = false
  /// The keys of the preferred network may be disputed now, or no more.
  var needsKeyCheck = false
  /// Something changed that an alert of the home may be about.
  var hasChangedRouters = false
  /// Routers came or went between networks, so the home may have moved.
  var needsMoveCheck = false
  /// Alerts of routers may have to end or to come back.
  var needsRouterChecks = false
  /// A router came or went, or the preferred network changed.
  var needsHomeCheck = false
  /// Routers that joined less those that left.
  var routers = 0
  /// Users whose unsealed datasets were noted.
  var plaintextUsers: Set<String> = []

  /// A router joined or left.
  mutating func count(routers change: Int) {
    routers += change
    needsHomeCheck = true
  }
}

// SPDX-License-Identifier: Apache-2.0

import ThreadDataset

/// Whether a change of a router's credentials changes the preferred network of its home.
package enum PreferredDecision: Hashable, Sendable {
  /// Which changes of its members the preferred network follows.
  package enum Following: Sendable {
    /// A newer dataset of the same Extended PAN ID. A router that drifts away takes nothing along.
    case sameNetwork
    /// Any change, as Apple documents for its API.
    case any
  }

  case keep
  /// The first network of the home becomes the preferred one.
  case establish
  /// A member brings the preferred network's new dataset.
  case follow

  package init(
    preferred: OperationalDataset?, isMember: Bool, change: DatasetDecision,
    incoming: OperationalDataset, following: Following
  ) {
    guard change.isStored else {
      self = .keep
      return
    }
    guard let preferred else {
      self = .establish
      return
    }
    switch change {
    case .update where isMember && incoming.relation(to: preferred) == .newer: self = .follow
    case .move where isMember && following == .any: self = .follow
    default: self = .keep
    }
  }
}

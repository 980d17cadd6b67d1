// SPDX-License-Identifier: Apache-2.0

import ThreadDataset

/// Why the preferred network of a home is another one, or has other parameters.
package enum PreferredCause: Hashable, Sendable {
  /// The first network of the home.
  case first
  /// A member reports other parameters with the same keys and a later timestamp.
  case sameKeys
  /// The only member reports new keys.
  case onlyMember
  /// A second member reports the same new keys.
  case confirmed(by: BorderAgentID)
  /// A program of the owning team stored it on this machine.
  case owner
  /// A person chose it, or decided that no network is preferred.
  case person

  /// Whether border routers report it, and nobody chose it.
  package var isReported: Bool {
    switch self {
    case .first, .sameKeys, .onlyMember, .confirmed: true
    case .owner, .person: false
    }
  }
}

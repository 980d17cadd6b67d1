// SPDX-License-Identifier: Apache-2.0

import Broker

/// What the credentials for a login would be sealed to.
enum AdoptionKey: Hashable, Sendable {
  /// The fingerprint of its enrolled key.
  case enrolled(String)
  case notEnrolled
  /// What is stored of the login's keys, or of the daemon's own, cannot be read.
  case damaged
  /// This process seals nothing, as a command without a daemon: the next daemon checks it.
  case unknown

  /// What becomes of an adoption for which nothing can be sealed.
  var obstacle: AdoptionState? {
    switch self {
    case .enrolled, .unknown: nil
    case .notEnrolled: .notEnrolled
    case .damaged: .damagedKeys
    }
  }

  func isSame(as other: AdoptionKey) -> Bool {
    self == other || self == .unknown || other == .unknown
  }
}

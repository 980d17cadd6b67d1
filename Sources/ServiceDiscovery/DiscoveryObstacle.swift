// SPDX-License-Identifier: Apache-2.0

/// Why services cannot be found on this machine, and what to do about it.
package struct DiscoveryObstacle: Error, Sendable, Equatable {
  /// One sentence.
  package let message: String
  /// What to do, as an imperative.
  package let remedy: String

  package init(message: String, remedy: String) {
    self.message = message
    self.remedy = remedy
  }
}

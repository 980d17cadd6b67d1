// SPDX-License-Identifier: Apache-2.0

import SQLiteDatabase

/// Remembers which sealed requests have come. In the caller's transaction: what a rollback undoes has not
/// come, and what was committed is remembered after a restart too.
package protocol ReplayMemory: Sendable {
  /// Takes note of a request that was opened, and says what it is.
  ///
  /// - Parameter now: Unix seconds.
  func take(
    _ request: SealedRequestName, now: Int64, _ tx: WriteTransaction
  ) throws -> ReplayVerdict
}

/// What makes a sealed request different from every other one.
package struct SealedRequestName: Sendable {
  /// The signer's public key.
  package let issuer: [UInt8]
  package let identifier: String
  /// Unix seconds from which on the envelope does not open any more.
  package let ends: Int64

  package init(issuer: [UInt8], identifier: String, ends: Int64) {
    self.issuer = issuer
    self.identifier = identifier
    self.ends = ends
  }
}

package enum ReplayVerdict: Hashable, Sendable {
  case news
  case replayed
  /// As old as others of this signer that are forgotten, so nobody knows: a clock was set back.
  case forgotten
  /// This signer has too many alive; nothing is remembered of this one.
  case full
}

// SPDX-License-Identifier: Apache-2.0

/// What a restore has done.
package struct RestoreReport: Equatable, Sendable {
  package var backup: BackupTrailer
  /// Whether there was a store in its place.
  package var replaced: Bool
  /// By how many changes the anchor was ahead of the backup: they are lost.
  package var behindBy: UInt64
  /// Items that could not be tried: of a locked class, or for another device only.
  package var locked: Int
  /// Why the anchor could not be written. It is then behind the store, until that is opened again.
  package var anchorProblem: String?
}

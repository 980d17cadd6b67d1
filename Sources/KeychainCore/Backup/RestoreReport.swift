// SPDX-License-Identifier: Apache-2.0

/// What a restore has done.
package struct RestoreReport: Equatable, Sendable {
  package var backup: BackupTrailer
  /// Whether there was a store in its place.
  package var replaced: Bool
  /// By how many generations the anchor was ahead of the backup; nil where there was none to compare with.
  package var behindBy: UInt64?
  /// Changes that the backup does not have: they are lost. Nil where there is no telling how many, because a backup was
  /// restored meanwhile, or several: each leaves out `BackupRestore.margin` generations.
  package var changesLost: UInt64? { behindBy.flatMap { $0 < BackupRestore.margin ? $0 : nil } }
  /// Items that could not be tried: of a locked class, or for another device only.
  package var locked: Int
  /// Why the anchor could not be written. It is then behind the store, until that is opened again.
  package var anchorProblem: String?
}

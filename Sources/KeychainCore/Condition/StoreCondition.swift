// SPDX-License-Identifier: Apache-2.0

/// Whether the store is what its manifest and its anchor say.
package enum StoreCondition: Equatable, Sendable {
  case healthy
  /// Reading goes on, writing is refused.
  case readOnly(Reason)

  package enum Reason: Equatable, Sendable, CustomStringConvertible {
    /// Rows were put in, taken out or replaced by older ones.
    case manifestMismatch
    /// The file itself is damaged: its indexes do not agree with its rows.
    case fileDamaged
    /// The manifest itself was altered or taken out.
    case manifestUnreadable
    /// The file is an older one than the anchor remembers.
    case rolledBack(behindBy: UInt64)

    /// Whether rows or indexes may be missing, so that nothing can be said about what is not found.
    var hidesItems: Bool {
      switch self {
      case .manifestMismatch, .fileDamaged, .manifestUnreadable: true
      case .rolledBack: false
      }
    }

    package var description: String {
      switch self {
      case .manifestMismatch:
        "rows of the store were added, removed or replaced behind its back: restore a backup"
      case .fileDamaged:
        "the file of the store is damaged: restore a backup"
      case .manifestUnreadable:
        "the manifest of the store was altered: restore a backup"
      case .rolledBack(let behindBy):
        "the store is \(behindBy) changes older than its anchor: an old copy was put in its place."
          + " If you did that, accept it with `threadkeeper store restore --in-place`"
      }
    }
  }
}

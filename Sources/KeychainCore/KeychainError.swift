// SPDX-License-Identifier: Apache-2.0

/// A refusal: the number that Keychain Services would answer, and words that say what, where and
/// what to do. Never a secret.
package struct KeychainError: Error, Equatable, Sendable, CustomStringConvertible {
  package typealias Status = KeychainStatus

  package let status: Status
  package let message: String
  /// Who holds the store, when that is the reason.
  package let lockHolder: LockHolder?
  /// Whether nothing was done yet and will be once the store is opened again: another process has
  /// changed the ways into it.
  package let asksForReopening: Bool
  /// Whether the same call may go well at another time, without anybody's doing.
  package let isTemporary: Bool
  /// Whether SQLite has met a page that cannot be one.
  package let isFileDamaged: Bool

  package init(
    _ status: Status, _ message: String, lockHolder: LockHolder? = nil,
    asksForReopening: Bool = false, isTemporary: Bool = false,
    isFileDamaged: Bool = false
  ) {
    self.status = status
    self.message = message
    self.lockHolder = lockHolder
    self.asksForReopening = asksForReopening
    self.isFileDamaged = isFileDamaged
    self.isTemporary = isTemporary || asksForReopening || lockHolder != nil
  }

  /// Whether one item does not open; others may.
  package var isItemDamaged: Bool { status == .decode && !isFileDamaged }

  package var description: String { "\(message) (\(status.rawValue))" }
}

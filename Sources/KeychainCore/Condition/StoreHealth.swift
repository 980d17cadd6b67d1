// SPDX-License-Identifier: Apache-2.0

import SQLiteDatabase
import SodiumCrypto
import Synchronization

/// What is known to be wrong with an open store, and what that forbids. Knows neither keys nor tables.
final class StoreHealth: Sendable {
  private struct State {
    var condition = StoreCondition.healthy
    var quarantine: Set<Int64> = []
    var notices: [StoreNotice] = []
  }

  private let access: Keychain.Access
  private let state = Locked(State())
  /// Asked in every search, so it takes no lock. Once true, it stays true.
  private let isIncomplete = Atomic(false)

  init(access: Keychain.Access) { self.access = access }

  var condition: StoreCondition { state.withLock { $0.condition } }

  /// The rows that were found altered, by row id.
  var quarantine: Set<Int64> { state.withLock { $0.quarantine } }

  /// What a person should be told once.
  var notices: [StoreNotice] { state.withLock { $0.notices } }

  /// Whether rows or indexes may be missing, so that only opened rows are believed.
  var hidesItems: Bool { isIncomplete.load(ordering: .acquiring) }

  /// Refuses a change of a store that is open for reading, or that is not what it should be.
  func checkWritable() throws(KeychainError) {
    guard access != .readOnly else {
      throw KeychainError(.readOnly, "the store is open for reading only")
    }
    if case .readOnly(let reason) = condition {
      throw KeychainError(.readOnly, "the store takes no changes: \(reason)")
    }
  }

  /// Where rows were taken out or altered, nobody can tell what is missing from a list.
  func checkListing() throws(KeychainError) {
    if hidesItems {
      throw KeychainError(
        .decode, "the store was altered: what is missing from it cannot be told. Restore a backup")
    }
  }

  /// Makes the store read-only. The first reason stays.
  func fail(_ reason: StoreCondition.Reason) {
    state.withLock { state in
      // A rollback stays what it is: it has a remedy of its own.
      guard state.condition == .healthy else { return }
      state.condition = .readOnly(reason)
      if reason.hidesItems { isIncomplete.store(true, ordering: .releasing) }
    }
  }

  /// Takes a store that was rolled back for the true one.
  func acceptRollback() { state.withLock { $0.condition = .healthy } }

  func note(_ notice: StoreNotice) {
    state.withLock { state in
      if !state.notices.contains(notice) { state.notices.append(notice) }
    }
  }

  /// The answer for a row that does not open; the row is remembered.
  func corrupt(row: Int64, _ what: String) -> KeychainError {
    state.withLock { _ = $0.quarantine.insert(row) }
    return KeychainError(
      .decode,
      "item row \(row): \(what) was altered or is damaged. The row is kept: restore a backup")
  }

  /// Whether an error says that something was altered, rather than that it cannot be read now.
  static func isDamage(_ error: any Error) -> Bool {
    !(error is SQLiteError) && (error as? KeychainError)?.status ?? .decode == .decode
  }

  /// A damaged row was taken out.
  func forget(row: Int64) { state.withLock { _ = $0.quarantine.remove(row) } }
}

/// What happened at opening and should be said once.
package enum StoreNotice: Equatable, Sendable, CustomStringConvertible {
  case anchorMissing(path: String)
  case anchorUnreadable(path: String)
  case anchorNotWritten(path: String, reason: String)

  package var description: String {
    switch self {
    case .anchorMissing(let path):
      "there was no anchor at \(path): a rollback before now cannot be noticed"
    case .anchorUnreadable(let path):
      "the anchor at \(path) could not be read: a rollback before now cannot be noticed"
    case .anchorNotWritten(let path, let reason):
      "the anchor at \(path) could not be written: \(reason)"
    }
  }
}

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

// SPDX-License-Identifier: Apache-2.0

import SQLiteDatabase
import SodiumCrypto

/// Compares the store with its manifest, and opens every item where that is asked for. What it finds goes to
/// `StoreHealth`.
extension Keychain {
  /// Compares the store with its manifest, on a snapshot: others can write meanwhile. A mismatch
  /// turns the store read-only. With `everything` the file is read again, and not what SQLite has in memory of it.
  @discardableResult
  package func verify(
    _ depth: VerificationDepth = .manifest
  ) throws(KeychainError) -> VerificationReport {
    try KeychainError.wrap("verifying the store") {
      // With the keys as they are now: another process may have renewed them.
      try read { tx in
        var report = VerificationReport()
        if depth == .everything { try tx.forEach("PRAGMA shrink_memory", bound: []) { _ in true } }
        do {
          let (expected, key) = try manifest.read(in: tx)
          report.items = Int(clamping: expected.items)
          report.matchesManifest = try matches(expected, key: key.sum, in: tx)
          if !report.matchesManifest { health.fail(.manifestMismatch) }
          // The manifest speaks of the rows. Whether the indexes lead to them is SQLite's to say.
          report.isWhole = try tx.first("PRAGMA integrity_check(items)") { $0.text(0) } == "ok"
          if !report.isWhole { health.fail(.fileDamaged) }
        } catch let error as SQLiteError where error.kind == .corrupt {
          report.isWhole = false
          health.fail(.fileDamaged)
        } catch let error where StoreHealth.isDamage(error) {
          report.matchesManifest = false
          health.fail(.manifestUnreadable)
        }
        if depth == .everything { try openEverything(&report, in: tx) }
        return report
      }
    }
  }

  /// What is wrong with the audit, or nil. Everything is opened: the links, and that the last record is
  /// the one that the manifest counts.
  package func auditProblem() throws(KeychainError) -> String? {
    do {
      try forEachAuditRecord { _ in }
    } catch {
      guard error.status == .decode else { throw error }
      return error.message
    }
    guard try verify(.manifest).matchesManifest else {
      return
        "the chain is whole up to record \(try lastAuditRecord()), but the store is"
        + " not what its manifest says: records after it may have been cut off, or other rows were altered"
    }
    return nil
  }

  private func matches(
    _ manifest: Manifest, key: GuardedKey, in tx: ReadTransaction
  ) throws -> Bool {
    var found = Manifest()
    do {
      try ManifestElement.forEach(in: tx, health) { try found.insert($0, key: key) }
    } catch let error where StoreHealth.isDamage(error) {
      // A row that cannot even be read as one.
      return false
    }
    return found.hasSameContents(as: manifest)
  }

  private func openEverything(
    _ report: inout VerificationReport, in tx: ReadTransaction
  ) throws {
    try tx.forEach(
      "SELECT id, uuid, class, version, metadata FROM items ORDER BY id", bound: []
    ) { row in
      do {
        _ = try secret(of: item(from: row, in: tx), in: tx)
      } catch let error as KeychainError where error.status == .decode {
        report.unreadable.append(row.integer(0))
      } catch let error as KeychainError
        where error.status == .interactionNotAllowed || error.status == .notAvailable
      {
        report.locked += 1
      }
      return true
    }
  }
}

/// What a verification found.
package struct VerificationReport: Equatable, Sendable {
  /// The items that there should be.
  package var items: Int
  /// Whether the rows are those that the manifest counted.
  package var matchesManifest = true
  /// Whether the indexes agree with the rows.
  package var isWhole = true
  /// Rows whose metadata or secret does not open.
  package var unreadable: [Int64] = []
  /// Items whose secret could not be tried, because their class is locked.
  package var locked = 0

  package init(items: Int = 0) { self.items = items }
}

extension Keychain {
  package enum VerificationDepth: Sendable {
    /// The rows against the manifest, the indexes against the rows; nothing is opened. Some 3 µs an
    /// item.
    case manifest
    /// Everything is opened as well.
    case everything
  }
}

// SPDX-License-Identifier: Apache-2.0

import SQLiteDatabase
import SodiumCrypto

extension Keychain {
  package enum VerificationDepth: Sendable {
    /// The rows against the manifest, the indexes against the rows; nothing is opened. Some 3 µs an
    /// item.
    case manifest
    /// Everything is opened as well.
    case everything
  }

  /// Compares the store with its manifest, on a snapshot: others can write meanwhile. A mismatch
  /// turns the store read-only.
  @discardableResult
  package func verify(
    _ depth: VerificationDepth = .manifest
  ) throws(KeychainError) -> VerificationReport {
    try KeychainError.wrap("verifying the store") {
      // With the keys as they are now: another process may have renewed them.
      try read { tx in
        var report = VerificationReport()
        do {
          let (manifest, key) = try readManifest(in: tx)
          report.items = Int(clamping: manifest.items)
          report.matchesManifest = try matches(manifest, key: key.sum, in: tx)
          if !report.matchesManifest { fail(.manifestMismatch) }
          // The manifest speaks of the rows. Whether the indexes lead to them is SQLite's to say.
          report.isWhole = try tx.first("PRAGMA integrity_check(items)") { $0.text(0) } == "ok"
          if !report.isWhole { fail(.fileDamaged) }
        } catch let error as SQLiteError where error.kind == .corrupt {
          report.isWhole = false
          fail(.fileDamaged)
        } catch let error where Self.isDecode(error) {
          report.matchesManifest = false
          fail(.manifestUnreadable)
        }
        if depth == .everything { try openEverything(&report, in: tx) }
        return report
      }
    }
  }

  /// Whether the store was too large to be verified when it was opened, which its owner has to do then,
  /// in the background.
  package func owesVerification() throws(KeychainError) -> Bool {
    try read { tx in try count(in: tx) > options.verifiedAtOpening }
  }

  static func isDecode(_ error: any Error) -> Bool {
    !(error is SQLiteError) && (error as? KeychainError)?.status ?? .decode == .decode
  }

  /// Where rows were taken out or altered, nobody can tell what is missing from a list.
  func checkListing() throws(KeychainError) {
    if case .readOnly(let reason) = condition, reason.hidesItems {
      throw KeychainError(
        .decode, "the store was altered: what is missing from it cannot be told. Restore a backup")
    }
  }

  /// Takes the store for damaged from now on: nothing more is written to it.
  package func noteFileDamaged() { fail(.fileDamaged) }

  func fail(_ reason: StoreCondition.Reason) {
    state.withLock { state in
      // A rollback stays what it is: it has a remedy of its own.
      guard state.condition == .healthy else { return }
      state.condition = .readOnly(reason)
    }
  }

  private func matches(
    _ manifest: Manifest, key: GuardedKey, in tx: ReadTransaction
  ) throws -> Bool {
    var found = Manifest()
    do {
      try forEachElement(in: tx) { try found.insert($0, key: key) }
    } catch let error where Self.isDecode(error) {
      // A row that cannot even be read as one.
      return false
    }
    return found.hasSameContents(as: manifest)
  }

  private func openEverything(_ report: inout VerificationReport, in tx: ReadTransaction) throws {
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

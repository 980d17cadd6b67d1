// SPDX-License-Identifier: Apache-2.0

import SQLiteDatabase

/// What a store is compared with when it is opened, and how one that was rolled back is accepted.
extension Keychain {
  /// After opening: loads the keys, compares the store with its anchor and, if it is small, with
  /// its manifest.
  func examine(_ found: Anchor.Found) throws {
    let generation: UInt64? = try database.read { tx in
      guard try KeySetMark(in: tx).hasSameSlots(as: keys.opening) else {
        throw KeychainError(
          .notAvailable, "the ways into the store were changed while it was opened: try again",
          asksForReopening: true)
      }
      try keys.loadAll(in: tx)
      do {
        return try manifest.read(in: tx).0.generation
      } catch let error where !(error is SQLiteError) {
        health.fail(.manifestUnreadable)
        return nil
      }
    }
    guard let generation else { return }
    let path = location.anchorPath(storeID)
    switch found {
    case .generation(let anchored) where anchored > generation:
      health.fail(.rolledBack(behindBy: anchored - generation))
      return
    case .generation: break
    case .missing: health.note(.anchorMissing(path: path))
    case .unreadable: health.note(.anchorUnreadable(path: path))
    }
    switch access {
    case .readWrite: anchor.noteCommit(generation)
    case .shared:
      anchor.committed(generation)
      anchor.flush()
    case .readOnly: break
    }
    try verify(.manifest)
  }

  /// Takes a store that is older than its anchor for the true one, from now on.
  ///
  /// - Throws: `param` when it was not rolled back; `decode` when it is not whole, and then it stays
  ///   read-only.
  package func acceptRollback() throws(KeychainError) {
    guard access == .readWrite else {
      throw KeychainError(.readOnly, "the store is open for reading only")
    }
    guard case .readOnly(.rolledBack(let behindBy)) = health.condition else {
      throw KeychainError(.param, "the store was not rolled back: there is nothing to accept")
    }
    health.acceptRollback()
    do throws(KeychainError) {
      guard try verify(.manifest).matchesManifest else {
        throw KeychainError(
          .decode,
          "the store is not what its manifest says, so it is not accepted: restore a backup")
      }
      try KeychainError.wrap("accepting the rollback") {
        try write { tx in
          let ledger = try ledger(tx)
          // Beyond the anchor: whatever was lost stays lost, and is never mistaken for newer.
          guard ledger.manifest?.advance(by: behindBy) == true else {
            throw ManifestStore.noGenerationLeft()
          }
          auditLog.note(.rollbackAccepted, "\(behindBy) changes are lost", ledger)
        }
      }
    } catch {
      health.fail(.rolledBack(behindBy: behindBy))
      throw error
    }
    anchor.flush()
  }
}

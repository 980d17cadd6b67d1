// SPDX-License-Identifier: Apache-2.0

import SQLiteDatabase
import SodiumCrypto

extension Keychain {
  /// The manifest as it is stored, and the key that opened it.
  func readManifest(in tx: ReadTransaction) throws -> (Manifest, ManifestKey) {
    let sealed = try tx.first("SELECT sealed FROM manifest WHERE id = 1") { $0.blob(0) }
    guard let sealed else {
      throw KeychainError(.decode, "the manifest of the store is missing: restore a backup")
    }
    return try sealed.withUnsafeBytes { sealed in
      guard try SealedPart.plaintextCount(sealed) == Manifest.length else {
        throw SodiumError.notAuthentic
      }
      let id = try SealedPart.keyID(of: sealed)
      guard id.purpose == .manifest else { throw SodiumError.notAuthentic }
      let key = try ManifestKey(id, key(id, in: tx), in: arena)
      let manifest = try withScratchMemory(Manifest.length) { memory in
        try key.seal.withUnsafeBytes { key in
          try SealedPart.open(sealed, at: Manifest.place(storeID), key: key, into: memory)
        }
        return try Manifest(decoding: UnsafeRawBufferPointer(memory))
      }
      return (manifest, key)
    }
  }

  /// Writes what the ledger has counted, as the next generation.
  func writeManifest(_ ledger: ChangeLedger, in tx: WriteTransaction) throws {
    try appendAudit(ledger, in: tx)
    guard var manifest = ledger.manifest, let key = ledger.manifestKey else { return }
    guard manifest.advance(by: 1) else { throw Self.noGenerationLeft() }
    ledger.manifest = manifest
    let sealed = try manifest.sealed(store: storeID, by: key)
    try tx.execute("INSERT OR REPLACE INTO manifest (id, sealed) VALUES (1, ?)", .blob(sealed))
  }

  /// Only an anchor that somebody else wrote leads here.
  static func noGenerationLeft() -> KeychainError {
    KeychainError(
      .internalError,
      "the store cannot count further than its anchor: the anchor was altered. Remove it")
  }

  /// Called by whoever holds the lock of the store.
  func noteCommit(_ generation: UInt64) {
    anchor.committed(generation)
    guard options.upkeep != .deferred else { return }
    do { try anchor.writeIfDue() } catch { noteAnchorFailure(error) }
  }

  func flushAnchor(patience: UInt64 = 0) {
    do { try anchor.flush(patience: patience) } catch { noteAnchorFailure(error) }
  }

  func noteAnchorFailure(_ error: KeychainError) {
    note(.anchorNotWritten(path: location.anchorPath(storeID), reason: error.message))
  }
}

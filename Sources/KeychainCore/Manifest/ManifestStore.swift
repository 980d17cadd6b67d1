// SPDX-License-Identifier: Apache-2.0

import SQLiteDatabase
import SodiumCrypto

/// The manifest's row: opened and sealed under the manifest key, and nothing else.
final class ManifestStore: Sendable {
  let store: StoreID
  let keys: KeyRing

  init(store: StoreID, keys: KeyRing) {
    self.store = store
    self.keys = keys
  }

  /// The manifest as it is stored, and the key that opened it.
  func read(in tx: ReadTransaction) throws -> (Manifest, ManifestKey) {
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
      let key = try ManifestKey(id, keys.key(id, in: tx), in: keys.arena)
      let manifest = try withScratchMemory(Manifest.length) { memory in
        try key.seal.withUnsafeBytes { key in
          try SealedPart.open(sealed, at: Manifest.place(store), key: key, into: memory)
        }
        return try Manifest(decoding: UnsafeRawBufferPointer(memory))
      }
      return (manifest, key)
    }
  }

  /// The manifest as the transaction has changed it so far, or as it is stored.
  func current(in tx: ReadTransaction) throws -> Manifest {
    if let tx = tx as? WriteTransaction, let manifest = ChangeLedger.of(tx).manifest {
      return manifest
    }
    return try read(in: tx).0
  }

  /// Writes what the ledger has counted, as the next generation.
  func write(_ ledger: ChangeLedger, in tx: WriteTransaction) throws {
    guard var manifest = ledger.manifest, let key = ledger.manifestKey else { return }
    guard manifest.advance(by: 1) else { throw Self.noGenerationLeft() }
    ledger.manifest = manifest
    let sealed = try manifest.sealed(store: store, by: key)
    try tx.execute("INSERT OR REPLACE INTO manifest (id, sealed) VALUES (1, ?)", .blob(sealed))
  }

  /// Only an anchor that somebody else wrote leads here.
  static func noGenerationLeft() -> KeychainError {
    KeychainError(
      .internalError,
      "the store cannot count further than its anchor: the anchor was altered. Remove it")
  }
}

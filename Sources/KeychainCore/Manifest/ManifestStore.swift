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

extension ManifestStore {
  /// Counts the store under a new manifest key, wrapped by `root`, and removes the old one.
  ///
  /// - Throws: `decode` when the store is not what its manifest says.
  func renewKey(
    _ ledger: ChangeLedger, by root: RootKeys.Root, _ erasure: LogErasure, in tx: WriteTransaction
  ) throws {
    guard let oldKey = ledger.manifestKey else { throw SodiumError.notAuthentic }
    let (id, key) = try keys.make(
      KeyID(.manifest, epoch: oldKey.id.epoch + 1), by: root, ledger, in: tx)
    let newKey = try ManifestKey(id, key, in: keys.arena)
    try count(ledger, by: newKey, in: tx)
    if let wrapped = try KeyTable.record(of: oldKey.id, in: tx) {
      try KeyTable.remove(oldKey.id, tag: wrapped.tag, ledger, in: tx)
    }
    ledger.owesErasure = true
    tx.onCommit("manifest key") { erasure.retire([oldKey.id]) }
  }

  /// Puts the same store under the new key into the ledger.
  private func count(
    _ ledger: ChangeLedger, by newKey: ManifestKey, in tx: WriteTransaction
  ) throws {
    guard let expected = ledger.manifest, let oldKey = ledger.manifestKey else { return }
    var found = Manifest()
    var rekeyed = Manifest()
    do {
      try ManifestElement.forEach(in: tx, keys.health) { element in
        try found.insert(element, key: oldKey.sum)
        try rekeyed.insert(element, key: newKey.sum)
      }
    } catch let error where StoreHealth.isDamage(error) {
      // A row that cannot even be read as one: found says less than was expected.
    }
    guard found.hasSameContents(as: expected) else {
      keys.health.fail(.manifestMismatch)
      throw KeychainError(.decode, "\(StoreCondition.Reason.manifestMismatch)")
    }
    rekeyed.generation = expected.generation
    ledger.manifest = rekeyed
    ledger.manifestKey = newKey
  }
}

/// The manifest key, ready for its two uses. No key serves two primitives, so each use has a subkey
/// (`crypto_kdf`, context "tk-mani1"): number 1 seals the row, number 2 keys the hashes of the sum.
struct ManifestKey {
  let id: KeyID
  let seal: GuardedKey
  let sum: GuardedKey

  init(_ id: KeyID, _ key: GuardedKey, in arena: KeyArena) throws {
    self.id = id
    seal = try arena.subkey(1, context: "tk-mani1", of: key)
    sum = try arena.subkey(2, context: "tk-mani1", of: key)
  }
}

// SPDX-License-Identifier: Apache-2.0

import SQLiteDatabase
import SodiumCrypto

/// What a transaction has changed so far: the manifest that its commit will write, keys that are
/// not committed yet, and whether old secrets have to be erased after it.
final class ChangeLedger: TransactionState {
  /// Nil until the first change reads it.
  var manifest: Manifest?
  /// What the elements are hashed with, and the manifest is sealed with.
  var manifestKey: ManifestKey?
  var newKeys: [KeyID: GuardedKey] = [:]
  var owesErasure = false
  var audit = AuditDraft()

  func savepoint() -> () -> Void {
    let (manifest, newKeys, owesErasure) = (manifest, newKeys, owesErasure)
    let manifestKey = manifestKey
    let mark = audit.mark
    return {
      self.manifest = manifest
      self.manifestKey = manifestKey
      self.newKeys = newKeys
      self.owesErasure = owesErasure
      self.audit.rewind(to: mark)
    }
  }

  func insert(_ element: ManifestElement) throws {
    guard let manifestKey else { throw SodiumError.notAuthentic }
    try manifest?.insert(element, key: manifestKey.sum)
  }

  func remove(_ element: ManifestElement) throws {
    guard let manifestKey else { throw SodiumError.notAuthentic }
    try manifest?.remove(element, key: manifestKey.sum)
  }
}

extension Keychain {
  private static let ledgerKey = "keychain"

  func ledger(_ tx: WriteTransaction) -> ChangeLedger {
    tx.state(Self.ledgerKey) { ChangeLedger() }
  }

  /// The ledger with the manifest in it; from here on the commit writes a new one.
  func ledgerForChange(_ tx: WriteTransaction) throws -> ChangeLedger {
    let ledger = ledger(tx)
    if ledger.manifest != nil { return ledger }
    let (manifest, key) = try readManifest(in: tx)
    ledger.manifest = manifest
    ledger.manifestKey = key
    tx.beforeCommit(Self.ledgerKey) { tx in try self.writeManifest(ledger, in: tx) }
    tx.onCommit(Self.ledgerKey) { self.publish(ledger.newKeys) }
    tx.afterCommit(Self.ledgerKey) { self.committed(ledger) }
    return ledger
  }

  /// Before the next writer begins: it must find these keys, and make none of its own.
  private func publish(_ keys: [KeyID: GuardedKey]) {
    state.withLock { state in
      for (id, key) in keys { state.ring.add(key, as: id) }
    }
  }

  private func committed(_ ledger: ChangeLedger) {
    let owes = state.withLock { state in
      if ledger.owesErasure { state.owesErasure = true }
      return state.owesErasure
    }
    if let manifest = ledger.manifest { noteCommit(manifest.generation) }
    // What a reader still holds back is tried again at the next change, tick or close.
    if owes, erasesByItself { _ = try? eraseDeletedPages() }
  }
}

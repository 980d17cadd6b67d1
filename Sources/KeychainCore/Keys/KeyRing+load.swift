// SPDX-License-Identifier: Apache-2.0

import SQLiteDatabase
import SodiumCrypto

/// Keys out of their records.
extension KeyRing {
  /// Reads every record that can be opened now.
  ///
  /// - Throws: `decode` when a key is missing that every store has.
  func loadAll(in tx: ReadTransaction) throws {
    for (id, wrapped) in try KeyTable.records(in: tx) {
      // A record that does not open is answered for when it is needed.
      if let key = try? unwrap(wrapped, id: id) {
        add(key, as: id)
      } else {
        loaded.withLock { $0.know(id) }
      }
    }
    loaded.withLock { $0.lockWithoutSession() }
    for purpose in [KeyPurpose.metadata, .blindIndex, .manifest] {
      let isThere = loaded.withLock { loaded in
        loaded.current[purpose].flatMap { loaded.keys[$0] } != nil
      }
      guard isThere else {
        throw KeychainError(
          .decode, "a key of the store is missing or was altered: restore a backup")
      }
    }
  }

  func load(_ id: KeyID, in tx: ReadTransaction) throws -> GuardedKey {
    guard let wrapped = try KeyTable.record(of: id, in: tx) else {
      throw KeychainError(.decode, "a key of the store is missing: restore a backup")
    }
    do {
      return try unwrap(wrapped, id: id)
    } catch let error as SodiumError {
      guard try hasOtherRoots(in: tx) else { throw error }
      throw KeychainError(
        .notAvailable, "the root keys of the store were renewed meanwhile: open it again",
        asksForReopening: true)
    }
  }

  /// Opens the record of a key with its wrapper, if that is in memory.
  func unwrap(_ wrapped: [UInt8], id: KeyID) throws -> GuardedKey {
    try wrapped.withUnsafeBytes { wrapped in
      let wrapperID = try SealedPart.keyID(of: wrapped)
      if id.purpose == .session, loaded.withLock({ $0.isLocked }) { throw locked() }
      let (wrapper, isKnown) = loaded.withLock { loaded in
        (loaded.keys[wrapperID], loaded.current[wrapperID.purpose] != nil)
      }
      guard let wrapper else {
        // Known but not in memory: its record did not open.
        if wrapperID.purpose == .session, !isKnown { throw locked() }
        throw SodiumError.notAuthentic
      }
      return try KeyRecord.unwrap(
        wrapped, id: id, store: store, wrapper: wrapper, device: deviceKey(for: id), in: arena)
    }
  }

  /// Beside a process that writes, the roots may be others by now: then the slots are, too.
  private func hasOtherRoots(in tx: ReadTransaction) throws -> Bool {
    guard access == .readOnly else { return false }
    return try !KeySetMark(in: tx).hasSameSlots(as: opening)
  }

  /// Beside a process that writes, the index key may be another one by now.
  ///
  /// - Throws: `notAvailable` then (`asksForReopening`): with the one in memory nothing would be found.
  func checkIndexKey(in tx: ReadTransaction) throws {
    if let id = try KeyTable.newest(.blindIndex, in: tx) { _ = try key(id, in: tx) }
  }
}

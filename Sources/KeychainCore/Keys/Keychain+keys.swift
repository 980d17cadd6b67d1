// SPDX-License-Identifier: Apache-2.0

import SQLiteDatabase
import SodiumCrypto

extension Keychain {
  /// The key `id`, from memory or from its record.
  ///
  /// - Throws: `interactionNotAllowed` when only a session key opens it and there is none,
  ///   `decode` when its record is missing or was altered.
  func key(_ id: KeyID, in tx: ReadTransaction) throws -> GuardedKey {
    if let key = known(id) { return key }
    if let tx = tx as? WriteTransaction, let key = ledger(tx).newKeys[id] { return key }
    let key = try loadKey(id, in: tx)
    state.withLock { $0.ring.add(key, as: id) }
    return key
  }

  private func known(_ id: KeyID) -> GuardedKey? {
    let now = id.purpose.isOfSession ? Self.monotonicSeconds() : 0
    return state.withLock { state in
      if now > 0 { state.ring.lastUse = now }
      return state.ring.keys[id]
    }
  }

  /// The newest key for `purpose`. A class gets its first key here, when it is first used.
  func currentKey(
    _ purpose: KeyPurpose, in tx: WriteTransaction
  ) throws -> (id: KeyID, key: GuardedKey) {
    // What this transaction has made is newer than what the others know.
    let made = ledger(tx).newKeys
    if !made.isEmpty,
      let newest = made.keys.filter({ $0.purpose == purpose }).max(by: { $0.epoch < $1.epoch }),
      let key = made[newest]
    {
      return (newest, key)
    }
    if let carried = try carriedKey(purpose, in: tx) {
      // Only by who has its device key, or the class would have two.
      _ = try key(carried, in: tx)
      return try makeKey(KeyID(purpose, epoch: carried.epoch + 1), in: tx)
    }
    let known = state.withLock { state in
      state.ring.current[purpose].map { (id: $0, key: state.ring.keys[$0]) }
    }
    if let known, let key = known.key, !known.id.purpose.isOfSession { return (known.id, key) }
    if let known { return (known.id, try key(known.id, in: tx)) }
    if let id = try newestKey(purpose, in: tx) { return (id, try key(id, in: tx)) }
    return try makeKey(KeyID(purpose, epoch: 1), in: tx)
  }

  /// The newest key for `purpose` if it was carried over to new root keys without its device key, which
  /// the old roots reach: nothing more may be wrapped by it.
  func carriedKey(_ purpose: KeyPurpose, in tx: ReadTransaction) throws -> KeyID? {
    guard purpose.accessibility?.isThisDeviceOnly == true,
      let newest = try newestKey(purpose, in: tx),
      let wrapped = try record(of: newest, in: tx), KeyRecord.isCarried(wrapped)
    else { return nil }
    return newest
  }

  func record(of id: KeyID, in tx: ReadTransaction) throws -> [UInt8]? {
    try tx.first("SELECT wrapped FROM keys WHERE id = ?", .integer(Int64(id.rawValue))) {
      $0.blob(0)
    }
  }

  /// All of them. The order of the ids brings the session key before the classes that it wraps.
  func records(in tx: ReadTransaction) throws -> [(id: KeyID, wrapped: [UInt8])] {
    try tx.all("SELECT id, wrapped FROM keys ORDER BY id") {
      (id: KeyID(rawValue: UInt32(truncatingIfNeeded: $0.integer(0))), wrapped: $0.blob(1))
    }
  }

  func newestKey(_ purpose: KeyPurpose, in tx: ReadTransaction) throws -> KeyID? {
    let first = Int64(KeyID(purpose, epoch: 0).rawValue)
    return try tx.first(
      "SELECT id FROM keys WHERE id BETWEEN ? AND ? ORDER BY id DESC LIMIT 1",
      .integer(first), .integer(first | 0xFF_FFFF)
    ) { KeyID(rawValue: UInt32(truncatingIfNeeded: $0.integer(0))) }
  }

  /// Makes a key, writes its record and keeps it for this transaction; once that is committed it
  /// joins the others.
  func makeKey(_ id: KeyID, in tx: WriteTransaction) throws -> (id: KeyID, key: GuardedKey) {
    let wrapper = id.purpose.accessibility?.wrapper ?? .master
    return try makeKey(id, by: currentWrapper(wrapper), in: tx)
  }

  @discardableResult
  func makeKey(
    _ id: KeyID, by wrapper: (id: KeyID, key: GuardedKey), in tx: WriteTransaction
  ) throws -> (id: KeyID, key: GuardedKey) {
    let key = try arena.randomKey()
    let wrapped = try KeyRecord.wrap(
      key, id: id, store: storeID, by: wrapper.id, wrapper: wrapper.key,
      device: deviceKey(for: id, in: tx))
    let ledger = try ledgerForChange(tx)
    try insertRecord(wrapped, of: id, ledger, in: tx)
    ledger.newKeys[id] = key
    return (id, key)
  }

  func insertRecord(
    _ wrapped: [UInt8], of id: KeyID, _ ledger: ChangeLedger, in tx: WriteTransaction
  ) throws {
    do {
      try tx.execute(
        "INSERT INTO keys (id, wrapped) VALUES (?, ?)", .integer(Int64(id.rawValue)),
        .blob(wrapped))
    } catch let error as SQLiteError where error.isDuplicate {
      // Never to be taken for a duplicate item.
      throw KeychainError(.internalError, "the store has such a key already: \(error)")
    }
    try ledger.insert(.key(id, tag: wrapped.tag))
  }

  private func currentWrapper(_ purpose: KeyPurpose) throws -> (id: KeyID, key: GuardedKey) {
    let known = state.withLock { state in
      state.ring.current[purpose].map { (id: $0, key: state.ring.keys[$0]) }
    }
    guard let known else { throw locked() }
    guard let key = known.key else { throw SodiumError.notAuthentic }
    return (known.id, key)
  }

  private func loadKey(_ id: KeyID, in tx: ReadTransaction) throws -> GuardedKey {
    guard let wrapped = try record(of: id, in: tx) else {
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
      if id.purpose == .session, state.withLock({ $0.ring.isLocked }) { throw locked() }
      let (wrapper, isKnown) = state.withLock { state in
        (state.ring.keys[wrapperID], state.ring.current[wrapperID.purpose] != nil)
      }
      guard let wrapper else {
        // Known but not in memory: its record did not open.
        if wrapperID.purpose == .session, !isKnown { throw locked() }
        throw SodiumError.notAuthentic
      }
      return try KeyRecord.unwrap(
        wrapped, id: id, store: storeID, wrapper: wrapper, device: deviceKey(for: id), in: arena)
    }
  }

  /// Beside a process that writes, the roots may be others by now: then the slots are, too.
  private func hasOtherRoots(in tx: ReadTransaction) throws -> Bool {
    guard access == .readOnly else { return false }
    return try !KeySetMark(in: tx).hasSameSlots(as: state.withLock { $0.knownKeys })
  }

  /// Reads every record that can be opened now.
  func loadKeys(in tx: ReadTransaction) throws {
    for (id, wrapped) in try records(in: tx) {
      // A record that does not open is answered for when it is needed.
      if let key = try? unwrap(wrapped, id: id) {
        state.withLock { $0.ring.add(key, as: id) }
      } else {
        state.withLock { $0.ring.know(id) }
      }
    }
    for purpose in [KeyPurpose.metadata, .blindIndex, .manifest] {
      let isThere = state.withLock { state in
        state.ring.current[purpose].flatMap { state.ring.keys[$0] } != nil
      }
      guard isThere else {
        throw KeychainError(
          .decode, "a key of the store is missing or was altered: restore a backup")
      }
    }
  }

  /// The answer where the session key is missing.
  func locked() -> KeychainError {
    // Perhaps it is not locked, and somebody took the key's record away.
    do { try checkListing() } catch { return error }
    return KeychainError(
      .interactionNotAllowed, "this class of items is locked: unlock the store with its passphrase")
  }
}

extension [UInt8] {
  /// The tag at the end of a sealed part.
  var tag: ItemID {
    withUnsafeBytes { octets in
      ItemID(UnsafeRawBufferPointer(rebasing: octets.suffix(16))) ?? ItemID(high: 0, low: 0)
    }
  }
}

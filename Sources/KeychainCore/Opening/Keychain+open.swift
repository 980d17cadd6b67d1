// SPDX-License-Identifier: Apache-2.0

import SQLiteDatabase
import SodiumCrypto

extension Keychain {
  /// Opens a store.
  ///
  /// - Throws: `noSuchKeychain`; `notAvailable` when others could read it or another process holds
  ///   it (`lockHolder`); `authFailed` when no key slot opens with `secret`; `decode` when the store
  ///   itself was altered. A store whose rows were altered or that is an old copy opens, but
  ///   read-only: see `condition`.
  package static func open(
    at location: StoreLocation, with secret: KeySlotSecret, access: Access = .readWrite,
    options: KeychainOptions = .init()
  ) throws(KeychainError) -> Keychain {
    try KeychainError.wrap("opening the store") {
      try Sodium.initialize()
      guard exists(at: location) else {
        if StoreLocation.isThere(location.directory) { try location.checkFiles() }
        throw KeychainError(
          .noSuchKeychain, "there is no store at \(location.databasePath)")
      }
      try location.checkFiles()
      let octets = try secret.octets()
      let lock = access == .readWrite ? try StoreLock(location.lockPath) : nil
      let arena = KeyArena()
      var attempts = 5
      while true {
        do {
          return try open(location, lock: lock, access: access, options: options, arena: arena) {
            tx, store in
            try openSlots(secret, octets, store: store, arena: arena, in: tx)
          }
        } catch let error as KeychainError {
          // Beside a process that renews the root keys just now.
          attempts -= 1
          guard error.asksForReopening, attempts > 0 else { throw error }
        }
      }
    }
  }

  /// Opens what lies at `location` with the root keys that `roots` finds.
  static func open(
    _ location: StoreLocation, lock: StoreLock?, access: Access, options: KeychainOptions,
    arena: KeyArena, roots: (ReadTransaction, StoreID) throws -> [KeyID: GuardedKey]
  ) throws -> Keychain {
    var databaseOptions = SQLiteDatabase.Options()
    databaseOptions.vfs = options.vfs
    let database = try SQLiteDatabase(
      path: location.databasePath,
      access: access == .readOnly ? .readOnly : .readWrite(create: false),
      options: databaseOptions)
    // First, and before the store is read: beside a process that writes, the anchor may move on.
    let (store, found) = try database.read { tx in
      let store = try identity(in: tx)
      try StoreLocation.checkFile(location.anchorPath(store))
      return (store, Anchor(path: location.anchorPath(store)).read())
    }
    do {
      try database.migrate(StoreSchema.component, StoreSchema.migrations)
    } catch let error as SQLiteError where error.kind == .readOnly && access == .readOnly {
      // Steps are missing that only writing needs.
    }
    let (keys, mark) = try database.read { tx in
      guard try StoreSchema.isIntact(in: tx, isOnlyRead: access == .readOnly) else {
        throw KeychainError(.decode, "the tables of the store were altered: restore a backup")
      }
      return (try roots(tx, store), try KeySetMark(in: tx))
    }
    // A process that was killed may have owed it.
    let probe = Keychain.State(
      ring: KeyRing(roots: keys), owesErasure: access != .readOnly, lock: nil, knownKeys: mark)
    let anchored: UInt64 = if case .generation(let generation) = found { generation } else { 0 }
    let keeper = AnchorKeeper(
      Anchor(path: location.anchorPath(store)), generation: 0, written: anchored,
      interval: options.anchorInterval, lockPath: access == .shared ? location.lockPath : nil)
    let keychain = Keychain(
      location: location, database: database, storeID: store, access: access, options: options,
      arena: arena, anchor: keeper, state: probe)
    keychain.state.withLock { $0.lock = lock }
    try keychain.examine(found)
    return keychain
  }

  private static func identity(in tx: ReadTransaction) throws -> StoreID {
    let application = try tx.first("PRAGMA application_id") { $0.integer(0) }
    guard application == StoreSchema.applicationID else {
      throw KeychainError(.decode, "this is no threadkeeper store, or its head was altered")
    }
    let format = try tx.first("PRAGMA user_version") { $0.integer(0) } ?? 0
    guard format == StoreSchema.format else {
      throw KeychainError(
        .notAvailable,
        "the store has format \(format), this program knows \(StoreSchema.format):"
          + " use the newer program")
    }
    let octets = try tx.first("SELECT uuid FROM store WHERE id = 1") { $0.blob(0) }
    guard let store = octets.flatMap({ StoreID($0) }) else {
      throw KeychainError(.decode, "the store has lost its name: restore a backup")
    }
    return store
  }

  /// Tries the slots of the kind of `secret`, the oldest first.
  static func openSlots(
    _ secret: KeySlotSecret, _ octets: SecretBytes, store: StoreID, arena: KeyArena,
    in tx: ReadTransaction
  ) throws -> [KeyID: GuardedKey] {
    var refusal = ""
    for (row, payload) in try KeySlotRow.all(in: tx) where row.slot.kind == secret.kind {
      do {
        let slotKey = try row.slotKey(from: octets, in: arena)
        return try row.open(payload, store: store, slotKey: slotKey, in: arena)
      } catch SodiumError.refusedParameters(let reason) {
        refusal = "; \(reason)"
      } catch is SodiumError {
        continue
      }
    }
    throw KeychainError(
      .authFailed,
      "no key slot of the store opens with \(secret.words): \(secret.suspicion)\(refusal)")
  }
}

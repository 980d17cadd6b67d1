// SPDX-License-Identifier: Apache-2.0

import SQLiteDatabase
import SodiumCrypto

/// Opens a store: checks the files, finds the root keys, compares the store with anchor and manifest.
enum StoreOpener {
  /// Opens a store.
  ///
  /// - Throws: `noSuchKeychain`; `notAvailable` when others could read it or another process holds
  ///   it (`lockHolder`); `authFailed` when no key slot opens with `secret`; `decode` when the store
  ///   itself was altered. A store whose rows were altered or that is an old copy opens, but
  ///   read-only: see `condition`.
  static func open(
    at location: StoreLocation, with secret: KeySlotSecret, access: Keychain.Access,
    options: KeychainOptions
  ) throws(KeychainError) -> Keychain {
    try KeychainError.wrap("opening the store") {
      try Sodium.initialize()
      guard location.hasStore else {
        if StoreLocation.isThere(location.directory) { try location.checkFiles() }
        throw KeychainError(
          .noSuchKeychain, "there is no store at \(location.databasePath)")
      }
      try location.checkFiles()
      let bytes = try secret.bytes()
      let lock = access == .readWrite ? try StoreLock(location.lockPath) : nil
      let arena = KeyArena()
      var attempts = 5
      while true {
        do {
          return try open(location, lock: lock, access: access, options: options, arena: arena) {
            tx, store in
            try KeySlots.open(secret, bytes, store: store, arena: arena, in: tx)
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
    _ location: StoreLocation, lock: StoreLock?, access: Keychain.Access, options: KeychainOptions,
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
    let (keys, mark) = try database.read { tx in
      guard try StoreSchema.isIntact(in: tx) else {
        throw KeychainError(.decode, "the tables of the store were altered: restore a backup")
      }
      return (try roots(tx, store), try KeySetMark(in: tx))
    }
    let anchored: UInt64 = if case .generation(let generation) = found { generation } else { 0 }
    let keychain = Keychain(
      location: location, database: database, storeID: store, access: access, options: options,
      arena: arena, roots: keys, opening: mark, anchored: anchored, lock: lock)
    try StoreExamination(keychain).run(found)
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
          + " use the program that made it")
    }
    let bytes = try tx.first("SELECT uuid FROM store WHERE id = 1") { $0.blob(0) }
    guard let store = bytes.flatMap({ StoreID($0) }) else {
      throw KeychainError(.decode, "the store has lost its name: restore a backup")
    }
    return store
  }

  /// The key slots of a store that is not open. What they say of themselves may have been altered:
  /// good to ask for the right secret, and for nothing else.
  static func slots(at location: StoreLocation) throws(KeychainError) -> [KeySlot] {
    try KeychainError.wrap("looking for the key slots") {
      guard location.hasStore else {
        throw KeychainError(.noSuchKeychain, "there is no store at \(location.databasePath)")
      }
      try location.checkFiles()
      let database = try SQLiteDatabase(path: location.databasePath, access: .readOnly)
      defer { database.close() }
      return try database.read { try KeySlotRow.all(in: $0).map(\.row.slot) }
    }
  }
}

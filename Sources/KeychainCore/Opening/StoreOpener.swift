import Glibc
import SQLiteDatabase
import SodiumCrypto
import ThreadkeeperSupport

/// Opening a store: the files are checked, the root keys found, the store compared with anchor and manifest.
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
      guard location.hasStore else {
        if StoreLocation.isThere(location.directory) { try location.checkFiles() }
        throw KeychainError(.noSuchKeychain, "there is no store at \(location.databasePath)")
      }
      try location.checkFiles()
      let bytes = try secret.bytes()
      let lock = access == .readWrite ? try StoreLock(location.lockPath) : nil
      let arena = KeyArena()
      var attempts = 5
      while true {
        do {
          return try open(location, lock: lock, access: access, options: options, arena: arena) { tx, store in
            try roots(openedBy: secret, bytes, store: store, arena: arena, in: tx)
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
    _ location: StoreLocation, lock: StoreLock?, access: Access, options: KeychainOptions, arena: KeyArena,
    roots: (ReadTransaction, StoreID) throws -> [KeyID: GuardedKey]
  ) throws -> Keychain {
    let database = try SQLiteDatabase(
      path: location.databasePath, access: access == .readOnly ? .readOnly : .readWrite(create: false),
      options: options.ofDatabase)
    // First, and before the store is read: beside a process that writes, the anchor may move on.
    let (store, found) = try database.read { tx in
      let store = try identity(in: tx)
      try StoreLocation.checkFile(location.anchorPath(store))
      return (store, try Anchor(path: location.anchorPath(store)).read())
    }
    let (keys, mark) = try database.read { tx in
      guard try StoreSchema.isIntact(in: tx) else {
        throw KeychainError(.decode, "the tables of the store were altered: restore a backup")
      }
      return (try roots(tx, store), try KeySetMark(in: tx))
    }
    let anchored: UInt64 = if case .generation(let generation) = found { generation } else { 0 }
    let keychain = Keychain(
      location: location, database: database, storeID: store, access: access, options: options, arena: arena,
      roots: keys, opening: mark, anchored: anchored, lock: lock)
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
        "the store has format \(format), this program knows \(StoreSchema.format):" + " use the program that made it")
    }
    let bytes = try tx.first("SELECT uuid FROM store WHERE id = 1") { $0.blob(0) }
    guard let store = bytes.flatMap({ StoreID($0) }) else {
      throw KeychainError(.decode, "the store has lost its name: restore a backup")
    }
    return store
  }

  /// The key slots of a store that is not open. What they say of themselves may have been altered:
  /// good to ask for the right secret, and for nothing else.
  package static func slots(at location: StoreLocation) throws(KeychainError) -> [KeySlot] {
    try KeychainError.wrap("looking for the key slots") {
      guard location.hasStore else {
        throw KeychainError(.noSuchKeychain, "there is no store at \(location.databasePath)")
      }
      try location.checkFiles()
      let database = try SQLiteDatabase(path: location.databasePath, access: .readOnly)
      defer { database.close() }
      return try database.read { try KeySlot.all(in: $0) }
    }
  }
}

extension Keychain {
  /// Whether there is a store.
  package static func exists(at location: StoreLocation) -> Bool { location.hasStore }

  /// Makes an empty store and opens it. It is built under another name and put in place whole, so
  /// that a crash leaves nothing that looks like a store.
  ///
  /// - Parameter slots: the ways to open it, at least one. A key file that does not exist is made.
  /// - Throws: `duplicateKeychain` when there is one already.
  package static func create(at location: StoreLocation, slots: [KeySlotSecret], options: KeychainOptions = .init())
    throws(KeychainError) -> Keychain
  {
    guard !slots.isEmpty else { throw KeychainError(.param, "a store needs a key file or a passphrase to open it") }
    return try KeychainError.wrap("making the store") {
      try Sodium.initialize()
      let lock = try location.lockForMaking()
      // SQLite would take it for the new store's, and play it into it.
      for path in location.logPaths where StoreLocation.isThere(path) {
        throw KeychainError(.notAvailable, "\(path) is left of a store that is gone: move it away first")
      }
      var madeFiles: [String] = []
      try reserveName(location)
      do {
        var secrets: [(KeySlot.Kind, SecretBytes)] = []
        for slot in slots {
          if case .keyFile(let path) = slot, try KeyFile.createIfAbsent(path) { madeFiles.append(path) }
          secrets.append((slot.kind, try slot.bytes()))
        }
        let arena = KeyArena()
        let store = StoreID.random()
        let builder = StoreBuilder(store: store, arena: arena, options: options, slots: secrets)
        let roots = try build(builder, at: location, options)
        return try open(location, lock: lock, access: .readWrite, options: options, arena: arena) { _, _ in roots }
      } catch {
        // Without the store, a key file that was made for it opens nothing.
        if !location.hasStore { for path in madeFiles + [location.unfinishedPath] { unlink(path) } }
        throw error
      }
    }
  }

  /// Makes the empty file that the store is built in: while it has that name, a key without a store is of one that is
  /// being made.
  private static func reserveName(_ location: StoreLocation) throws(KeychainError) {
    let path = location.unfinishedPath
    for leftover in ["-wal", "-shm", "-journal"] { unlink(path + leftover) }
    // Made here, so that it is never readable by others, whatever the umask.
    let descriptor = Glibc.open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw KeychainError.system("make", path: path) }
    defer { Glibc.close(descriptor) }
    guard ftruncate(descriptor, 0) == 0 else { throw KeychainError.system("make", path: path) }
    FilePath.syncDirectory(location.directory)
  }

  private static func build(_ builder: StoreBuilder, at location: StoreLocation, _ options: KeychainOptions) throws
    -> [KeyID: GuardedKey]
  {
    let path = location.unfinishedPath
    do {
      let database = try SQLiteDatabase(path: path, access: .readWrite(create: false), options: options.ofDatabase)
      defer { database.close() }
      let roots = try database.write { tx in
        try StoreSchema.create(in: tx)
        return try builder.build(in: tx)
      }
      guard try database.checkpointTruncate() else {
        throw KeychainError(.notAvailable, "somebody reads the store while it is made", isTemporary: true)
      }
      database.close()
      try Anchor(path: location.anchorPath(builder.store)).write(1)
      guard rename(path, location.databasePath) == 0 else {
        throw KeychainError.system("put in place", path: location.databasePath)
      }
      FilePath.syncDirectory(location.directory)
      return roots
    } catch {
      for leftover in [path + "-wal", path + "-shm", location.anchorPath(builder.store)] { unlink(leftover) }
      throw error
    }
  }
}

/// Writes an empty store: identity, key slots, the keys that every store has, the manifest.
struct StoreBuilder {
  let store: StoreID
  let arena: KeyArena
  let options: KeychainOptions
  let slots: [(kind: KeySlot.Kind, secret: SecretBytes)]

  private static let master = KeyID(.master, epoch: 1)
  private static let session = KeyID(.session, epoch: 1)

  /// Returns the root keys.
  func build(in tx: WriteTransaction) throws -> [KeyID: GuardedKey] {
    let master = try arena.randomKey()
    let session = try arena.randomKey()
    let ledger = ChangeLedger()
    ledger.manifest = Manifest()
    let manifestKeyID = KeyID(.manifest, epoch: 1)
    let manifestRoot = try arena.randomKey()
    ledger.manifestKey = try ManifestKey(manifestKeyID, manifestRoot, in: arena)
    try tx.execute("INSERT INTO store (id, uuid) VALUES (1, ?)", .blob(store.bytes))

    var keys: [(KeyID, GuardedKey)] = [
      (KeyID(.metadata, epoch: 1), try arena.randomKey()), (KeyID(.blindIndex, epoch: 1), try arena.randomKey()),
      (manifestKeyID, manifestRoot), (KeyID(.audit, epoch: 1), try arena.randomKey()),
      (KeyID(.records, epoch: 1), try arena.randomKey()),
    ]
    let isGuarded = slots.contains { $0.kind.guardsSession }
    if !isGuarded { keys.append((Self.session, session)) }
    for (id, key) in keys {
      let wrapped = try KeyRecord.wrap(key, id: id, store: store, by: Self.master, wrapper: master)
      try KeyTable.insert(wrapped, of: id, ledger, in: tx)
    }
    for (kind, secret) in slots {
      let roots = kind.holdsSession ? [(Self.master, master), (Self.session, session)] : [(Self.master, master)]
      var slot = try KeySlot(new: kind, label: "", options: options)
      try slot.insert(roots, store: store, slotKey: slot.slotKey(from: secret, in: arena), in: tx)
      try ledger.insert(slot.manifestElement)
    }
    try ManifestStore.write(ledger, of: store, in: tx)
    return [Self.master: master, Self.session: session]
  }
}

/// What a store is compared with when it is opened, and how one that was rolled back is accepted.
extension Keychain {
  /// After opening: loads the keys, compares the store with its anchor and, if it is small, with
  /// its manifest.
  func examine(_ found: Anchor.Found) throws {
    let generation: UInt64? = try database.read { tx in
      guard try KeySetMark(in: tx).hasSameSlots(as: keys.opening) else {
        throw KeychainError(
          .notAvailable, "the ways into the store were changed while it was opened: try again", asksForReopening: true)
      }
      try keys.loadAll(in: tx)
      do { return try manifest.read(in: tx).0.generation } catch let error where !(error is SQLiteError) {
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
    guard access == .readWrite else { throw KeychainError(.readOnly, "the store is open for reading only") }
    guard case .readOnly(.rolledBack(let behindBy)) = health.condition else {
      throw KeychainError(.param, "the store was not rolled back: there is nothing to accept")
    }
    health.acceptRollback()
    do throws(KeychainError) {
      guard try verify(.manifest).matchesManifest else {
        throw KeychainError(.decode, "the store is not what its manifest says, so it is not accepted: restore a backup")
      }
      try KeychainError.wrap("accepting the rollback") {
        try write { tx in
          let ledger = try ledger(tx)
          // Beyond the anchor: whatever was lost stays lost, and is never mistaken for newer.
          guard ledger.manifest?.advance(by: behindBy) == true else { throw ManifestStore.noGenerationLeft() }
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

/// The tables of the store, format 4. Other components keep theirs in the same file.
enum StoreSchema {
  /// "TKST", in the head of the SQLite file.
  static let applicationID: Int64 = 0x544B_5354
  /// The format of the store, as `user_version`.
  static let format: Int64 = 4

  private static let statements: [StaticString] = [
    "CREATE TABLE store (id INTEGER PRIMARY KEY CHECK (id = 1), uuid BLOB NOT NULL) STRICT",
    // kind: 1 key file, 2 passphrase. payload: sealed, the root keys.
    """
    CREATE TABLE key_slots (
      id INTEGER PRIMARY KEY AUTOINCREMENT, uuid BLOB NOT NULL UNIQUE, kind INTEGER NOT NULL,
      label TEXT NOT NULL, created INTEGER NOT NULL, parameters BLOB NOT NULL,
      payload BLOB NOT NULL) STRICT
    """,
    // id: KeyID. wrapped: sealed by the key that its head names.
    "CREATE TABLE keys (id INTEGER PRIMARY KEY, wrapped BLOB NOT NULL) STRICT",
    // class: ItemClass. class_key: KeyID, what secret is sealed by.
    """
    CREATE TABLE items (
      id INTEGER PRIMARY KEY, uuid BLOB NOT NULL, class INTEGER NOT NULL,
      version INTEGER NOT NULL, class_key INTEGER NOT NULL, index_epoch INTEGER NOT NULL,
      primary_index BLOB NOT NULL, index_1 BLOB, index_2 BLOB, metadata BLOB NOT NULL,
      secret BLOB NOT NULL) STRICT
    """, "CREATE UNIQUE INDEX items_primary ON items (primary_index)",
    "CREATE INDEX items_index_1 ON items (index_1) WHERE index_1 IS NOT NULL",
    "CREATE INDEX items_index_2 ON items (index_2) WHERE index_2 IS NOT NULL",
    "CREATE TABLE manifest (id INTEGER PRIMARY KEY CHECK (id = 1), sealed BLOB NOT NULL) STRICT",
    // id: the number of the record, from 1. sealed: AuditRecord.
    "CREATE TABLE audit (id INTEGER PRIMARY KEY, sealed BLOB NOT NULL) STRICT",
    // See RecordRow.
    """
    CREATE TABLE records (
      id INTEGER PRIMARY KEY, home INTEGER NOT NULL, version INTEGER NOT NULL,
      secret_version INTEGER NOT NULL, state BLOB NOT NULL, secret BLOB) STRICT
    """,
    // Neither sealed nor in the manifest: what anybody reads at the broker.
    "CREATE TABLE messages (id INTEGER PRIMARY KEY, bytes BLOB NOT NULL) STRICT",
  ]

  static func create(in tx: WriteTransaction) throws {
    // https://www.sqlite.org/pragma.html#pragma_application_id
    try tx.execute("PRAGMA application_id = 0x544B5354")
    try tx.execute("PRAGMA user_version = 4")
    for statement in statements { try tx.execute(statement) }
  }

  /// Whether the tables are as they were made: no column renamed, no index missing, no trigger
  /// planted. SQLite keeps the words of each statement.
  static func isIntact(in tx: ReadTransaction) throws -> Bool {
    let found = try tx.all(
      """
      SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL
        AND tbl_name IN ('store', 'key_slots', 'keys', 'items', 'manifest', 'audit', 'records',
          'messages')
      """
    ) { $0.text(0) }
    return found.sorted() == statements.map { "\($0)" }.sorted()
  }
}

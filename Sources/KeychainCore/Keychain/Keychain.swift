// SPDX-License-Identifier: Apache-2.0

import SQLiteDatabase
import SodiumCrypto

/// An encrypted store of items, open. A front: it makes the parts, and each of its functions is one call
/// of a part, which says what it does and throws.
///
/// Every call takes the transaction that it works in, so that items and the caller's own tables
/// change together:
///
///     try keychain.database.write { tx in
///       try keychain.add(item, in: tx)
///       try tx.execute("UPDATE …")
///     }
///
/// A part knows only those below it:
///
///     Rotation · StoreBackup · StoreVerifier
///     KeySlots
///     ItemTable ─ ItemSearch ─ ItemReader
///     StoreChanges ─ ManifestStore · AuditLog · AnchorWriter · LogErasure      StoreTransactions
///     KeyRing ─ KeyTable
///     StoreHealth
///
/// What is where on the disk: `StoreSchema` (tables), `SealedPart` (encryption), `RowForm` (what is
/// indexed), `Manifest`, `Anchor`.
package final class Keychain: Sendable {
  package enum Access: Sendable {
    /// Takes the store's lock, for as long as the keychain is open.
    case readWrite
    /// Changes nothing, and works beside a process that holds the lock.
    case readOnly
    /// Several processes change the store by turns: takes the lock for each `Keychain.write`.
    case shared
  }

  private struct Holding {
    var lock: StoreLock?
    var isClosed = false
  }

  package let location: StoreLocation
  /// Other components keep their tables here too.
  package let database: SQLiteDatabase
  package let storeID: StoreID
  package let access: Access
  let options: KeychainOptions
  let health: StoreHealth
  let keys: KeyRing
  let manifest: ManifestStore
  let auditLog: AuditLog
  let anchor: AnchorWriter
  let erasure: LogErasure
  let changes: StoreChanges
  let transactions: StoreTransactions
  let itemTable: ItemTable
  let verifier: StoreVerifier
  let keySlots: KeySlots
  private let holding: Locked<Holding>

  /// - Parameters:
  ///   - roots: the root keys.
  ///   - opening: the keys and slots when the roots were found.
  ///   - anchored: the generation that the anchor says; 0 if none.
  ///   - lock: of the store, where it is held for as long as this is open.
  init(
    location: StoreLocation, database: SQLiteDatabase, storeID: StoreID, access: Access,
    options: KeychainOptions, arena: KeyArena, roots: [KeyID: GuardedKey], opening: KeySetMark,
    anchored: UInt64, lock: StoreLock?
  ) {
    self.location = location
    self.database = database
    self.storeID = storeID
    self.access = access
    self.options = options
    holding = Locked(Holding(lock: lock))
    health = StoreHealth(access: access)
    keys = KeyRing(
      roots: roots, of: opening, store: storeID, access: access, arena: arena,
      devicePath: location.deviceKeyPath, health: health)
    manifest = ManifestStore(store: storeID, keys: keys)
    auditLog = AuditLog(store: storeID, keys: keys, options: options)
    anchor = AnchorWriter(
      Anchor(path: location.anchorPath(storeID)), generation: 0, written: anchored,
      options: options, lockPath: access == .shared ? location.lockPath : nil, health: health)
    erasure = LogErasure(access: access, upkeep: options.upkeep, database: database, keys: keys)
    changes = StoreChanges(
      manifest: manifest, audit: auditLog, keys: keys, anchor: anchor, erasure: erasure)
    transactions = StoreTransactions(
      database, access: access, keys: keys, erasure: erasure, lockPath: location.lockPath,
      turnLimit: options.turnLimit)
    let reader = ItemReader(store: storeID, keys: keys, health: health)
    let search = ItemSearch(access: access, reader: reader, manifest: manifest)
    itemTable = ItemTable(search: search, changes: changes, now: options.now)
    verifier = StoreVerifier(
      search: search, transactions: transactions)
    keySlots = KeySlots(
      access: access, options: options, transactions: transactions, items: itemTable)
  }

  deinit { close() }

  var isClosed: Bool { holding.withLock { $0.isClosed } }

  /// Writes the anchor, moves the log into the database, wipes the keys and gives up the lock.
  package func close() {
    let wasOpen = holding.withLock { holding in
      defer { holding.isClosed = true }
      return !holding.isClosed
    }
    guard wasOpen else { return }
    if access != .readOnly {
      _ = try? erasure.run()
      if case .healthy = condition { anchor.flush(waiting: StoreUpkeep.lastWait) }
    }
    database.close()
    keys.wipe()
    holding.withLock { $0.lock = nil }
  }
}

/// Items: `ItemTable`, `ItemSearch`, `ItemReader`.
extension Keychain {
  /// See `ItemTable.add`.
  @discardableResult
  package func add(_ new: NewItem, in tx: WriteTransaction) throws(KeychainError) -> Item {
    try itemTable.add(new, in: tx)
  }

  /// See `ItemTable.update`.
  @discardableResult
  package func update(
    _ item: Item, attributes: ItemAttributes? = nil,
    removing: Set<ItemAttribute> = [], secret: SecretBytes? = nil,
    accessible: Accessibility? = nil, in tx: WriteTransaction
  ) throws(KeychainError) -> Item {
    try itemTable.update(
      item, attributes: attributes, removing: removing, secret: secret, accessible: accessible,
      in: tx)
  }

  /// See `ItemTable.delete`.
  package func delete(_ item: Item, in tx: WriteTransaction) throws(KeychainError) {
    try itemTable.delete(item, in: tx)
  }

  /// See `ItemTable.deleteDamaged`.
  @discardableResult
  package func deleteDamaged(
    matching query: ItemQuery, in tx: WriteTransaction
  ) throws(KeychainError) -> Int {
    try itemTable.deleteDamaged(matching: query, in: tx)
  }

  /// See `ItemSearch.items`.
  package func items(
    matching query: ItemQuery, in tx: ReadTransaction
  ) throws(KeychainError) -> [Item] {
    try itemTable.search.items(matching: query, in: tx)
  }

  /// See `ItemSearch.first`.
  package func first(
    matching query: ItemQuery, in tx: ReadTransaction
  ) throws(KeychainError) -> (item: Item, secret: SecretBytes)? {
    try itemTable.search.first(matching: query, in: tx)
  }

  /// See `ItemSearch.newestMark`.
  package func newestMark(
    matching query: ItemQuery, in tx: ReadTransaction
  ) throws(KeychainError) -> String? {
    try itemTable.search.newestMark(matching: query, in: tx)
  }

  /// See `ItemSearch.count`.
  package func count(
    of itemClass: ItemClass? = nil, in tx: ReadTransaction
  ) throws(KeychainError) -> Int {
    try itemTable.search.count(of: itemClass, in: tx)
  }

  /// See `ItemReader.secret`.
  package func secret(of item: Item, in tx: ReadTransaction) throws(KeychainError) -> SecretBytes {
    try itemTable.reader.secret(of: item, in: tx)
  }
}

/// Key slots, locking, rotation: `KeySlots`, `KeyRing`, `Rotation`.
extension Keychain {
  /// See `KeySlots.all`.
  package func slots() throws(KeychainError) -> [KeySlot] { try keySlots.all() }

  /// See `KeySlots.numbers`.
  package func slotsOpened(by secret: KeySlotSecret) throws(KeychainError) -> [Int64] {
    try keySlots.numbers(openedBy: secret)
  }

  /// See `KeySlots.add`.
  @discardableResult
  package func addKeySlot(
    _ secret: KeySlotSecret, label: String = "", for actor: String? = nil,
    wroteDeviceKey: () -> Void = {}
  ) throws(KeychainError) -> KeySlot {
    try keySlots.add(secret, label: label, for: actor, wroteDeviceKey: wroteDeviceKey)
  }

  /// See `KeySlots.remove`.
  package func removeKeySlot(_ number: Int64, for actor: String? = nil) throws(KeychainError) {
    try keySlots.remove(number, for: actor)
  }

  /// Whether what is accessible "when unlocked" can be reached.
  package var isUnlocked: Bool { keys.isUnlocked }

  /// See `KeySlots.lock`.
  package func lock() { keySlots.lock() }

  /// See `KeySlots.unlock`.
  package func unlock(with secret: KeySlotSecret) throws(KeychainError) {
    try keySlots.unlock(with: secret)
  }

  /// See `Pseudonym.make`.
  package func pseudonym(for label: String, in tx: ReadTransaction) throws(KeychainError) -> String
  {
    try Pseudonym(keys: keys, changes: changes).make(for: label, in: tx)
  }

  /// See `Rotation.run`.
  @discardableResult
  package func rotateKeys(
    _ secrets: [KeySlotSecret], deletingDeviceItems deletesDeviceItems: Bool = false,
    for actor: String? = nil
  ) throws(KeychainError) -> RotationReport {
    try Rotation(slots: keySlots)
      .run(secrets, deletingDeviceItems: deletesDeviceItems, for: actor)
  }
}

/// The audit: `AuditLog`.
extension Keychain {
  /// Names whom the changes in the rest of this transaction are made for.
  package func act(as actor: String, in tx: WriteTransaction) {
    ChangeLedger.of(tx).audit.actor = actor
  }

  /// Adds a line about something that is no change of an item.
  ///
  /// - Parameter subject: never a secret. Its first 300 bytes are kept.
  package func note(
    _ action: AuditAction, _ subject: @autoclosure () -> String, in tx: WriteTransaction
  ) throws(KeychainError) {
    guard auditLog.isKept else { return }
    try checkWritable()
    try KeychainError.wrap("writing the audit") {
      try changes.note(action, subject(), for: nil, in: tx)
    }
  }

  /// See `AuditLog.lastRecord`.
  package func lastAuditRecord() throws(KeychainError) -> Int64 {
    try auditLog.lastRecord(in: database)
  }

  /// See `AuditLog.forEachRecord`.
  package func forEachAuditRecord(
    after number: Int64 = 0, limit: Int = .max, _ body: (AuditRecord) throws -> Void
  ) throws(KeychainError) {
    try auditLog.forEachRecord(after: number, limit: limit, in: database, body)
  }

  /// See `StoreVerifier.auditProblem`.
  package func auditProblem() throws(KeychainError) -> String? {
    try verifier.auditProblem(auditLog)
  }
}

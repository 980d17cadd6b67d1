import SQLiteDatabase
import SodiumCrypto

/// An encrypted store of items, open.
///
/// Every call takes the transaction that it works in, so that items and the caller's own tables
/// change together:
///
///     try keychain.database.write { tx in
///       try keychain.add(item, in: tx)
///       try tx.execute("UPDATE …")
///     }
///
/// Its extensions do the work, on parts of which each knows only those below it:
///
///     ManifestStore · AuditLog · AnchorWriter · LogErasure
///     KeyRing ─ KeyTable
///     StoreHealth
///
/// What is where on the disk: `StoreSchema` (tables), `SealedPart` (encryption), `ItemClass` (what is
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
  let reserve: SpaceReserve
  let urgentUpkeep = Locked(UrgentUpkeep())
  /// The keys that were there when they were last read: other processes may have changed them since.
  let known: Locked<KeySetMark>
  /// The threads of this process take turns here, so that they need not poll.
  /// Not `Void`, which has no address of its own: the thread sanitizer would see a race.
  let turn = Locked(false)
  private let holding: Locked<Holding>

  /// - Parameters:
  ///   - roots: the root keys.
  ///   - opening: the keys and slots when the roots were found.
  ///   - anchored: the generation that the anchor says; 0 if none.
  ///   - lock: of the store, where it is held for as long as this is open.
  init(
    location: StoreLocation, database: SQLiteDatabase, storeID: StoreID, access: Access, options: KeychainOptions,
    arena: KeyArena, roots: [KeyID: GuardedKey], opening: KeySetMark, anchored: UInt64, lock: StoreLock?
  ) {
    self.location = location
    self.database = database
    self.storeID = storeID
    self.access = access
    self.options = options
    holding = Locked(Holding(lock: lock))
    health = StoreHealth(access: access)
    keys = KeyRing(
      roots: roots, of: opening, store: storeID, access: access, arena: arena, devicePath: location.deviceKeyPath,
      health: health)
    manifest = ManifestStore(store: storeID, keys: keys)
    auditLog = AuditLog(store: storeID, keys: keys, options: options)
    anchor = AnchorWriter(
      Anchor(path: location.anchorPath(storeID)), generation: 0, written: anchored, options: options,
      lockPath: access == .shared ? location.lockPath : nil, health: health)
    reserve = SpaceReserve(location.reservePath)
    erasure = LogErasure(access: access, database: database, keys: keys)
    known = Locked(opening)
    keepReserve()
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
    try? lastTick()
    database.close()
    keys.wipe()
    holding.withLock { $0.lock = nil }
  }
}

/// Whether it is what it should be: `StoreHealth`.
extension Keychain {
  package var condition: StoreCondition { health.condition }

  /// The rows that were found altered, by row id. They stay where they are.
  package var quarantine: Set<Int64> { health.quarantine }

  /// What a person should read once.
  package var notices: [StoreNotice] { health.notices }

  /// See `StoreHealth.checkWritable`.
  package func checkWritable() throws(KeychainError) { try health.checkWritable() }

  /// Takes the store for damaged from now on: nothing more is written to it.
  func noteFileDamaged() { health.fail(.fileDamaged) }
}

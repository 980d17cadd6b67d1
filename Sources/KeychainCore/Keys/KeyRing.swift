import SQLiteDatabase
import SodiumCrypto

/// The keys of an open store: those in memory (`LoadedKeys`), and how the others come out of their
/// records (`KeyTable`), by root keys and device key.
///
/// It changes the table only where a key is made, and takes the transaction's ledger for that. What
/// it does with the device key is beside `DeviceKey`.
final class KeyRing: Sendable {
  let store: StoreID
  let access: Keychain.Access
  let arena: KeyArena
  let devicePath: String
  let health: StoreHealth
  /// The keys and slots when the store was opened.
  let opening: KeySetMark
  let loaded: Locked<LoadedKeys>

  init(
    roots: [KeyID: GuardedKey], of opening: KeySetMark, store: StoreID, access: Keychain.Access, arena: KeyArena,
    devicePath: String, health: StoreHealth
  ) {
    self.store = store
    self.access = access
    self.arena = arena
    self.devicePath = devicePath
    self.health = health
    self.opening = opening
    loaded = Locked(LoadedKeys(roots: roots))
  }

  /// The key `id`, from memory or from its record.
  ///
  /// - Throws: `interactionNotAllowed` when only a session key opens it and there is none,
  ///   `decode` when its record is missing or was altered.
  func key(_ id: KeyID, in tx: ReadTransaction) throws -> GuardedKey {
    if let key = known(id) { return key }
    if let tx = tx as? WriteTransaction, let key = ChangeLedger.of(tx).newKeys[id] { return key }
    let key = try load(id, in: tx)
    add(key, as: id)
    return key
  }

  /// The same, of a part that only keys for `purpose` seal.
  func key(_ id: KeyID, for purpose: KeyPurpose, in tx: ReadTransaction) throws -> GuardedKey {
    guard id.purpose == purpose else { throw SodiumError.notAuthentic }
    return try key(id, in: tx)
  }

  private func known(_ id: KeyID) -> GuardedKey? { loaded.withLock { $0.keys[id] } }

  /// The newest key for `purpose`. A class gets its first key here, when it is first used.
  ///
  /// - Parameter ledger: of the transaction, which has changed something or is about to.
  func current(_ purpose: KeyPurpose, _ ledger: ChangeLedger, in tx: WriteTransaction) throws -> RootKeys.Root {
    // What this transaction has made is newer than what the others know.
    let made = ledger.newKeys
    if !made.isEmpty, let newest = made.keys.filter({ $0.purpose == purpose }).max(by: { $0.epoch < $1.epoch }),
      let key = made[newest]
    {
      return (newest, key)
    }
    let known = newest(purpose)
    if let id = known.id {
      if let key = known.key, !purpose.isOfSession { return (id, key) }
      // Of a class that was deleted, a reader of an earlier state may have brought the key back.
      if try KeyTable.record(of: id, in: tx) != nil { return (id, try key(id, in: tx)) }
    }
    if let id = try KeyTable.newest(purpose, in: tx) { return (id, try key(id, in: tx)) }
    return try make(KeyID(purpose, epoch: (known.id?.epoch ?? 0) + 1), ledger, in: tx)
  }

  /// Makes a key, writes its record and keeps it for this transaction; once that is committed it
  /// joins the others (`publish`).
  @discardableResult func make(_ id: KeyID, _ ledger: ChangeLedger, in tx: WriteTransaction) throws -> RootKeys.Root {
    let wrapper = id.purpose.accessibility?.wrapper ?? .master
    return try make(id, by: root(wrapper), ledger, in: tx)
  }

  @discardableResult func make(_ id: KeyID, by wrapper: RootKeys.Root, _ ledger: ChangeLedger, in tx: WriteTransaction)
    throws -> RootKeys.Root
  {
    let key = try arena.randomKey()
    let wrapped = try KeyRecord.wrap(
      key, id: id, store: store, by: wrapper.id, wrapper: wrapper.key, device: deviceKey(for: id, in: tx))
    try KeyTable.insert(wrapped, of: id, ledger, in: tx)
    ledger.newKeys[id] = key
    return (id, key)
  }

  /// A root key that is in memory.
  func root(_ purpose: KeyPurpose) throws -> RootKeys.Root {
    let (id, key) = newest(purpose)
    guard let id else { throw locked() }
    guard let key else { throw SodiumError.notAuthentic }
    return (id, key)
  }

  /// The newest of them that there is, and the key if it is in memory.
  private func newest(_ purpose: KeyPurpose) -> (id: KeyID?, key: GuardedKey?) {
    loaded.withLock { loaded in
      let id = loaded.current[purpose]
      return (id, id.flatMap { loaded.keys[$0] })
    }
  }

  /// One for each key of the blind index.
  var indexes: [BlindIndex] { loaded.withLock { $0.indexes } }

  func add(_ key: GuardedKey, as id: KeyID) { loaded.withLock { $0.add(key, as: id) } }

  /// What a transaction has made joins the others: right after its commit, before the next writer begins,
  /// which must find these keys and make none of its own.
  func publish(_ keys: [KeyID: GuardedKey]) {
    loaded.withLock { loaded in for (id, key) in keys { loaded.add(key, as: id) } }
  }

  func forget(_ purpose: KeyPurpose) { loaded.withLock { $0.forget(purpose) } }

  /// Drops all of them: the store is closed.
  func wipe() { loaded.withLock { $0 = LoadedKeys(roots: [:]) } }
}

/// Keys out of their records.
extension KeyRing {
  /// Reads every record that can be opened now.
  ///
  /// - Throws: `decode` when a key is missing that every store has.
  func loadAll(in tx: ReadTransaction) throws {
    for (id, wrapped) in try KeyTable.records(in: tx) {
      // A record that does not open is answered for when it is needed.
      if let key = try? unwrap(wrapped, id: id) { add(key, as: id) } else { loaded.withLock { $0.know(id) } }
    }
    loaded.withLock { $0.lockWithoutSession() }
    for purpose in [KeyPurpose.metadata, .blindIndex, .manifest, .records] {
      guard newest(purpose).key != nil else {
        throw KeychainError(.decode, "a key of the store is missing or was altered: restore a backup")
      }
    }
  }

  func load(_ id: KeyID, in tx: ReadTransaction) throws -> GuardedKey {
    guard let wrapped = try KeyTable.record(of: id, in: tx) else {
      throw KeychainError(.decode, "a key of the store is missing: restore a backup")
    }
    do { return try unwrap(wrapped, id: id) } catch let error as SodiumError {
      guard try hasOtherRoots(in: tx) else { throw error }
      throw KeychainError(
        .notAvailable, "the root keys of the store were renewed meanwhile: open it again", asksForReopening: true)
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

/// Unlocking. While the session key is missing, what is accessible "when unlocked" is out of reach,
/// and all else goes on.
extension KeyRing {
  /// Whether what is accessible "when unlocked" can be reached.
  var isUnlocked: Bool { loaded.withLock { $0.isUnlocked } }

  /// Takes the session key out of `roots`, and what it wraps out of the records.
  func unlock(by roots: [KeyID: GuardedKey], in tx: ReadTransaction) throws {
    loaded.withLock { loaded in
      loaded.unlock()
      for (id, key) in roots where id.purpose == .session { loaded.add(key, as: id) }
    }
    try loadAll(in: tx)
  }

  /// The answer where the session key is missing.
  func locked() -> KeychainError {
    // Perhaps it is not locked, and somebody took the key's record away.
    do { try health.checkListing() } catch { return error }
    return KeychainError(.interactionNotAllowed, "this class of items is locked: unlock the store with its passphrase")
  }
}

/// The keys that are in memory now, roots among them.
struct LoadedKeys {
  private(set) var keys: [KeyID: GuardedKey]
  /// The newest of each purpose, whether it could be opened or not.
  private(set) var current: [KeyPurpose: KeyID] = [:]
  /// By the index key, and after a rotation also by the one before it, for readers of an older state of the store.
  /// Replaced as a whole: who has a copy reads it without the lock, and the thread sanitizer does not see Swift
  /// count references.
  private(set) var indexes: [BlindIndex] = []

  /// Nothing that a session key wraps comes in, nor the session key itself.
  private(set) var isLocked = false

  init(roots: [KeyID: GuardedKey]) {
    keys = [:]
    for (id, key) in roots { add(key, as: id) }
  }

  mutating func add(_ key: GuardedKey, as id: KeyID) {
    if isLocked, id.purpose.isOfSession {
      if id.purpose != .session { know(id) }
      return
    }
    keys[id] = key
    if id.purpose == .blindIndex { addIndex(key, id.epoch) }
    know(id)
  }

  private mutating func addIndex(_ key: GuardedKey, _ epoch: UInt32) {
    indexes = indexes.filter { $0.epoch != epoch } + [BlindIndex(key: key, epoch: epoch)]
  }

  /// New root keys and the index key among `new`, before their commit: who reads right after it, and before
  /// `add`, needs them. If the commit fails, nothing is ever wrapped by them or found with them.
  mutating func prepare(_ roots: RootKeys, _ new: [KeyID: GuardedKey]) {
    keys[roots.master.id] = roots.master.key
    if isUnlocked { keys[roots.session.id] = roots.session.key }
    for (id, key) in new where id.purpose == .blindIndex { addIndex(key, id.epoch) }
  }

  var isUnlocked: Bool { current[.session].flatMap { keys[$0] } != nil }

  /// Of a purpose that has no keys any more. The newest stays known, so that the next one gets another number while
  /// readers of an earlier state may need this one.
  mutating func forget(_ purpose: KeyPurpose) { keys = keys.filter { $0.key.purpose != purpose } }

  mutating func forget(_ ids: Set<KeyID>) {
    for id in ids {
      keys[id] = nil
      if current[id.purpose] == id { current[id.purpose] = nil }
      if id.purpose == .blindIndex { indexes = indexes.filter { $0.epoch != id.epoch } }
    }
  }

  mutating func unlock() { isLocked = false }

  /// A store whose session key nobody gave is locked from the start.
  mutating func lockWithoutSession() { if current[.session] == nil { isLocked = true } }

  /// Notes that there is such a key.
  mutating func know(_ id: KeyID) {
    guard id.epoch > current[id.purpose]?.epoch ?? 0 else { return }
    current[id.purpose] = id
  }
}

/// Both root keys, whether the store is locked or not.
package struct RootKeys {
  package typealias Root = (id: KeyID, key: GuardedKey)

  let master: Root
  let session: Root

  /// What comes after these.
  func next(in arena: KeyArena) throws -> RootKeys {
    RootKeys(
      master: (KeyID(.master, epoch: master.id.epoch + 1), try arena.randomKey()),
      session: (KeyID(.session, epoch: session.id.epoch + 1), try arena.randomKey()))
  }

  /// What wraps the key of a purpose.
  func wrapper(of purpose: KeyPurpose) -> Root { purpose.accessibility?.wrapper == .session ? session : master }
}

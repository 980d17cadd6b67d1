import Glibc
import SQLiteDatabase
import SodiumCrypto

/// Who holds a store.
package struct LockHolder: Equatable, Sendable, CustomStringConvertible {
  package let processID: Int32?
  package let program: String?

  package var description: String {
    switch (program, processID) {
    case (let program?, let processID?): "\(program), process \(processID)"
    default: "another process"
    }
  }
}

/// One writer at a time: a lock of the kernel (flock) that ends with the process that holds it,
/// on a file that says who that is.
package final class StoreLock: Sendable {
  private let descriptor: Int32

  /// Who holds the store now; nil when nobody does. To ask, it
  /// holds the lock for a moment itself: `init` waits for that.
  package static func holder(of location: StoreLocation) -> LockHolder? {
    let descriptor = open(location.lockPath, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    let named = holder(descriptor)
    // A process that was killed leaves its name behind, and the name's number may be given again.
    guard let processID = named.processID, kill(processID, 0) == 0 || errno == EPERM,
      flock(descriptor, LOCK_SH | LOCK_NB) != 0, errno == EWOULDBLOCK
    else { return nil }
    return named
  }

  init(_ path: String) throws(KeychainError) {
    let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { throw .system("open the lock file", path: path) }
    guard Self.lock(descriptor) else {
      let code = errno
      let holder = Self.holder(descriptor)
      close(descriptor)
      guard code == EWOULDBLOCK else { throw .system("lock", path: path, code: code) }
      throw KeychainError(.notAvailable, "the store is in use by \(holder) (\(path))", lockHolder: holder)
    }
    guard Self.isStill(descriptor, at: path) else {
      close(descriptor)
      throw KeychainError(
        .notAvailable, "the store was replaced while it was being opened: try again", isTemporary: true)
    }
    self.descriptor = descriptor
    let words = Array("\(getpid()) \(Self.programName)\n".utf8)
    // It says who holds the lock; without it, the lock holds just the same.
    if ftruncate(descriptor, 0) == 0 { _ = words.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, 0) } }
  }

  /// Tries for some milliseconds: somebody may just be asking who holds it.
  private static func lock(_ descriptor: Int32) -> Bool {
    for _ in 0..<10 {
      if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return true }
      guard errno == EWOULDBLOCK else { return false }
      usleep(2_000)
    }
    return flock(descriptor, LOCK_EX | LOCK_NB) == 0
  }

  /// False when the directory was exchanged for another while this waited: then the lock is on a file
  /// that is gone.
  private static func isStill(_ descriptor: Int32, at path: String) -> Bool {
    var (opened, found) = (stat(), stat())
    return fstat(descriptor, &opened) == 0 && lstat(path, &found) == 0 && opened.st_ino == found.st_ino
      && opened.st_dev == found.st_dev
  }

  deinit {
    _ = ftruncate(descriptor, 0)
    // A child that is just being started may hold a copy of the descriptor until it has its program.
    flock(descriptor, LOCK_UN)
    close(descriptor)
  }

  private static func holder(_ descriptor: Int32) -> LockHolder {
    let text = withUnsafeTemporaryAllocation(byteCount: 256, alignment: 1) { memory in
      let count = pread(descriptor, memory.baseAddress, memory.count, 0)
      return String(decoding: memory.prefix(max(count, 0)), as: UTF8.self)
    }
    let parts = text.prefix { $0 != "\n" }.split(separator: " ", maxSplits: 1)
    guard parts.count == 2, let processID = Int32(parts[0]) else { return LockHolder(processID: nil, program: nil) }
    return LockHolder(processID: processID, program: String(parts[1]))
  }

  private static var programName: String {
    let path = CommandLine.arguments.first ?? "unknown"
    return String(path.split(separator: "/").last ?? "unknown")
  }
}

/// Reading and writing a store that several processes may change: each takes the lock for a
/// transaction, and looks whether another has changed the keys since. Of a store that is not shared,
/// these are the database's own transactions.
extension Keychain {
  /// Runs `body` on a snapshot.
  package func read<R>(_ body: (ReadTransaction) throws -> R) throws(KeychainError) -> R {
    try KeychainError.wrap("reading") {
      try database.read { tx in
        if access == .shared { try catchUp(in: tx) }
        return try body(tx)
      }
    }
  }

  /// The same for a body of one statement, which sees a snapshot of its own.
  func look<R>(_ body: (ReadTransaction) throws -> R) throws(KeychainError) -> R {
    guard access == .readWrite else { return try read(body) }
    return try KeychainError.wrap("reading") { try database.look(body) }
  }

  /// Runs `body` in one transaction, and in a shared store in its turn.
  ///
  /// - Throws: what `body` throws, and then nothing has changed; `notAvailable` when another process
  ///   holds a shared store for longer than `KeychainOptions.turnLimit`.
  package func write<R>(_ body: (WriteTransaction) throws -> R) throws(KeychainError) -> R {
    try KeychainError.wrap("writing") {
      guard access == .shared else { return try database.write(body) }
      // For all that is waited for: other threads do not add their time to it.
      let start = MonotonicTime.nanoseconds()
      return try turn.withLock { _ in
        let lock = try lockInTurn(since: start)
        return try withExtendedLifetime(lock) {
          try database.write { tx in
            try catchUp(in: tx)
            let result = try body(tx)
            // What this process has changed itself, it knows.
            let mark = try KeySetMark(in: tx)
            tx.onCommit("key set") { [known] in known.withLock { $0 = mark } }
            return result
          }
        }
      }
    }
  }

  /// Reads the keys again if others have changed them.
  private func catchUp(in tx: ReadTransaction) throws {
    try tx.afterChange {
      let found = try KeySetMark(in: tx)
      let known = self.known.withLock { $0 }
      guard found != known else { return }
      guard found.hasSameSlots(as: known) else {
        throw KeychainError(
          .notAvailable, "the ways into the store were changed by another process: open it again",
          asksForReopening: true)
      }
      try keys.loadAll(in: tx)
      self.known.withLock { $0 = found }
    }
  }

  /// Waits until no other process has the lock. It is tried once, however long ago `start` is.
  private func lockInTurn(since start: UInt64) throws(KeychainError) -> StoreLock {
    var pause: UInt32 = 200
    while true {
      do { return try StoreLock(location.lockPath) } catch {
        guard error.lockHolder != nil, MonotonicTime.nanoseconds() - start < options.turnLimit else { throw error }
        usleep(pause)
        pause = min(pause * 2, 10_000)
      }
    }
  }
}

/// The clock for waiting times. It never goes back.
enum MonotonicTime {
  static func nanoseconds() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }
}

/// What every transaction that changes the store ends with, whoever changed what:
///
///     before COMMIT   the audit's records, then the manifest
///     on COMMIT       the new keys are published, before anyone else can write
///     after COMMIT    the anchor, and the erasure of old secrets where it is not left to `tick`
extension Keychain {
  /// The transaction's ledger with the manifest in it; from here on the commit writes a new one.
  func ledger(_ tx: WriteTransaction) throws -> ChangeLedger {
    let ledger = ChangeLedger.of(tx)
    if ledger.manifest != nil { return ledger }
    (ledger.manifest, ledger.manifestKey) = try manifest.read(in: tx)
    tx.beforeCommit(ChangeLedger.key) { [auditLog, storeID] tx in
      try auditLog.append(ledger, in: tx)
      try ManifestStore.write(ledger, of: storeID, in: tx)
    }
    tx.onCommit(ChangeLedger.key) { [keys] in keys.publish(ledger.newKeys) }
    tx.afterCommit(ChangeLedger.key) { self.committed(ledger) }
    return ledger
  }

  private func committed(_ ledger: ChangeLedger) {
    let owes = erasure.committed(owing: ledger.owesErasure)
    if let manifest = ledger.manifest { anchor.noteCommit(manifest.generation) }
    // What a reader still holds back is tried again at the next change, tick or close.
    if owes, !options.defersUpkeep { _ = try? erasure.run() }
    // What only keeps a home's records up to date can wait.
    if options.defersUpkeep, ledger.owesErasure || !ledger.audit.isEmpty { urgentUpkeep.withLock { $0.isDue }() }
  }
}

/// Who is called after a commit whose upkeep should not wait for long.
///
/// A value of its own: a lock that had the closure itself would wrap it in two more each time that it lends it.
struct UrgentUpkeep: Sendable { var isDue: @Sendable () -> Void = {} }

/// What a transaction has changed so far: the manifest that its commit will write, keys that are
/// not committed yet, and whether old secrets have to be erased after it.
///
/// Every transaction has one (`of`). It counts changes once `Keychain.ledger` has put the manifest in it.
final class ChangeLedger: TransactionState {
  static let key = "keychain"

  static func of(_ tx: WriteTransaction) -> ChangeLedger { tx.state(key) { ChangeLedger() } }

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

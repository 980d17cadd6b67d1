import Glibc
import SQLiteDatabase
import SodiumCrypto

/// Drives what was deleted out of the write-ahead log: the pages in the database are zeroed by
/// `secure_delete`, but older ones lie in the log until it is cut. Keys whose records are gone are
/// forgotten then, too, since no reader can need them any more.
final class LogErasure: Sendable {
  private struct State {
    /// A secret was deleted or changed, and its old bytes may still lie in the log.
    var isOwed: Bool
    /// Keys whose records are gone. A reader may still be at an older state of the store.
    var retired: Set<KeyID> = []
  }

  private let access: Keychain.Access
  private let database: SQLiteDatabase
  private let keys: KeyRing
  private let state: Locked<State>

  init(access: Keychain.Access, database: SQLiteDatabase, keys: KeyRing) {
    self.access = access
    self.database = database
    self.keys = keys
    // A process that was killed may have owed it.
    state = Locked(State(isOwed: access != .readOnly))
  }

  var isOwed: Bool { state.withLock { $0.isOwed } }

  var retired: Set<KeyID> { state.withLock { $0.retired } }

  private func owe() { state.withLock { $0.isOwed = true } }

  /// To be forgotten when no reader can need them any more.
  func retire(_ ids: some Sequence<KeyID>) { state.withLock { $0.retired.formUnion(ids) } }

  /// - Returns: whether there is something to erase, by this commit or one before.
  func committed(owing owes: Bool) -> Bool {
    state.withLock { state in
      if owes { state.isOwed = true }
      return state.isOwed
    }
  }

  /// Does nothing when nothing was deleted and no secret changed. False when a reader holds the log: try
  /// again.
  func run() throws(KeychainError) -> Bool {
    guard access != .readOnly, isOwed else { return true }
    return try KeychainError.wrap("erasing deleted items") {
      // Asked for again by whoever deletes something from here on.
      let retired = state.withLock { state in
        state.isOwed = false
        return state.retired
      }
      do {
        if try database.checkpointTruncate() {
          // Nobody reads a state of the store any more that needs these keys.
          if !retired.isEmpty { keys.loaded.withLock { $0.forget(retired) } }
          state.withLock { $0.retired.subtract(retired) }
          return true
        }
      } catch {
        owe()
        throw error
      }
      owe()
      return false
    }
  }
}

/// What commits leave behind for later: the anchor, and the erasure of what was deleted.
extension Keychain {
  /// How long what is done last waits for other processes, in nanoseconds.
  private static let lastWait: UInt64 = 1_000_000_000

  /// Whether a call has left something for `tick` to do.
  package var owesUpkeep: Bool {
    guard access != .readOnly, !isClosed else { return false }
    return erasure.isOwed || anchor.isBehind && condition == .healthy
  }

  /// What is due from time to time: call it about once a second.
  package func tick() throws(KeychainError) { try tick(waiting: 0) }

  /// The same where there is no next time: it waits a little for other processes.
  package func lastTick() throws(KeychainError) { try tick(waiting: Self.lastWait) }

  private func tick(waiting limit: UInt64) throws(KeychainError) {
    guard access != .readOnly else { return }
    // What was deleted has to go, whatever becomes of the anchor.
    if condition == .healthy { anchor.flush(waiting: limit) }
    _ = try eraseDeletedPages()
    keepReserve()
  }

  /// Drives what was deleted out of the write-ahead log. False when a reader holds it: try again.
  package func eraseDeletedPages() throws(KeychainError) -> Bool { try erasure.run() }
}

/// Space that is kept for deleting: SQLite writes what a transaction changes into its log first, also where that frees
/// space, so on a full disk nothing could be deleted. A file beside the database, which nobody reads.
final class SpaceReserve: Sendable {
  /// Bytes: a transaction that deletes something writes some ten pages of 4 KiB.
  private static let length = 512 << 10

  private let path: String
  /// Nil: whether the file is there is not known.
  private let isThere = Locked<Bool?>(nil)

  init(_ path: String) { self.path = path }

  /// Makes the file if it is not there, and if there is room for it.
  func refill() {
    isThere.withLock { isThere in
      if isThere == nil { isThere = StoreLocation.length(of: path) == Self.length }
      guard isThere == false else { return }
      let descriptor = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
      guard descriptor >= 0 else { return }
      defer { close(descriptor) }
      // It fills no holes: where blocks are shared or compressed, it may be worth less.
      isThere = posix_fallocate(descriptor, 0, off_t(Self.length)) == 0
      if isThere == false { unlink(path) }
    }
  }

  /// Gives the space back to the disk; false where none is kept.
  func release() -> Bool {
    isThere.withLock { isThere in
      guard isThere != false else { return false }
      isThere = false
      return unlink(path) == 0
    }
  }
}

extension Keychain {
  /// Of a daemon: a command ends sooner than a disk is full.
  func keepReserve() { if access == .readWrite, options.defersUpkeep { reserve.refill() } }

  /// Runs a transaction that deletes something: on a full disk once more, with the space that is kept for that.
  package func deleting<R>(_ body: () throws -> R) throws -> R {
    do { return try body() } catch let error where Self.isDiskFull(error) && reserve.release() {
      defer {
        // At once: what is written next does not get it.
        _ = try? database.checkpointTruncate()
        reserve.refill()
      }
      return try body()
    }
  }

  private static func isDiskFull(_ error: any Error) -> Bool {
    (error as? KeychainError)?.status == .diskFull || (error as? SQLiteError)?.kind == .full
  }
}

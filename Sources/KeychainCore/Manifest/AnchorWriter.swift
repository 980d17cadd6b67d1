import Glibc
import SodiumCrypto
import Synchronization

/// Writes the anchor, about once in an interval: an fsync for each transaction would be too dear.
/// What was committed within the last interval can be rolled back unnoticed.
final class AnchorWriter: Sendable {
  private struct State {
    var written: UInt64
    var lastWrite: UInt64 = 0
    /// What is there is not what was written, and that is reported.
    var isAltered = false
  }
  /// The last commit. It is noted beside the lock: where the anchor is left to `tick`, no commit waits until it is
  /// written.
  private let noted: Atomic<UInt64>
  private let state: Locked<State>
  private let anchor: Anchor
  private let interval: UInt64
  /// Of a shared store: who writes the anchor holds this, or else it could go back.
  private let lockPath: String?
  private let isDeferred: Bool
  private let health: StoreHealth

  /// - Parameters:
  ///   - generation: of the store.
  ///   - written: what the anchor says.
  ///   - options: how often it is written, and whether after commits.
  ///   - health: gets a notice where it cannot be written.
  init(
    _ anchor: Anchor, generation: UInt64, written: UInt64, options: KeychainOptions, lockPath: String?,
    health: StoreHealth
  ) {
    self.anchor = anchor
    interval = options.anchorInterval
    isDeferred = options.defersUpkeep
    self.lockPath = lockPath
    self.health = health
    noted = Atomic(generation)
    state = Locked(State(written: written))
  }

  /// Whether something is not written yet.
  var isBehind: Bool { state.withLock { noted.load(ordering: .relaxed) > $0.written } }

  /// Notes a commit, for the next write.
  func committed(_ generation: UInt64) { noted.max(generation, ordering: .relaxed) }

  /// Notes a commit, and writes if the last write is an interval ago and commits are not left to `tick`. The
  /// caller holds the lock of the store.
  func noteCommit(_ generation: UInt64) {
    committed(generation)
    guard !isDeferred else { return }
    do { try write(evenIfRecent: false) } catch { noteFailure(error) }
  }

  /// Writes what is not written yet. In a shared store it takes the lock for that; while another has
  /// it for longer than `limit` (nanoseconds), it is left undone.
  func flush(waiting limit: UInt64 = 0) { do { try flush(until: limit) } catch { noteFailure(error) } }

  private func noteFailure(_ error: KeychainError) {
    health.note(.anchorNotWritten(path: anchor.path, reason: error.message))
  }

  private func flush(until limit: UInt64) throws(KeychainError) {
    guard isBehind else { return }
    guard let lockPath else { return try write(evenIfRecent: true) }
    let start = MonotonicTime.nanoseconds()
    while true {
      do {
        let lock = try StoreLock(lockPath)
        return try withExtendedLifetime(lock) { () throws(KeychainError) in try write(evenIfRecent: true) }
      } catch {
        guard error.lockHolder != nil else { throw error }
        guard MonotonicTime.nanoseconds() - start < limit else { return }
        usleep(2_000)
      }
    }
  }

  private func write(evenIfRecent: Bool) throws(KeychainError) {
    // Under the lock, so that an older generation is never written after a newer one.
    try state.withLock { state throws(KeychainError) in
      let committed = noted.load(ordering: .relaxed)
      guard committed > state.written else { return }
      let now = MonotonicTime.nanoseconds()
      guard evenIfRecent || now >= state.lastWrite + interval else { return }
      state.lastWrite = now
      let found = try anchor.read()
      if lockPath == nil {
        // Nobody else writes it.
        if state.written > 0, found != .generation(state.written), !state.isAltered {
          state.isAltered = true
          health.note(.anchorAltered(path: anchor.path))
        }
      } else if case .generation(let written) = found, written >= committed {
        // Another process that shares the store is ahead: the anchor never goes back.
        state.written = written
        return
      }
      try anchor.write(committed)
      (state.written, state.isAltered) = (committed, false)
    }
  }
}

/// The generation of a store, remembered outside of it: a text file of one line,
/// `generation 42`, at most 2^63 - 1. It is written after the commit, so a store is never older than its anchor
/// unless somebody put an old copy in its place.
struct Anchor {
  let path: String

  enum Found: Equatable {
    case missing
    case unreadable
    case generation(UInt64)
  }

  /// - Throws: where this process, or the machine, has no files or memory left.
  func read() throws(KeychainError) -> Found {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0 else {
      guard ![EMFILE, ENFILE, ENOMEM].contains(errno) else { throw .system("read the anchor", path: path) }
      return errno == ENOENT ? .missing : .unreadable
    }
    defer { close(descriptor) }
    let text = withUnsafeTemporaryAllocation(byteCount: 128, alignment: 1) { memory in
      let count = Glibc.read(descriptor, memory.baseAddress, memory.count)
      return String(decoding: memory.prefix(max(count, 0)), as: UTF8.self)
    }
    let words = text.split(whereSeparator: \.isWhitespace)
    guard words.count == 2, words[0] == "generation", let generation = UInt64(words[1]),
      generation <= Manifest.lastGeneration
    else { return .unreadable }
    return .generation(generation)
  }

  /// Replaces the file as a whole: after a crash it is the old one or the new one.
  func write(_ generation: UInt64) throws(KeychainError) {
    let draft = path + ".new"
    let descriptor = open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { throw .system("write the anchor", path: draft) }
    let words = Array("generation \(generation)\n".utf8)
    let isWritten =
      words.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) } == words.count
      && fdatasync(descriptor) == 0
    let code = errno
    close(descriptor)
    guard isWritten else { throw .system("write the anchor", path: draft, code: code) }
    guard rename(draft, path) == 0 else { throw .system("write the anchor", path: path) }
  }
}

import Glibc
import Synchronization

/// Who has called: the other end of a connection. Its thread reads and writes here, and waits here for the handlers of
/// its calls; all else is for any thread.
package final class VarlinkCaller: Sendable {
  private struct State {
    /// The place is another's.
    var isEvicted = false
    /// Since when the server ends.
    var finishing: ContinuousClock.Instant?
    var isClosed = false
  }

  /// The most time in which a reply is taken while the server ends.
  private static let lastSending = Duration.seconds(1)

  /// As the kernel has it.
  package let peer: SocketPeer
  package let access: VarlinkAccess
  private let socket: Int32
  private let limits: VarlinkLimits
  private let wakeup: Wakeup
  private let state = Mutex(State())

  /// - Parameter socket: `close` must follow before it is closed.
  init(_ socket: Int32, peer: SocketPeer, access: VarlinkAccess, limits: VarlinkLimits) throws(SocketError) {
    self.socket = socket
    self.peer = peer
    self.access = access
    self.limits = limits
    wakeup = try Wakeup()
  }

  /// Whether the caller has not hung up, and has its place. Who has ended the own half only still waits.
  package var isThere: Bool {
    state.withLock { !$0.isEvicted && !$0.isClosed && events & (POLLHUP | POLLERR | POLLNVAL) == 0 }
  }

  /// Ends `wait`.
  package func wake() { wakeup.wake() }

  /// Waits until a moment, or for `wake`.
  ///
  /// - Throws: when the caller has gone or has lost its place, and when the server ends.
  package func wait(until deadline: ContinuousClock.Instant) throws(CancellationError) {
    try check()
    _ = wakeup.wait(for: 0, on: socket, until: deadline)
    try check()
  }

  /// - Throws: as `wait`.
  package func check() throws(CancellationError) {
    guard isThere, state.withLock({ $0.finishing == nil }) else { throw CancellationError() }
  }

  /// Takes the place away.
  func evict() {
    state.withLock { $0.isEvicted = true }
    wakeup.wake()
  }

  var isEvicted: Bool { state.withLock { $0.isEvicted } }

  /// Nothing more is taken, and handlers wait no more.
  func finish() {
    state.withLock {
      guard !$0.isClosed else { return }
      $0.finishing = .now
      shutdown(socket, Int32(SHUT_RD))
    }
    wakeup.wake()
  }

  /// Waits for a message.
  ///
  /// - Returns: nil at the end of what the caller sends, and when it has lost its place.
  /// - Throws: `timedOut` after `limits.silence`, `tooLarge`, `closed`.
  func receive(_ frames: inout VarlinkFrames) throws(SocketError) -> [UInt8]? {
    let deadline = ContinuousClock.now + limits.silence
    while !isEvicted {
      if let message = try frames.next() { return message }
      guard wakeup.wait(for: Int16(POLLIN), on: socket, until: deadline) != nil else { throw .timedOut }
      guard try read(into: &frames) else { return nil }
    }
    return nil
  }

  /// - Returns: false at the end.
  private func read(into frames: inout VarlinkFrames) throws(SocketError) -> Bool {
    // As much as is taken from the stack: more would be made in the heap, and zeroed, for each of many short calls.
    try withUnsafeTemporaryAllocation(byteCount: 1 << 10, alignment: 1) { room throws(SocketError) -> Bool in
      // Without room for open files, so none of them gets a number here: the kernel closes them.
      let count = recv(socket, room.baseAddress, room.count, Int32(MSG_DONTWAIT))
      if count < 0 {
        guard errno == EAGAIN || errno == EINTR else { throw .closed }
        return true
      }
      frames.append(room.prefix(count))
      return count > 0
    }
  }

  /// Returns when the system has taken the message.
  ///
  /// - Throws: `timedOut` after `limits.sending`, `tooLarge`, `closed`.
  func send(_ message: [UInt8]) throws(SocketError) {
    guard message.count <= limits.message else { throw VarlinkFrames.tooLarge(limits.message) }
    let began = ContinuousClock.now
    var rest = (message + [0])[...]
    while true {
      let (isEvicted, finishing) = state.withLock { ($0.isEvicted, $0.finishing) }
      guard !isEvicted else { throw .closed }
      let count = rest.withUnsafeBytes {
        Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
      }
      guard count >= 0 || errno == EAGAIN || errno == EINTR else { throw .closed }
      rest = rest.dropFirst(max(count, 0))
      if rest.isEmpty { return }
      let last = finishing.map { max($0, began) + Self.lastSending }
      let deadline = began + limits.sending
      guard wakeup.wait(for: Int16(POLLOUT), on: socket, until: last.map { min($0, deadline) } ?? deadline) != nil
      else {
        // Nothing can follow a part of a message.
        shutdown(socket, Int32(SHUT_RDWR))
        throw .timedOut
      }
    }
  }

  /// Nothing looks at the socket after this.
  func close() {
    state.withLock { $0.isClosed = true }
    shutdown(socket, Int32(SHUT_RDWR))
  }

  /// What has happened to the connection.
  private var events: Int32 {
    var entry = pollfd(fd: socket, events: 0, revents: 0)
    return poll(&entry, 1, 0) > 0 ? Int32(entry.revents) : 0
  }
}

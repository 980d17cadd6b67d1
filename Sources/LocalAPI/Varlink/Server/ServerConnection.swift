// SPDX-License-Identifier: Apache-2.0

import Glibc
import SodiumCrypto
import Synchronization

/// One connection of a server, which its own thread runs. The handler of a call is a task of Swift's; its replies are
/// handed to the thread, one at a time.
///
/// | the connection | waits for | ends it |
/// |---|---|---|
/// | is silent | bytes of a call | the end of the caller's half; `limits.silence`; a malformed message |
/// | is being answered | the handler | the end of both halves: the handler is cancelled, unless the call is `oneway` |
/// | has a reply to write | room for bytes | `limits.sending`; the end of both halves |
///
/// A connection that has lost its place ends at once, whatever it does.
final class ServerConnection: Sendable {
  private struct State {
    /// What is left of the reply under way.
    var outgoing: ArraySlice<UInt8> = []
    /// Until when it has to be out.
    var deadline: ContinuousClock.Instant?
    /// The stream that waits until it is out.
    var writer: CheckedContinuation<Void, any Error>?
    var task: Task<Void, Never>?
    var isAnswering = false
    var isOneway = false
    var isEvicted = false
    /// A call was refused: nothing is read after the reply to it.
    var isRefused = false
    /// The server ends.
    var isFinishing = false
    var isClosed = false
  }

  /// The most time in which a reply is taken while the server ends.
  private static let lastSending = Duration.seconds(1)

  let caller: VarlinkCaller
  private let socket: Int32
  private let wakeup: Wakeup
  private let place: Int
  private let owner: ServerConnections
  private let state = Mutex(State())

  /// Takes the socket over, which `run` closes.
  init(
    _ socket: Int32, caller: VarlinkCaller, wakeup: Wakeup, place: Int, owner: ServerConnections
  ) {
    self.socket = socket
    self.caller = caller
    self.wakeup = wakeup
    self.place = place
    self.owner = owner
  }

  /// Takes the place away; from any thread.
  func evict() {
    state.withLock { $0.isEvicted = true }
    wakeup.wake()
  }

  /// Answers what has come, with handlers that are cancelled, and takes nothing more; from any thread.
  func finish() {
    state.withLock {
      $0.isFinishing = true
      $0.deadline = $0.deadline.map { min($0, .now + Self.lastSending) }
      $0.task?.cancel()
    }
    wakeup.wake()
  }

  /// Waits in system calls, until the connection and its handler have ended.
  func run() {
    // How it ends is the same for every reason: a protocol without unasked messages has no words for them.
    try? serve()
    // The stack of a thread that has ended is kept for the next one.
    wipeDeadStack()
    close()
  }

  private func serve() throws {
    var frames = VarlinkFrames(limit: owner.limits.message)
    var silenceEnd = ContinuousClock.now + owner.limits.silence
    var (isSilent, hasEnded) = (true, false)
    while true {
      let now = state.withLock { $0 }
      guard !now.isEvicted else { return }
      if now.isFinishing { shutdown(socket, Int32(SHUT_RD)) }
      let isBusy = now.isAnswering || !now.outgoing.isEmpty
      if !isBusy {
        if !isSilent {
          owner.endCall(at: place)
          silenceEnd = .now + owner.limits.silence
          isSilent = true
        }
        if now.isRefused { return }
        if let message = try frames.next() {
          try begin(message)
          // The call may have a secret, and the connection may stay.
          wipeDeadStack()
          isSilent = false
          continue
        }
        if hasEnded { return }
      }
      // While it is answered nothing is read, and only the end of the connection is looked for.
      let events = isBusy ? (now.outgoing.isEmpty ? 0 : POLLOUT) : POLLIN
      let ready = wakeup.wait(
        for: now.isOneway && now.isAnswering ? nil : Int16(events), on: socket,
        until: isBusy ? now.deadline : silenceEnd)
      guard let ready else { return }
      if isBusy {
        // Both halves, or all of it. Who has ended the own half only still waits.
        guard Int32(ready) & (POLLHUP | POLLERR | POLLNVAL) == 0 else { return }
        if Int32(ready) & POLLOUT != 0 { try write() }
      } else if ready != 0 {
        hasEnded = try !read(into: &frames)
      }
    }
  }

  /// - Returns: false at the end of what the caller sends.
  private func read(into frames: inout VarlinkFrames) throws(SocketError) -> Bool {
    try withUnsafeTemporaryAllocation(byteCount: 16 << 10, alignment: 1) {
      room throws(SocketError) -> Bool in
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

  /// Writes what there is room for.
  private func write() throws(SocketError) {
    let writer = try state.withLock {
      state throws(SocketError) -> CheckedContinuation<Void, any Error>? in
      let count = state.outgoing.withUnsafeBytes {
        Glibc.send(
          socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
      }
      if count < 0 {
        guard errno == EAGAIN || errno == EINTR else { throw .closed }
        return nil
      }
      state.outgoing = state.outgoing.dropFirst(count)
      guard state.outgoing.isEmpty else { return nil }
      state.outgoing = []
      state.deadline = nil
      defer { state.writer = nil }
      return state.writer
    }
    writer?.resume()
  }

  private func begin(_ message: [UInt8]) throws(SocketError) {
    guard owner.beginCall(at: place) else { throw .closed }
    // Before it is parsed: a flood costs as little as can be.
    if let refusal = owner.service.refusal(ofCallBy: caller) {
      return state.withLock {
        $0.isRefused = true
        put(refusal.encoded(), into: &$0)
      }
    }
    let call = try VarlinkCall(reading: message)
    let isStream = call.kind == .more
    guard !isStream || owner.beginStream(of: caller.peer.user) else {
      guard let error = owner.limits.noPlace else { throw .closed }
      return state.withLock { put(error.encoded(), into: &$0) }
    }
    state.withLock { state in
      state.isAnswering = true
      state.isOneway = call.kind == .oneway
      let task = Task { [self] in
        let last = await owner.service.answer(call, from: caller) { [self] in try await send($0) }
        if isStream { owner.endStream(of: caller.peer.user) }
        end(with: call.kind == .oneway ? nil : last)
      }
      if state.isFinishing { task.cancel() }
      state.task = task
    }
  }

  /// A reply that others follow.
  private func send(_ reply: [UInt8]) async throws {
    guard reply.count <= owner.limits.message else {
      throw VarlinkFrames.tooLarge(owner.limits.message)
    }
    try await withCheckedThrowingContinuation { continuation in
      let isTaken = state.withLock { state in
        guard !state.isClosed, state.writer == nil else { return false }
        state.writer = continuation
        put(reply, into: &state)
        return true
      }
      guard isTaken else { return continuation.resume(throwing: SocketError.closed) }
      wakeup.wake()
    }
  }

  /// The last reply of a call; nil: none.
  private func end(with reply: [UInt8]?) {
    wipeDeadStack()
    let last = reply.map {
      $0.count <= owner.limits.message
        ? $0 : owner.service.reply(to: VarlinkFrames.tooLarge(owner.limits.message))
    }
    state.withLock {
      $0.isAnswering = false
      $0.task = nil
      if let last { put(last, into: &$0) }
    }
    wakeup.wake()
  }

  private func put(_ reply: [UInt8], into state: inout State) {
    state.outgoing = (reply + [0])[...]
    state.deadline = .now + (state.isFinishing ? Self.lastSending : owner.limits.sending)
  }

  private func close() {
    let isEvictedInSilence = state.withLock {
      $0.isEvicted && !$0.isAnswering && $0.outgoing.isEmpty
    }
    if isEvictedInSilence, let error = owner.limits.noPlace {
      let reply = error.encoded() + [0]
      _ = Glibc.send(socket, reply, reply.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
    }
    shutdown(socket, Int32(SHUT_RDWR))
    // Before its task is cancelled, which asks why.
    caller.session.end()
    let (writer, task) = state.withLock { state in
      state.isClosed = true
      defer { state.writer = nil }
      return (state.writer, state.isOneway ? nil : state.task)
    }
    writer?.resume(throwing: SocketError.closed)
    task?.cancel()
    // A place is held for as long as somebody works for it.
    while state.withLock({ $0.isAnswering }) { _ = wakeup.wait(for: nil, on: -1, until: nil) }
    wakeup.close()
    owner.close(socket)
  }
}

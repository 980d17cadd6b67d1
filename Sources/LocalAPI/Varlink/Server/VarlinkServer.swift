import Glibc
import SodiumCrypto
import Synchronization
import ThreadkeeperSupport

/// A service on a Unix socket.
///
/// One thread takes connections, and each connection has one: it reads a call, performs it, writes the reply, and
/// reads the next. So calls of a connection are answered in their order, no thread of Swift's waits in a system call,
/// and who is slow, silent or never reads holds up nothing but the own connection. `CallerPlaces` bounds the
/// connections of a user and of all; one without a place keeps its thread until its handler ends.
///
/// Open files that come along are not taken: where the kernel can, the sender gets EPERM (`SocketOptions`), and
/// otherwise the kernel closes them, in the thread of the connection.
package final class VarlinkServer: Sendable {
  private let connections: ServerConnections
  private let loop: AcceptLoop

  /// Listens from now on. What an earlier process left under that name is removed: of a socket for this user only, the
  /// caller must know, by a lock, that it is no other's.
  ///
  /// - Parameters:
  ///   - judge: by the user at the other end, as the kernel has it; called for each connection, by one thread.
  ///   - onTrouble: called when connections cannot be taken for a moment.
  /// - Throws: `taken` when a socket for others would be in the way of somebody else's; `system`.
  package init(
    path: String, reach: SocketReach = .owner, limits: VarlinkLimits = .owner, service: VarlinkService,
    judge: @escaping @Sendable (SocketPeer) -> VarlinkVerdict = VarlinkServer.ownerOnly,
    onTrouble: @escaping @Sendable (SocketError) -> Void = { _ in }
  ) throws(SocketError) {
    let wakeup = try Wakeup()
    let listener = try ListeningSocket.make(path, reach)
    connections = ServerConnections(
      service: service, limits: limits, judge: judge,
      passesDescriptors: !(limits.refusesDescriptors && SocketOptions.refuseDescriptors(listener)))
    loop = AcceptLoop(path: path, listener: listener, wakeup: wakeup, connections: connections, onTrouble: onTrouble)
    SystemThread.run { [loop] in loop.run() }
  }

  deinit { stop() }

  /// This user and root, nobody else.
  package static let ownerOnly: @Sendable (SocketPeer) -> VarlinkVerdict = {
    $0.user == geteuid() || $0.user == 0 ? .admitted(.owner) : .refused(.permissionDenied)
  }

  /// Takes no more connections.
  package func stop() { loop.stop() }

  /// Takes no more connections, has handlers wait no more, and returns when all connections have ended; after `limit`
  /// all the same. What has come by now is answered.
  package func finish(within limit: Duration = .seconds(10)) async {
    stop()
    connections.endAll()
    let deadline = ContinuousClock.now + limit
    while !connections.isEmpty, ContinuousClock.now < deadline {
      do { try await Task.sleep(for: .milliseconds(5)) } catch { return }
    }
  }
}

/// How much a caller may use of a server.
package struct VarlinkLimits: Sendable {
  /// The most bytes of a message, in both directions.
  package var message = 512 << 10
  /// Connections of one user at a time; at least 1. See `CallerPlaces`.
  package var placesPerUser = 8
  /// Streams of one user at a time: the other places are for calls that end.
  package var streamsPerUser = 4
  /// Connections of all users at a time; at least 1.
  package var places = CallerPlaces.total(descriptors: SocketOptions.openFileLimit)
  /// The most time without a whole call, at the beginning and after each reply. Then the connection is closed.
  package var silence = Duration.seconds(10)
  /// The most time in which a caller takes one reply, however its bytes are portioned.
  package var sending = Duration.seconds(10)
  /// What a connection is answered that finds no place, or loses it between two calls, and a call that finds no stream
  /// free. Nil: the connection is closed.
  package var noPlace: VarlinkError?

  /// Whether the kernel is asked to refuse open files. Tests do without it, as Linux before 6.16 has to.
  var refusesDescriptors = true

  package init() {}

  /// For a socket of the daemon's own user and root: 32 places, which requests that wait for consent and streams share,
  /// and fewer where the process may open less than 512 files.
  package static var owner: VarlinkLimits { owner(descriptors: SocketOptions.openFileLimit) }

  static func owner(descriptors: UInt) -> VarlinkLimits {
    var limits = VarlinkLimits()
    limits.places = min(CallerPlaces.total(descriptors: descriptors), 32)
    limits.placesPerUser = limits.places
    limits.streamsPerUser = limits.places / 2 - 1
    return limits
  }
}

/// The thread of a server that takes connections.
final class AcceptLoop: Sendable {
  /// Microseconds in which no connection is taken after the system could not give one.
  private static let pause: UInt32 = 500_000

  private let path: String
  private let listener: Int32
  private let wakeup: Wakeup
  private let connections: ServerConnections
  private let onTrouble: @Sendable (SocketError) -> Void
  private let isStopped = Mutex(false)

  /// Takes the socket over, which `run` closes.
  init(
    path: String, listener: Int32, wakeup: Wakeup, connections: ServerConnections,
    onTrouble: @escaping @Sendable (SocketError) -> Void
  ) {
    self.path = path
    self.listener = listener
    self.wakeup = wakeup
    self.connections = connections
    self.onTrouble = onTrouble
  }

  /// From any thread.
  func stop() {
    let isFirst = isStopped.withLock { isStopped in
      defer { isStopped = true }
      return !isStopped
    }
    guard isFirst else { return }
    unlink(path)
    wakeup.wake()
  }

  /// Waits in system calls until `stop`.
  func run() {
    while true {
      _ = wakeup.wait(for: Int16(POLLIN), on: listener, until: nil)
      guard !isStopped.withLock({ $0 }) else { break }
      let socket = accept(listener, nil, nil)
      if socket >= 0 {
        _ = fcntl(socket, F_SETFD, FD_CLOEXEC)
        connections.take(socket)
      } else if ![EAGAIN, EINTR, ECONNABORTED].contains(errno) {
        onTrouble(.system("accept", path))
        // Without a pause it would be the same again at once, for as long as the trouble lasts.
        usleep(Self.pause)
      }
    }
    close(listener)
  }
}

/// One connection of a server, which its own thread runs: it reads a call, performs it, writes the replies, and reads
/// the next.
///
/// | the connection | ends with |
/// |---|---|
/// | waits for a call | the end of the caller's half; `limits.silence`; a malformed message; the loss of its place |
/// | performs one | nothing, but what the handler waits for ends with the caller (`VarlinkCaller.wait`) |
/// | writes a reply | `limits.sending`; the end of both halves; the loss of its place |
struct ServerConnection {
  let socket: Int32
  let caller: VarlinkCaller
  let place: Int
  let owner: ServerConnections

  /// Waits in system calls until it has ended.
  func run() {
    // How it ends is the same for every reason: a protocol without unasked messages has no words for them.
    let isSilent = (try? serve()) != nil
    // The stack of a thread that has ended is kept for the next one.
    wipeDeadStack()
    if isSilent, caller.isEvicted { owner.reject(socket, owner.limits.noPlace) }
    caller.close()
    owner.close(socket)
  }

  private func serve() throws {
    var frames = VarlinkFrames(limit: owner.limits.message)
    var isFirst = true
    while let message = try caller.receive(&frames), owner.beginCall(at: place) {
      // Before it is parsed: a flood costs as little as can be.
      if let refusal = owner.service.refusal(ofCallBy: caller, isFirst: isFirst) {
        return try caller.send(refusal.encoded())
      }
      isFirst = false
      try perform(try VarlinkCall(reading: message))
      // The call may have a secret, and the connection may stay.
      wipeDeadStack()
      owner.endCall(at: place)
    }
  }

  private func perform(_ call: VarlinkCall) throws {
    let (isStream, user) = (call.kind == .more, caller.peer.user)
    guard !isStream || owner.beginStream(of: user) else {
      guard let error = owner.limits.noPlace else { throw SocketError.closed }
      return try caller.send(error.encoded())
    }
    let last = owner.service.answer(call, from: caller)
    if isStream { owner.endStream(of: user) }
    guard call.kind != .oneway else { return }
    let limit = owner.limits.message
    try caller.send(last.count <= limit ? last : owner.service.reply(to: VarlinkFrames.tooLarge(limit)))
  }
}

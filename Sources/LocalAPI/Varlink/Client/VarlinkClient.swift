import Glibc
import Synchronization
import ThreadkeeperSupport
import Wire

/// A client of a service on a Unix socket, with one connection. One call at a time: another one waits for its turn,
/// and fails while a stream is open.
package final class VarlinkClient: Sendable {
  private let connection: ClientConnection
  private let isStreaming = Mutex(false)
  /// Held by the thread of the call.
  private let turn = Mutex(())

  private init(_ connection: ClientConnection) { self.connection = connection }

  deinit { connection.abort() }

  /// - Parameters:
  ///   - limit: the most time in which the connection is taken.
  ///   - messageLimit: the most bytes of a message, in both directions.
  ///   - admittingOthers: whether a daemon of another user is meant, too. See `ListenerTrust`.
  ///   - actingForOwner: whether root means the daemon of the user whose directory it is: for commands.
  /// - Returns: nil when nobody listens there.
  /// - Throws: what `TrustedConnection.open` throws.
  package static func connect(
    to path: String, within limit: Duration = .seconds(10), messageLimit: Int = 512 << 10,
    admittingOthers: Bool = false, actingForOwner: Bool = false
  ) async throws -> VarlinkClient? {
    let deadline = ContinuousClock.now + limit
    let isAbandoned = Flag()
    let socket = try await withTaskCancellationHandler {
      try await SystemThread.result(of: {
        try TrustedConnection.open(path, by: deadline, admittingOthers: admittingOthers, actingForOwner: actingForOwner)
        { isAbandoned.isSet }
      })
    } onCancel: {
      isAbandoned.set()
    }
    return socket.map { VarlinkClient(ClientConnection($0, limit: messageLimit)) }
  }

  /// Calls a method, and waits for its reply.
  ///
  /// - Throws: `VarlinkError` from the service. `SocketError`: `timedOut`, `closed`, `abandoned` when the task is
  ///   cancelled, `malformed`, `tooLarge`; the connection is of no more use then.
  package func call<Parameters: Encodable, Reply: Decodable & Sendable>(
    _ method: VarlinkMethod<Parameters, Reply>, _ parameters: Parameters, within limit: Duration = .seconds(10)
  ) async throws -> Reply {
    try await call(VarlinkCall.encode(method.fullName, parameters), within: limit) { try VarlinkReply(reading: $0) }
  }

  /// As above.
  package func call<Parameters: WireValue, Reply: WireMessage & Sendable>(
    _ method: VarlinkMethod<Parameters, Reply>, _ parameters: Parameters, within limit: Duration = .seconds(10)
  ) async throws -> Reply {
    try await call(VarlinkCall.encode(method.fullName, parameters), within: limit) { try VarlinkReply(reading: $0) }
  }

  private func call<Reply: Sendable>(
    _ call: [UInt8], within limit: Duration, _ read: @escaping @Sendable ([UInt8]) throws -> VarlinkReply<Reply>
  ) async throws -> Reply {
    guard !isStreaming.withLock({ $0 }) else { throw Self.streamIsOpen }
    let deadline = ContinuousClock.now + limit
    return try await waiting { [self] in
      try turn.withLock { _ in
        try ask(call, by: deadline)
        return try read(connection.receive(by: deadline)).parameters
      }
    }
  }

  /// Calls a method with `more`. The connection is closed with the stream, unless that comes to its end.
  ///
  /// - Parameters:
  ///   - firstLimit: the most time until the first reply.
  ///   - limit: the most time from one reply to the next; nil: without a limit.
  /// - Returns: the replies, read as they are asked for. It fails as `call` does.
  package func replies<Parameters: Encodable, Reply: Decodable & Sendable>(
    to method: VarlinkStream<Parameters, Reply>, _ parameters: Parameters,
    firstWithin firstLimit: Duration = .seconds(10), within limit: Duration? = nil
  ) throws -> AsyncThrowingStream<Reply, any Error> {
    let call = try VarlinkCall.encode(method.fullName, parameters, .more)
    let isFirst = isStreaming.withLock { isStreaming in
      defer { isStreaming = true }
      return !isStreaming
    }
    guard isFirst else { throw Self.streamIsOpen }
    let reading = Reading(self)
    return AsyncThrowingStream { try await reading.next(call, firstWithin: firstLimit, within: limit) }
  }

  /// Ends whatever waits.
  package func close() { connection.abort() }

  private static let streamIsOpen = SocketError(.malformed, "a connection with an open stream takes no other call")

  /// Who is sent away may have been answered before all was sent.
  private func ask(_ call: [UInt8], by deadline: ContinuousClock.Instant) throws {
    do { try connection.send(call, by: deadline) } catch { guard error == .closed else { throw error } }
  }

  private func waiting<R: Sendable>(_ body: @escaping @Sendable () throws -> R) async throws -> R {
    do {
      return try await withTaskCancellationHandler {
        try await SystemThread.result(of: body)
      } onCancel: {
        connection.abort()
      }
    } catch let error as SocketError {
      // What comes later would be taken for the reply to another call.
      connection.abort()
      throw Task.isCancelled ? SocketError.abandoned : error
    }
  }

  /// What a stream is at. The connection ends with it.
  private final class Reading: Sendable {
    private enum State { case unasked, open, ended }

    private let client: VarlinkClient
    private let state = Mutex(State.unasked)

    init(_ client: VarlinkClient) { self.client = client }

    deinit { if state.withLock({ $0 != .ended }) { client.connection.abort() } }

    func next<Reply: Decodable & Sendable>(_ call: [UInt8], firstWithin firstLimit: Duration, within limit: Duration?)
      async throws -> Reply?
    {
      let before = state.withLock { state in
        defer { if state == .unasked { state = .open } }
        return state
      }
      guard before != .ended else { return nil }
      do {
        let reply = try await client.waiting { [client] in
          return try client.turn.withLock { _ in
            var deadline = limit.map { ContinuousClock.now + $0 }
            if before == .unasked {
              let first = ContinuousClock.now + firstLimit
              try client.ask(call, by: first)
              deadline = first
            }
            return try VarlinkReply<Reply>(reading: client.connection.receive(by: deadline))
          }
        }
        if !reply.continues { end() }
        return reply.parameters
      } catch {
        end()
        throw error
      }
    }

    private func end() {
      state.withLock { $0 = .ended }
      client.isStreaming.withLock { $0 = false }
    }
  }

  private final class Flag: Sendable {
    private let value = Mutex(false)
    var isSet: Bool { value.withLock { $0 } }
    func set() { value.withLock { $0 = true } }
  }
}

/// A client's end of a connection. `send` and `receive` wait in system calls: they are for threads of their own.
final class ClientConnection: Sendable {
  private let limit: Int
  /// Nil when it is closed.
  private let socket: Mutex<Int32?>
  /// Held by the thread that reads.
  private let frames: Mutex<VarlinkFrames>

  init(_ socket: Int32, limit: Int) {
    self.limit = limit
    self.socket = Mutex(socket)
    frames = Mutex(VarlinkFrames(limit: limit))
  }

  deinit { if let socket = socket.withLock({ $0 }) { close(socket) } }

  /// Ends all waiting, and the connection with it; from any thread.
  func abort() { socket.withLock { if let socket = $0 { shutdown(socket, Int32(SHUT_RDWR)) } } }

  /// - Throws: `SocketError`: `tooLarge`, `closed`, `timedOut`, `system`.
  func send(_ message: [UInt8], by deadline: ContinuousClock.Instant) throws(SocketError) {
    guard message.count <= limit else { throw VarlinkFrames.tooLarge(limit) }
    let socket = try openSocket()
    var rest = (message + [0])[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes {
        Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
      }
      if count > 0 {
        rest = rest.dropFirst(count)
      } else if errno == EAGAIN {
        try SocketWait.wait(for: Int32(POLLOUT), on: socket, until: deadline)
      } else if errno != EINTR {
        throw Self.failure()
      }
    }
  }

  /// - Parameter deadline: nil: it waits for as long as the connection lasts.
  /// - Throws: `SocketError`: `tooLarge`, `closed`, `timedOut`, `system`.
  func receive(by deadline: ContinuousClock.Instant?) throws(SocketError) -> [UInt8] {
    let socket = try openSocket()
    return try frames.withLock { frames throws(SocketError) -> [UInt8] in
      var room = [UInt8](repeating: 0, count: 16 << 10)
      while true {
        if let message = try frames.next() { return message }
        let count = recv(socket, &room, room.count, Int32(MSG_DONTWAIT))
        if count > 0 {
          frames.append(room.prefix(count))
        } else if count == 0 {
          throw .closed
        } else if errno == EAGAIN {
          try SocketWait.wait(for: Int32(POLLIN), on: socket, until: deadline)
        } else if errno != EINTR {
          throw Self.failure()
        }
      }
    }
  }

  private func openSocket() throws(SocketError) -> Int32 {
    guard let socket = socket.withLock({ $0 }) else { throw .closed }
    return socket
  }

  private static func failure() -> SocketError {
    errno == EPIPE || errno == ECONNRESET ? .closed : .system("the socket", "the connection")
  }
}

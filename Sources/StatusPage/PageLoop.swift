import CLibMicroHTTPD
import Glibc
import Settings
import Synchronization
import ThreadkeeperSupport

/// What other threads have for the thread of the server.
final class PageInbox: Sendable {
  enum Message: Sendable {
    case reply(UInt64, PageReply)
    /// An event for a viewer; nil: there will be none.
    case frame(UInt64, [UInt8]?)
    case stop
  }

  private let messages = Mutex<[Message]>([])
  /// Raised while there are some.
  let signal = WakeSignal()

  func post(_ message: Message) {
    messages.withLock { $0.append(message) }
    signal.raise()
  }

  func take() -> [Message] {
    signal.clear()
    return messages.withLock { messages in
      defer { messages = [] }
      return messages
    }
  }
}

/// Serves HTTP on the thread that calls `run`: waits for sockets and for `PageInbox`, has libmicrohttpd read and write,
/// and drops who takes too long. All of it happens on that thread.
final class PageLoop {
  /// So that others get their turn.
  private static let acceptedAtOnce = 16
  /// While the system has no descriptor left for another client.
  private static let acceptPause = Duration.seconds(1)
  /// Beside the headers of a request, for libmicrohttpd's list of them and the headers of the answer.
  private static let headerRoom = 8_192
  /// POLLRDHUP, which Swift's Glibc does not know: the client sends nothing more.
  private static let readEnd: Int16 = 0x2000

  private let library: HTTPLibrary
  private let limits: PageLimits
  private let routes: PageRoutes
  private let table: ConnectionTable
  private let inbox: PageInbox
  private var listener: ListenSocket?
  private var daemon: OpaquePointer?
  /// What libmicrohttpd waits with.
  private var events: Int32 = -1
  private var connections: [UInt64: PageConnection] = [:]
  /// For which libmicrohttpd has no connection yet, by the descriptor: from 1.0 on it makes it when it runs next.
  private var arriving: [Int32: PageConnection] = [:]
  private var acceptsAgain: ContinuousClock.Instant?
  /// When it ends at the latest; nil until it is to stop.
  private var end: ContinuousClock.Instant?

  let port: Int

  init(_ configuration: PageConfiguration, routes: PageRoutes, table: ConnectionTable, inbox: PageInbox)
    throws(PageObstacle)
  {
    library = try HTTPLibrary(configuration.library)
    let listener = try ListenSocket(configuration.http.address, port: Int(configuration.http.port))
    self.listener = listener
    port = listener.port
    limits = configuration.limits
    self.routes = routes
    self.table = table
    self.inbox = inbox
    daemon = MHDStart(
      library.functions, limits.headerBytes + Self.headerRoom,
      { context, pointer, _, method, _, data, size, _ in
        guard let loop = PageLoop.from(context), let pointer, let method, let size else { return .NO }
        let part = UnsafeRawBufferPointer(start: data, count: size.pointee)
        size.pointee = 0
        return loop.handle(pointer, method: String(cString: method), part: part) ? .YES : .NO
      },
      { context, target, pointer in
        guard let loop = PageLoop.from(context), let target else { return nil }
        loop.connection(pointer)?.target = String(cString: target)
        return nil
      },
      { context, pointer, own, code in
        guard let loop = PageLoop.from(context), let pointer else { return }
        if code == .CONNECTION_NOTIFY_STARTED {
          own?.pointee = loop.begin(pointer).map { Unmanaged.passUnretained($0).toOpaque() }
        } else {
          loop.finish(pointer)
        }
      }, Unmanaged.passUnretained(self).toOpaque())
    guard let daemon else { throw .system(errno) }
    events = MHDDescriptor(library.functions, daemon)
  }

  /// Returns when it is to stop, and all answers have been sent or have had their time.
  func run() {
    while !isOver {
      wait()
      for message in inbox.take() { take(message) }
      for connection in connections.values where connection.isOverdue { connection.drop() }
      _ = library.functions.pointee.run(daemon)
      // What it could not begin it has closed.
      for connection in arriving.values { table.remove(connection.number) }
      arriving = [:]
    }
    // libmicrohttpd may be ended only when nothing is suspended.
    for connection in connections.values { connection.drop() }
    _ = library.functions.pointee.run(daemon)
    library.functions.pointee.stop_daemon(daemon)
  }

  private var isOver: Bool {
    guard let end else { return false }
    return connections.isEmpty || end <= .now
  }

  private func take(_ message: PageInbox.Message) {
    switch message {
    case .reply(let number, let reply):
      guard let connection = connections[number] else {
        reply.viewer?.leave()
        return
      }
      connection.take(reply)
    case .frame(let number, let frame): connections[number]?.take(frame: frame)
    case .stop:
      listener = nil
      end = .now + .milliseconds(limits.stopMilliseconds)
      for connection in connections.values where connection.isReceiving { connection.drop() }
    }
  }

  /// Until there is something to do. Libmicrohttpd does not notice what happens to a connection that is suspended.
  private func wait() {
    let viewers = connections.values.filter(\.isIdleViewer)
    if let again = acceptsAgain, again <= .now { acceptsAgain = nil }
    let clients = acceptsAgain == nil ? listener?.descriptor ?? -1 : -1
    var polled = [events, inbox.signal.descriptor, clients].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
    polled += viewers.map { pollfd(fd: $0.descriptor, events: Self.readEnd, revents: 0) }
    guard poll(&polled, nfds_t(polled.count), timeout) > 0 else { return }
    if polled[2].revents != 0 { accept() }
    for (viewer, polled) in zip(viewers, polled.dropFirst(3)) where polled.revents != 0 { viewer.drop() }
  }

  /// For `poll`; -1: there is nothing to wait for but the descriptors.
  private var timeout: Int32 {
    var milliseconds: UInt64 = 0
    // Nothing has a timeout of libmicrohttpd's own: where it has one, it has something to do.
    if library.functions.pointee.get_timeout(daemon, &milliseconds) == .YES { return 0 }
    let next = (connections.values.map(\.deadline) + [acceptsAgain, end]).compactMap { $0 }.min()
    return next.map { ContinuousClock.now.duration(to: $0).pollMilliseconds } ?? -1
  }

  private func accept() {
    for _ in 0..<Self.acceptedAtOnce {
      switch listener?.accept() {
      case .client(let client): serve(client)
      case .failed:
        acceptsAgain = .now + Self.acceptPause
        return
      case .nobody, nil: return
      }
    }
  }

  private func serve(_ client: ListenSocket.Client) {
    let peer = client.address.host
    guard let (number, evicted) = table.add(peer) else {
      close(client.descriptor)
      return
    }
    if let evicted { connections[evicted]?.drop() }
    arriving[client.descriptor] = PageConnection(
      number: number, descriptor: client.descriptor, peer: peer, limits: limits)
    let added = client.address.withPointer {
      library.functions.pointee.add_connection(daemon, client.descriptor, $0, $1)
    }
    // It has closed the socket then: the next client may get the same descriptor.
    if added != .YES, let lost = arriving.removeValue(forKey: client.descriptor) { table.remove(lost.number) }
  }

  // MARK: What libmicrohttpd calls

  private static func from(_ context: UnsafeMutableRawPointer?) -> PageLoop? {
    context.map { Unmanaged<PageLoop>.fromOpaque($0).takeUnretainedValue() }
  }

  private func connection(_ pointer: OpaquePointer) -> PageConnection? {
    MHDContext(library.functions, pointer).map { Unmanaged<PageConnection>.fromOpaque($0).takeUnretainedValue() }
  }

  private func begin(_ pointer: OpaquePointer) -> PageConnection? {
    let descriptor = MHDConnectionDescriptor(library.functions, pointer)
    guard let connection = arriving.removeValue(forKey: descriptor) else { return nil }
    connection.handle = HTTPHandle(library: library, pointer: pointer)
    connections[connection.number] = connection
    return connection
  }

  private func finish(_ pointer: OpaquePointer) {
    guard let connection = connection(pointer) else { return }
    connections[connection.number] = nil
    table.remove(connection.number)
    connection.leave()
  }

  /// - Returns: false where libmicrohttpd is to close the connection.
  private func handle(_ pointer: OpaquePointer, method: String, part: UnsafeRawBufferPointer) -> Bool {
    guard let connection = connection(pointer), let handle = connection.handle else { return false }
    let step = connection.step(handle, part: part) {
      table.keep(connection.number, isHealthCheck: connection.isHealthCheck)
    }
    switch step {
    case .goOn: return true
    case .drop: return false
    case .answer(let reply): return handle.answer(reply, of: connection)
    case .wait:
      connection.suspend()
      reply(to: PageRequest(connection, handle, method: method), of: connection.number)
      return true
    }
  }

  private func reply(to request: PageRequest, of number: UInt64) {
    Task { [routes, inbox] in
      let reply = await routes.reply(to: request)
      inbox.post(.reply(number, reply))
      guard let viewer = reply.viewer else { return }
      for await frame in viewer.frames { inbox.post(.frame(number, frame)) }
      inbox.post(.frame(number, nil))
      viewer.leave()
    }
  }
}

extension PageRequest {
  fileprivate init(_ connection: PageConnection, _ handle: HTTPHandle, method: String) {
    self.init(
      connection.target, method: method, host: handle.header("Host"), origin: handle.header("Origin"),
      authorization: handle.header("Authorization"), cookie: handle.header("Cookie"),
      contentType: handle.header("Content-Type"), body: connection.body, peer: connection.peer)
  }
}

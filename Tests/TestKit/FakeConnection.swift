import Foundation

/// The server's side of one connection: a socket, or the two pipes of `openssl s_server`.
///
/// `@unchecked`: only used under the lock of the `FakeBroker`, or by the thread, that owns it.
final class FakeConnection: @unchecked Sendable {
  let input: Int32
  private let output: Int32
  private let onClose: () -> Void
  private var buffer: [UInt8] = []
  private var isClosed = false
  var isVersion5 = true

  init(input: Int32, output: Int32, onClose: @escaping () -> Void) {
    self.input = input
    self.output = output
    self.onClose = onClose
    _ = fcntl(input, F_SETFL, fcntl(input, F_GETFL) | O_NONBLOCK)
  }

  deinit { close() }

  /// Reads all that has come, without waiting; false at the end of the connection.
  func receive() -> Bool {
    var chunk = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = read(input, &chunk, chunk.count)
      guard count > 0 else { return count < 0 && (errno == EAGAIN || errno == EINTR) }
      buffer += chunk[..<count]
    }
  }

  /// What has come and was not taken.
  func takeBytes() -> [UInt8] {
    defer { buffer = [] }
    return buffer
  }

  func nextPacket() -> FakePacket? { FakePacket.take(from: &buffer) }

  /// Writes all of it, waiting where the client is slow to read.
  func send(_ bytes: [UInt8]) {
    var rest = bytes[...]
    while !rest.isEmpty, !isClosed {
      let count = rest.withUnsafeBytes { write(output, $0.baseAddress, $0.count) }
      if count > 0 {
        rest = rest.dropFirst(count)
      } else if errno == EAGAIN {
        var poller = pollfd(fd: output, events: Int16(POLLOUT), revents: 0)
        poll(&poller, 1, 1000)
      } else {
        return
      }
    }
  }

  func close() {
    guard !isClosed else { return }
    isClosed = true
    onClose()
  }

  /// Closes it as a server does that has sent all.
  func finish() {
    guard !isClosed, input == output else { return close() }
    isClosed = true
    endConnection(input)
  }
}

/// Ends a connection as a server does that has sent all: what still comes is read until the client
/// closes it as well. Closed before that, it is reset, and the client may get an error instead of
/// what was sent.
package func endConnection(_ socket: Int32) {
  shutdown(socket, Int32(SHUT_WR))
  Thread.detachNewThread {
    var buffer = [UInt8](repeating: 0, count: 4_096)
    var poller = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
    while poll(&poller, 1, -1) > 0, read(socket, &buffer, buffer.count) > 0 {}
    close(socket)
  }
}

/// Where connections come from.
final class FakeListener: Sendable {
  let port: UInt16
  private let descriptor: Int32
  private let certificates: TestCertificates?

  /// - Parameter port: 0: one that is free.
  init(backlog: Int32 = 8, port wanted: UInt16 = 0) throws {
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    certificates = nil
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    // Connections of who had the port before may linger.
    var reuses: Int32 = 1
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &reuses, socklen_t(MemoryLayout<Int32>.size))
    var address = Self.address(wanted)
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let socket = descriptor
    let code = withUnsafeMutableBytes(of: &address) { bytes -> Int32 in
      let address = bytes.bindMemory(to: sockaddr.self).baseAddress
      guard bind(socket, address, length) == 0, listen(socket, backlog) == 0 else { return errno }
      return getsockname(socket, address, &length)
    }
    guard code == 0 else { throw POSIXError(.init(rawValue: code) ?? .EINVAL) }
    port = UInt16(bigEndian: address.sin_port)
  }

  /// The next connection, however long it takes; nil: the listener was closed.
  func accept() -> Int32? {
    let client = Foundation.accept(descriptor, nil, nil)
    guard client >= 0 else { return nil }
    _ = fcntl(client, F_SETFD, FD_CLOEXEC)
    return client
  }

  /// A connection to a port of this machine; nil: nobody takes it.
  static func connect(to port: UInt16) -> Int32? {
    var address = address(port)
    return withUnsafeBytes(of: &address) { connect(AF_INET, $0) }
  }

  /// A connection to a Unix socket.
  static func connect(to path: String) -> Int32? {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    return withUnsafeBytes(of: &address) { connect(AF_UNIX, $0) }
  }

  private static func connect(_ family: Int32, _ address: UnsafeRawBufferPointer) -> Int32? {
    let descriptor = socket(family, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    let code = Foundation.connect(
      descriptor, address.bindMemory(to: sockaddr.self).baseAddress, socklen_t(address.count))
    if code == 0 { return descriptor }
    _ = Foundation.close(descriptor)
    return nil
  }

  static func address(_ port: UInt16) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
    return address
  }

  init(tls certificates: TestCertificates) throws {
    descriptor = -1
    self.certificates = certificates
    port = try UnusedPort.next()
  }

  /// A connection, if one comes in that many milliseconds.
  func accept(within milliseconds: Int32) -> FakeConnection? {
    if let certificates { return try? acceptTLS(certificates) }
    var poller = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    guard poll(&poller, 1, milliseconds) > 0 else { return nil }
    return accept().map { client in FakeConnection(input: client, output: client) { _ = Foundation.close(client) } }
  }

  /// A server for one connection. It is there at once; who connects too early is refused, and
  /// comes again.
  private func acceptTLS(_ certificates: TestCertificates) throws -> FakeConnection {
    let input = try PrivatePipe()
    let output = try PrivatePipe()
    // The calling thread lives as long as the fake broker, and the server not longer.
    let process = try ChildProcess(
      "/usr/bin/setpriv",
      [
        "--pdeathsig", "KILL", "openssl", "s_server", "-quiet", "-accept", "127.0.0.1:\(port)", "-naccept", "1",
        "-cert", certificates.server, "-key", certificates.serverKey,
      ], streams: (.descriptor(input.reading), .descriptor(output.writing), .nothing))
    output.closeWriting()
    input.closeReading()
    return FakeConnection(input: output.reading, output: input.writing) {
      process.signal(SIGTERM)
      process.wait()
      // The pipes live, and stay open, as long as this closure.
      withExtendedLifetime((input, output)) {}
    }
  }

  func close() { if descriptor >= 0 { shutdown(descriptor, Int32(SHUT_RDWR)) } }

  deinit { if descriptor >= 0 { _ = Foundation.close(descriptor) } }
}

/// A port where a connection is neither taken nor refused: its queue is full and nobody empties it.
package final class BlackHole: Sendable {
  package let port: UInt16
  private let listener: FakeListener
  private let fillers: [Int32]

  /// - Parameter wanted: its port; 0: one that is free.
  package init(port wanted: UInt16 = 0) throws {
    listener = try FakeListener(backlog: 0, port: wanted)
    port = listener.port
    var fillers: [Int32] = []
    var isFull = false
    while !isFull, fillers.count < 16 {
      let filler = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      fillers.append(filler)
      _ = fcntl(filler, F_SETFL, O_NONBLOCK)
      _ = fcntl(filler, F_SETFD, FD_CLOEXEC)
      var address = FakeListener.address(port)
      let length = socklen_t(MemoryLayout<sockaddr_in>.size)
      _ = withUnsafeBytes(of: &address) { connect(filler, $0.bindMemory(to: sockaddr.self).baseAddress, length) }
      // On the loopback a handshake that is going to succeed has done so by now.
      var poller = pollfd(fd: filler, events: Int16(POLLOUT), revents: 0)
      isFull = poll(&poller, 1, 50) == 0
    }
    self.fillers = fillers
  }

  deinit { for filler in fillers { _ = close(filler) } }

  /// Whether somebody besides ourselves is trying to connect.
  package var isBeingCalled: Bool {
    let table = (try? Program.check("cat", ["/proc/net/tcp"])) ?? ""
    let remote = String(format: "0100007F:%04X", port)
    // State 02 is SYN_SENT. The last filler is one of them.
    let calling = table.split(separator: "\n").filter { line in
      let fields = line.split(separator: " ")
      return fields.count > 3 && fields[2] == remote && fields[3] == "02"
    }
    return calling.count > 1
  }
}

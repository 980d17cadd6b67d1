import Glibc
import ThreadkeeperSupport

/// An IP address with a port.
struct SocketAddress: Sendable, Equatable, CustomStringConvertible {
  /// A `sockaddr_in` or `sockaddr_in6`.
  private let bytes: [UInt8]

  private init(_ address: UnsafePointer<sockaddr>, _ length: socklen_t) {
    bytes = [UInt8](UnsafeRawBufferPointer(start: address, count: Int(length)))
  }

  /// All addresses of a name, in the order in which the system would try them.
  ///
  /// - Throws: the code of getaddrinfo(3).
  static func all(of host: String, port: UInt16) throws(LookupFailure) -> [SocketAddress] {
    var hints = addrinfo()
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    var found: UnsafeMutablePointer<addrinfo>?
    let code = getaddrinfo(host, "\(port)", &hints, &found)
    guard code == 0 else { throw LookupFailure(code: code) }
    defer { freeaddrinfo(found) }
    var addresses: [SocketAddress] = []
    var next = found
    while let entry = next?.pointee {
      if let address = entry.ai_addr, [AF_INET, AF_INET6].contains(entry.ai_family) {
        addresses.append(SocketAddress(address, entry.ai_addrlen))
      }
      next = entry.ai_next
    }
    return addresses
  }

  struct LookupFailure: Error { let code: Int32 }

  /// One end of a TCP connection; nil where there is none.
  static func end(
    _ socket: Int32, _ name: (Int32, UnsafeMutablePointer<sockaddr>?, UnsafeMutablePointer<socklen_t>?) -> Int32
  ) -> SocketAddress? {
    var storage = sockaddr_storage()
    var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    return withUnsafeMutableBytes(of: &storage) { bytes in
      guard let address = bytes.bindMemory(to: sockaddr.self).baseAddress, name(socket, address, &length) == 0,
        [AF_INET, AF_INET6].contains(Int32(address.pointee.sa_family))
      else { return nil }
      return SocketAddress(address, length)
    }
  }

  /// An interface's address; nil where it is not one of IP.
  init?(ofInterface address: UnsafePointer<sockaddr>?) {
    guard let address else { return nil }
    switch Int32(address.pointee.sa_family) {
    case AF_INET: self.init(address, socklen_t(MemoryLayout<sockaddr_in>.size))
    case AF_INET6: self.init(address, socklen_t(MemoryLayout<sockaddr_in6>.size))
    default: return nil
    }
  }

  func withPointer<R>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> R) -> R {
    var storage = sockaddr_storage()
    withUnsafeMutableBytes(of: &storage) { $0.copyBytes(from: bytes) }
    return withUnsafePointer(to: &storage) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(bytes.count)) }
    }
  }

  var family: Int32 { withPointer { address, _ in Int32(address.pointee.sa_family) } }

  /// In network order, 16 bytes: of an IPv4 address its form in IPv6, `::ffff:a.b.c.d`.
  var host: [UInt8] {
    family == AF_INET ? [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF] + bytes[4..<8] : Array(bytes[8..<24])
  }

  var port: UInt16 { UInt16(bytes[2]) << 8 | UInt16(bytes[3]) }

  var isIPv4: Bool { host.prefix(12) == [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF] }

  /// 127.0.0.0/8 or ::1.
  var isLoopback: Bool { Loopback.contains(host) }

  /// The address alone.
  var description: String {
    var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
    let code = withPointer { getnameinfo($0, $1, &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST) }
    guard code == 0 else { return "?" }
    return String(cBytes: text)
  }
}

/// TCP connections to the addresses of one name, of which the first to be there is used (RFC 8305).
///
/// ```
///   0 ms   the library's own attempt, to the first address
///          ── pause, or at once when an attempt fails ──
/// 250 ms   the second address, beside it
/// 500 ms   the third one …
/// ```
/// Each has a few seconds: a name's first address may be one that nothing answers for, such as that of a machine
/// without the IPv6 that its name promises, and the kernel would wait for it for more than two minutes.
struct AddressRace {
  enum Outcome {
    /// The library's own socket is connected.
    case library
    /// This one is, which is the caller's to close.
    case other(Int32)
    /// None, with one failure for each address, in their order.
    case failed([Failure])
  }

  struct Failure {
    let address: SocketAddress
    /// As `errno` has it.
    var code: Int32
  }

  private struct Attempt {
    let socket: Int32
    let address: SocketAddress
    let deadline: ContinuousClock.Instant
  }

  static let limit = Duration.seconds(5)

  private let addresses: [SocketAddress]
  private let library: Int32
  private let libraryErrno: Int32
  private let pause: Duration
  private let limit: Duration
  private var waiting: ArraySlice<SocketAddress>
  private var running: [Attempt] = []
  private var failures: [Failure] = []
  private var nextStart = ContinuousClock.now

  /// - Parameters:
  ///   - addresses: of the name, at least one.
  ///   - library: a socket that the library is connecting to one of them, most likely the first.
  ///   - libraryErrno: what it met when it began a handshake there.
  init(
    _ addresses: [SocketAddress], library: Int32, libraryErrno: Int32 = 0, pause: Duration = .milliseconds(250),
    limit: Duration = Self.limit
  ) {
    self.addresses = addresses
    self.library = library
    self.libraryErrno = libraryErrno
    self.pause = pause
    self.limit = limit
    // Where a resolver turns its answers round, the library's attempt is to another one.
    waiting = addresses.count > 1 ? (addresses.dropFirst() + addresses.prefix(1))[...] : []
  }

  /// Blocks until one is connected, or all have failed.
  mutating func run() -> Outcome {
    defer { for attempt in running where attempt.socket != library { close(attempt.socket) } }
    if let first = addresses.first { begin(first, library) }
    while true {
      if let next = waiting.first, running.isEmpty || .now >= nextStart {
        waiting.removeFirst()
        start(next)
        continue
      }
      guard let winner = waitForChange() else {
        if running.isEmpty, waiting.isEmpty { break }
        continue
      }
      running.removeAll { $0.socket == winner }
      return winner == library ? .library : .other(winner)
    }
    return .failed(addresses.compactMap { address in failures.first { $0.address == address } })
  }

  private mutating func begin(_ address: SocketAddress, _ socket: Int32) {
    running.append(Attempt(socket: socket, address: address, deadline: .now + limit))
    nextStart = .now + pause
  }

  private mutating func start(_ address: SocketAddress) {
    let kind = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
    let socket = socket(address.family, kind, 0)
    guard socket >= 0 else { return fail(address, errno) }
    var one: Int32 = 1
    // As the library has it; without it all works, more slowly.
    setsockopt(socket, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
    let code = address.withPointer { connect(socket, $0, $1) == 0 ? 0 : errno }
    guard code == 0 || code == EINPROGRESS else {
      close(socket)
      return fail(address, code)
    }
    begin(address, socket)
  }

  private mutating func fail(_ address: SocketAddress, _ code: Int32) {
    nextStart = .now
    if let index = failures.firstIndex(where: { $0.address == address }) {
      failures[index].code = code
    } else {
      failures.append(Failure(address: address, code: code))
    }
  }

  /// Waits until an attempt ends, or it is time for the next one.
  ///
  /// - Returns: the socket that is connected.
  private mutating func waitForChange() -> Int32? {
    var descriptors = running.map { pollfd(fd: $0.socket, events: Int16(POLLOUT), revents: 0) }
    guard var end = running.map(\.deadline).min() else { return nil }
    if !waiting.isEmpty { end = min(end, nextStart) }
    _ = poll(&descriptors, nfds_t(descriptors.count), max(.zero, ContinuousClock.now.duration(to: end)).milliseconds)
    for (attempt, descriptor) in zip(running, descriptors) {
      var code = ETIMEDOUT
      if descriptor.revents != 0 {
        code = Self.error(of: attempt.socket)
        if code == 0, SocketAddress.end(attempt.socket, getpeername) != nil { return attempt.socket }
        if code == 0, attempt.socket == library {
          // It was connected, and the handshake has begun there: what became of it the library finds out.
          if libraryErrno == ECONNRESET { return library }
          // The handshake has taken the reason away.
          code = libraryErrno
        }
      } else if .now < attempt.deadline {
        continue
      }
      running.removeAll { $0.socket == attempt.socket }
      if attempt.socket != library { close(attempt.socket) }
      fail(attempt.address, code)
    }
    return nil
  }

  private static func error(of socket: Int32) -> Int32 {
    var code: Int32 = 0
    var length = socklen_t(MemoryLayout<Int32>.size)
    return getsockopt(socket, SOL_SOCKET, SO_ERROR, &code, &length) == 0 ? code : errno
  }
}

extension String {
  /// What a C function has written, up to the zero.
  init(cBytes: [CChar]) { self = cBytes.withUnsafeBytes { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) } }
}

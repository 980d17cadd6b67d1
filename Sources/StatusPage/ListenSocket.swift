import Glibc

/// A TCP socket for clients to connect to, on an IP address of this machine. It never waits.
final class ListenSocket {
  /// A client that has connected. Whoever has it closes its socket.
  struct Client {
    let descriptor: Int32
    let address: Address
  }

  struct Address {
    fileprivate var storage = sockaddr_storage()
    fileprivate var length = socklen_t(MemoryLayout<sockaddr_storage>.size)

    /// The IP address, without the zone of a link-local one; nil where there is no text for it.
    var host: String? { text(NI_NUMERICHOST).map { String($0.prefix { $0 != "%" }) } }

    var port: Int? { text(NI_NUMERICSERV).flatMap { Int($0) } }

    /// - Parameter part: `NI_NUMERICHOST` or `NI_NUMERICSERV`.
    private func text(_ part: Int32) -> String? {
      var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
      let room = socklen_t(text.count)
      let code = withPointer { address, length in
        part == NI_NUMERICHOST
          ? getnameinfo(address, length, &text, room, nil, 0, part)
          : getnameinfo(address, length, nil, 0, &text, room, part)
      }
      guard code == 0 else { return nil }
      return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    func withPointer<R>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> R) -> R {
      withUnsafePointer(to: storage) { $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, length) } }
    }

    /// Has a system call fill it in.
    fileprivate mutating func fill(_ call: (UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Int32)
      -> Int32
    {
      length = socklen_t(MemoryLayout<sockaddr_storage>.size)
      return withUnsafeMutablePointer(to: &storage) { storage in
        storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { call($0, &length) }
      }
    }
  }

  enum Arrival {
    case client(Client)
    case nobody
    /// Nobody can be accepted now: the system has no descriptor or memory left.
    case failed
  }

  /// Clients that wait to be accepted.
  private static let backlog: Int32 = 256
  /// Bytes that wait in the kernel for a client that does not read.
  private static let sendBuffer: Int32 = 65_536

  let descriptor: Int32
  private(set) var port: Int

  /// - Parameter port: 0: one that is free.
  init(_ address: String, port: Int) throws(PageObstacle) {
    self.port = port
    var hints = addrinfo()
    hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    var found: UnsafeMutablePointer<addrinfo>?
    guard getaddrinfo(address, "\(port)", &hints, &found) == 0, let found else { throw .system(EADDRNOTAVAIL) }
    defer { freeaddrinfo(found) }
    descriptor = socket(
      found.pointee.ai_family, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
    guard descriptor >= 0 else { throw .system(errno) }
    // The sockets of clients inherit it.
    for (option, value) in [(SO_REUSEADDR, 1), (SO_SNDBUF, Self.sendBuffer)] as [(Int32, Int32)] {
      var value = value
      setsockopt(descriptor, SOL_SOCKET, option, &value, socklen_t(MemoryLayout<Int32>.size))
    }
    guard bind(descriptor, found.pointee.ai_addr, found.pointee.ai_addrlen) == 0, listen(descriptor, Self.backlog) == 0
    else { throw .system(errno) }
    var own = Address()
    if own.fill({ getsockname(descriptor, $0, $1) }) == 0 { self.port = own.port ?? port }
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  func accept() -> Arrival {
    var address = Address()
    while true {
      let client = address.fill { Glibc.accept(descriptor, $0, $1) }
      if client >= 0 {
        _ = fcntl(client, F_SETFD, FD_CLOEXEC)
        return .client(Client(descriptor: client, address: address))
      }
      switch errno {
      case EAGAIN: return .nobody
      // The client has gone meanwhile.
      case ECONNABORTED, EINTR: continue
      default: return .failed
      }
    }
  }
}

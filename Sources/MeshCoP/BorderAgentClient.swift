import CLibCrypto
import Glibc
import SodiumCrypto
import ThreadkeeperSupport

/// Reads border routers over UDP, each in a conversation of 20 s at most, on the caller's thread.
package enum BorderAgentClient {
  /// - Parameters:
  ///   - address: of IPv4 or IPv6, where it is link-local with its interface, as `fe80::1%eth0`. No name.
  ///   - port: as `_meshcop._udp` or `_meshcop-e._udp` announces it.
  ///   - secret: the PSKc's 16 bytes, or the nine digits of a code.
  ///   - signal: ends it at once.
  /// - Throws: `BorderAgentError`.
  package static func read(_ address: String, port: UInt16, with secret: SecretBytes, until signal: WakeSignal? = nil)
    throws(BorderAgentError) -> RouterReading
  {
    // libcrypto leaves numbers on the stack, and errors in the thread's queue, where OpenSSL would report them for
    // another connection of this thread.
    defer {
      ERR_clear_error()
      wipeDeadStack()
    }
    let socket = try connect(to: address, port)
    defer { close(socket) }
    var conversation = try Conversation(secret: secret, random: RandomBytes.fill, at: .now)
    var events = conversation.start(at: .now)
    // A port may be closed for a moment only, so what the system reports counts when it is reported twice.
    var socketErrors: [Int32] = []
    while true {
      for event in events {
        switch event {
        case .send(let datagram): if send(socket, datagram, datagram.count, 0) < 0 { socketErrors.append(errno) }
        case .ended(.success(let reading)): return reading
        case .ended(.failure(let error)): throw error
        }
      }
      var polled = [socket, signal?.descriptor ?? -1].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
      _ = poll(&polled, nfds_t(polled.count), (conversation.deadline - .now).pollMilliseconds)
      events = signal?.isRaised == true ? conversation.stop() : []
      if polled[0].revents != 0 {
        // One byte more than is taken, so that none is taken that is cut off.
        var datagram = [UInt8](repeating: 0, count: Record.mostDatagramBytes + 1)
        let (count, code) = (recv(socket, &datagram, datagram.count, 0), errno)
        if count >= 0 {
          socketErrors = []
          events += conversation.receive(Array(datagram[..<count]), at: .now)
        } else if code != EAGAIN {
          socketErrors.append(code)
        }
      }
      if socketErrors.count > 1 { throw .unreachable(socketErrors[1]) }
      events += conversation.tick(at: .now)
    }
  }

  /// Only datagrams from there arrive.
  private static func connect(to address: String, _ port: UInt16) throws(BorderAgentError) -> Int32 {
    var (hints, list) = (addrinfo(), nil as UnsafeMutablePointer<addrinfo>?)
    hints.ai_flags = AI_NUMERICHOST
    hints.ai_socktype = Int32(SOCK_DGRAM.rawValue)
    guard getaddrinfo(address, "\(port)", &hints, &list) == 0, let entry = list?.pointee else {
      throw .unreachable(EADDRNOTAVAIL)
    }
    defer { freeaddrinfo(list) }
    let kind = SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue
    let descriptor = socket(entry.ai_family, Int32(kind), 0)
    guard descriptor >= 0 else { throw .unreachable(errno) }
    guard Glibc.connect(descriptor, entry.ai_addr, entry.ai_addrlen) == 0 else {
      let code = errno
      close(descriptor)
      throw .unreachable(code)
    }
    return descriptor
  }
}

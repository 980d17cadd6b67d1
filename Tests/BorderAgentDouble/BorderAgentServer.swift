import Glibc
import SodiumCrypto
import Synchronization
import ThreadkeeperSupport

/// A `BorderAgentDouble` at a UDP port, on a thread of its own. Each client has a session of its own.
package final class BorderAgentServer: Sendable {
  package let port: UInt16

  private struct State {
    var sessions: [[UInt8]: BorderAgentDouble] = [:]
    /// The session of the last datagram.
    var last: BorderAgentDouble
    var waiting: [CheckedContinuation<Void, Never>] = []
    var hasDatagram = false
  }

  private let state: Mutex<State>
  private let signal = WakeSignal()
  private let thread = Mutex<SystemThread?>(nil)

  /// The session of the last datagram.
  package var router: BorderAgentDouble { state.withLock(\.last) }

  /// - Parameter isSilent: it answers nothing.
  package init(_ router: BorderAgentDouble, address: String = "127.0.0.1", port: UInt16 = 0, isSilent: Bool = false)
    throws
  {
    state = Mutex(State(last: router))
    let (socket, bound) = try Self.bind(address, port)
    self.port = bound
    let started = try SystemThread { [state = Unowned(self), signal] in
      defer { close(socket) }
      while !signal.isRaised {
        var polled = [socket, signal.descriptor].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        _ = poll(&polled, nfds_t(polled.count), -1)
        guard polled[0].revents != 0 else { continue }
        Self.serve(socket) { state.server.answer($0, from: $1, with: router, isSilent: isSilent) }
      }
    }
    thread.withLock { $0 = started }
  }

  /// Returns when the port is free. The server has to be stopped before it is released.
  package func stop() {
    signal.raise()
    thread.withLock { thread in
      thread?.join()
      thread = nil
    }
  }

  package func waitForDatagram() async {
    await withCheckedContinuation { continuation in
      let hasDatagram = state.withLock { state in
        if !state.hasDatagram { state.waiting.append(continuation) }
        return state.hasDatagram
      }
      if hasDatagram { continuation.resume() }
    }
  }

  private struct Unowned: @unchecked Sendable {
    // The thread ends before the server is released.
    unowned let server: BorderAgentServer
    init(_ server: BorderAgentServer) { self.server = server }
  }

  private func answer(_ datagram: [UInt8], from client: [UInt8], with router: BorderAgentDouble, isSilent: Bool)
    -> [[UInt8]]
  {
    let (answers, waiting) = state.withLock { state in
      var session = state.sessions[client] ?? router
      let answers = session.receive(datagram)
      (state.sessions[client], state.last, state.hasDatagram) = (session, session, true)
      defer { state.waiting = [] }
      return (answers, state.waiting)
    }
    for continuation in waiting { continuation.resume() }
    return isSilent ? [] : answers
  }

  private static func serve(_ socket: Int32, _ answer: ([UInt8], [UInt8]) -> [[UInt8]]) {
    var (client, length) = (sockaddr_storage(), socklen_t(MemoryLayout<sockaddr_storage>.size))
    var datagram = [UInt8](repeating: 0, count: 2_048)
    withUnsafeMutableBytes(of: &client) { address in
      let pointer = address.bindMemory(to: sockaddr.self).baseAddress
      let count = recvfrom(socket, &datagram, datagram.count, 0, pointer, &length)
      guard count >= 0 else { return }
      for bytes in answer(Array(datagram[..<count]), Array(address.prefix(Int(length)))) {
        _ = sendto(socket, bytes, bytes.count, 0, pointer, length)
      }
    }
  }

  private struct SystemError: Error { let code = errno }

  private static func bind(_ address: String, _ port: UInt16) throws -> (Int32, UInt16) {
    var (hints, list) = (addrinfo(), nil as UnsafeMutablePointer<addrinfo>?)
    hints.ai_flags = AI_NUMERICHOST
    hints.ai_socktype = Int32(SOCK_DGRAM.rawValue)
    guard getaddrinfo(address, "\(port)", &hints, &list) == 0, let entry = list?.pointee else { throw SystemError() }
    defer { freeaddrinfo(list) }
    let descriptor = socket(entry.ai_family, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    var (own, length) = (sockaddr_storage(), socklen_t(MemoryLayout<sockaddr_storage>.size))
    let bound = withUnsafeMutableBytes(of: &own) { bytes -> UInt16? in
      guard let pointer = bytes.bindMemory(to: sockaddr.self).baseAddress,
        Glibc.bind(descriptor, entry.ai_addr, entry.ai_addrlen) == 0, getsockname(descriptor, pointer, &length) == 0
      else { return nil }
      return UInt16(bytes[2]) << 8 | UInt16(bytes[3])
    }
    guard let bound else {
      defer { close(descriptor) }
      throw SystemError()
    }
    return (descriptor, bound)
  }
}

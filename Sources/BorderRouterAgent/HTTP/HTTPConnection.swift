// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Sends one request over a connection of its own and waits for the answer, on the caller's thread.
///
/// A socket with `poll` and nothing more: the answers are tiny and come one at a time, and a client of a library
/// would add Foundation, or an event loop, to the program.
struct HTTPConnection {
  let address: HTTPAddress
  /// From the look-up's end to the last byte of the answer.
  let timeout: Duration
  /// Readable when the agent stops; nil: the request is finished in any case.
  let signal: StopSignal?

  /// - Throws: `HTTPFailure`.
  func perform(_ request: HTTPRequest) throws(HTTPFailure) -> HTTPAnswer {
    let addresses = try resolve()
    defer { freeaddrinfo(addresses) }
    let deadline = ContinuousClock.now + timeout
    var candidate: UnsafeMutablePointer<addrinfo>? = addresses
    var failure = HTTPFailure.unreachable("no address")
    while let info = candidate?.pointee {
      do throws(HTTPFailure) {
        let descriptor = try connect(info, until: deadline)
        defer { close(descriptor) }
        try send(request.bytes(for: address), to: descriptor, until: deadline)
        return try receive(from: descriptor, until: deadline)
      } catch {
        // The next address may be served: `localhost` is often both ::1 and 127.0.0.1.
        guard case .unreachable = error else { throw error }
        failure = error
      }
      candidate = info.ai_next
    }
    throw failure
  }

  private func resolve() throws(HTTPFailure) -> UnsafeMutablePointer<addrinfo> {
    var hints = addrinfo()
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    hints.ai_flags = AI_NUMERICSERV
    var result: UnsafeMutablePointer<addrinfo>?
    let code = getaddrinfo(address.host, "\(address.port)", &hints, &result)
    guard code == 0, let result else {
      throw .unreachable(String(cString: gai_strerror(code)))
    }
    return result
  }

  private func connect(
    _ info: addrinfo, until deadline: ContinuousClock.Instant
  ) throws(HTTPFailure) -> Int32 {
    let kind = info.ai_socktype | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
    let descriptor = socket(info.ai_family, kind, info.ai_protocol)
    guard descriptor >= 0 else { throw .unreachable(Self.words(errno)) }
    do throws(HTTPFailure) {
      if Glibc.connect(descriptor, info.ai_addr, info.ai_addrlen) != 0 {
        guard errno == EINPROGRESS else { throw .unreachable(Self.words(errno)) }
        try wait(for: POLLOUT, on: descriptor, until: deadline)
        var code: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &code, &length)
        guard code == 0 else { throw .unreachable(Self.words(code)) }
      }
      return descriptor
    } catch {
      close(descriptor)
      throw error
    }
  }

  private func send(
    _ bytes: [UInt8], to descriptor: Int32, until deadline: ContinuousClock.Instant
  ) throws(HTTPFailure) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes {
        Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      if count > 0 {
        rest = rest.dropFirst(count)
      } else if errno == EAGAIN {
        try wait(for: POLLOUT, on: descriptor, until: deadline)
      } else if errno != EINTR {
        throw .garbage("the connection was closed: \(Self.words(errno))")
      }
    }
  }

  private func receive(
    from descriptor: Int32, until deadline: ContinuousClock.Instant
  ) throws(HTTPFailure) -> HTTPAnswer {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 8_192)
    while true {
      try wait(for: POLLIN, on: descriptor, until: deadline)
      let count = buffer.withUnsafeMutableBytes { recv(descriptor, $0.baseAddress, $0.count, 0) }
      if count < 0 {
        guard errno == EAGAIN || errno == EINTR else {
          throw .garbage("the connection was closed: \(Self.words(errno))")
        }
        continue
      }
      bytes += buffer.prefix(count)
      if let answer = try HTTPAnswer.read(bytes, isComplete: count == 0) { return answer }
      guard bytes.count <= HTTPAnswer.limit else { throw .garbage("the answer is too long") }
    }
  }

  private func wait(
    for event: Int32, on descriptor: Int32, until deadline: ContinuousClock.Instant
  ) throws(HTTPFailure) {
    while true {
      let left = ContinuousClock.now.duration(to: deadline)
      guard left > .zero else { throw .timeout }
      var polled = [pollfd(fd: descriptor, events: Int16(event), revents: 0)]
      if let signal {
        polled.append(pollfd(fd: signal.descriptor, events: Int16(POLLIN), revents: 0))
      }
      let found = poll(&polled, nfds_t(polled.count), left.pollMilliseconds)
      if let signal, signal.isRaised { throw .stopped }
      if found > 0, polled[0].revents != 0 { return }
    }
  }

  private static func words(_ code: Int32) -> String { String(cString: strerror(code)) }
}

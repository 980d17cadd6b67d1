// SPDX-License-Identifier: Apache-2.0

import Glibc
import SystemThreads

/// Sends one request over a connection of its own and waits for the answer, on the caller's thread.
///
/// A socket with `poll` and nothing more: the answers are tiny and come one at a time, and a client of a library
/// would add Foundation, or an event loop, to the program.
struct HTTPConnection {
  let address: HTTPAddress
  let lookup: NameLookup
  /// From the look-up's beginning to the last byte of the answer.
  let timeout: Duration
  /// Whose programs may listen there, where that is on this machine.
  let users: Set<UInt32>
  /// Readable when the agent stops; nil: the request is finished in any case.
  let signal: WakeSignal?

  /// - Throws: `HTTPFailure`.
  func perform(_ request: HTTPRequest) throws(HTTPFailure) -> HTTPAnswer {
    let deadline = ContinuousClock.now + timeout
    let endpoints = try lookup.endpoints(until: deadline, signal)
    var failure = HTTPFailure.unreachable("no address")
    for (index, endpoint) in endpoints.enumerated() {
      // One that takes no connections leaves the others their time.
      let share = ContinuousClock.now.duration(to: deadline) / (endpoints.count - index)
      do throws(HTTPFailure) {
        let descriptor = try connect(endpoint, until: .now + share)
        defer { close(descriptor) }
        try checkListener(at: endpoint)
        try send(request.bytes(for: address), to: descriptor, until: deadline)
        return try receive(from: descriptor, until: deadline)
      } catch {
        // The next address may be served: `localhost` is both ::1 and 127.0.0.1.
        switch (error, failure) {
        case (.unreachable, .untrusted): break
        case (.unreachable, _), (.untrusted, _): failure = error
        default: throw error
        }
      }
    }
    throw failure
  }

  /// What it means that a connection was neither accepted nor refused in time. On this machine nothing gets lost on the
  /// way: there the system has taken the connections of a program that does not answer, until it had no place for more.
  static func unaccepted(onLoopback: Bool) -> HTTPFailure {
    onLoopback ? .timeout : .unreachable("no answer to the connection")
  }

  /// Who has bound the port that the connection goes to: while a router is off, any user of its machine can.
  ///
  /// - Throws: `untrusted`; `unchecked`; `unreachable` where nobody listens any more.
  private func checkListener(at endpoint: HTTPEndpoint) throws(HTTPFailure) {
    guard endpoint.isLoopback else { return }
    // The table may miss one while others come and go.
    for _ in 0..<3 {
      let found = try PortListeners.current().users(at: endpoint.host, port: address.port)
      if let other = found.subtracting(users).min() {
        throw .untrusted("a program of user \(other) listens on port \(address.port)")
      }
      if !found.isEmpty { return }
    }
    throw .unreachable("nothing listens on port \(address.port)")
  }

  private func connect(
    _ endpoint: HTTPEndpoint, until deadline: ContinuousClock.Instant
  ) throws(HTTPFailure) -> Int32 {
    let kind =
      Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
    let descriptor = socket(endpoint.family, kind, 0)
    guard descriptor >= 0 else { throw .unreachable(Self.message(errno)) }
    do throws(HTTPFailure) {
      let result = endpoint.address.withUnsafeBytes {
        Glibc.connect(
          descriptor, $0.bindMemory(to: sockaddr.self).baseAddress, socklen_t($0.count))
      }
      if result != 0 {
        guard errno == EINPROGRESS else { throw .unreachable(Self.message(errno)) }
        do throws(HTTPFailure) {
          try wait(for: POLLOUT, on: descriptor, until: deadline)
        } catch {
          throw error == .timeout ? Self.unaccepted(onLoopback: endpoint.isLoopback) : error
        }
        var code: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &code, &length)
        guard code == 0 else { throw .unreachable(Self.message(code)) }
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
        throw .garbage("the connection was closed: \(Self.message(errno))")
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
          throw .garbage("the connection was closed: \(Self.message(errno))")
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

  private static func message(_ code: Int32) -> String { String(cString: strerror(code)) }
}

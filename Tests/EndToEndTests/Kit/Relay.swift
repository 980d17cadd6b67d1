// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization

/// Stands between a daemon and its broker, and can lose what the daemon's intake says: the broker
/// goes on delivering, and hears no acknowledgement.
final class Relay: Sendable {
  let port: UInt16
  private let listener: Int32
  private let broker: UInt16
  private let state = Mutex(State())

  private struct State {
    var isDeaf = false
    var descriptors: [Int32] = []
  }

  init(to broker: UInt16) throws {
    self.broker = broker
    listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    _ = fcntl(listener, F_SETFD, FD_CLOEXEC)
    var address = Self.loopback(0)
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let descriptor = listener
    let isOpen = withUnsafeMutableBytes(of: &address) { bytes -> Bool in
      let address = bytes.bindMemory(to: sockaddr.self).baseAddress
      return bind(descriptor, address, length) == 0 && listen(descriptor, 16) == 0
        && getsockname(descriptor, address, &length) == 0
    }
    guard isOpen else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
    port = UInt16(bigEndian: address.sin_port)
    Thread.detachNewThread { [weak self, listener] in
      while true {
        let client = accept(listener, nil, nil)
        guard client >= 0, let self else { break }
        self.serve(client)
      }
      _ = close(listener)
    }
  }

  deinit {
    shutdown(listener, Int32(SHUT_RDWR))
    hangUp()
  }

  /// From now on, what the intake says is lost.
  func stopListeningToIntake() { state.withLock { $0.isDeaf = true } }

  /// Ends all connections; those that come afterwards are heard again.
  func hangUp() {
    state.withLock { state in
      for descriptor in state.descriptors { shutdown(descriptor, Int32(SHUT_RDWR)) }
      state.descriptors.removeAll()
      state.isDeaf = false
    }
  }

  private func serve(_ client: Int32) {
    let server = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    for descriptor in [client, server] { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
    var address = Self.loopback(broker)
    let size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isConnected = withUnsafeMutableBytes(of: &address) {
      connect(server, $0.bindMemory(to: sockaddr.self).baseAddress, size) == 0
    }
    guard isConnected else {
      _ = close(client)
      _ = close(server)
      return
    }
    state.withLock { $0.descriptors += [client, server] }
    let ends = Ends()
    // What the broker says.
    Thread.detachNewThread { [self] in
      Self.pump(from: server, to: client) { _ in true }
      finish(client, server, ends)
    }
    // What the daemon says. The first bytes name it.
    Thread.detachNewThread { [self] in
      var isIntake: Bool?
      Self.pump(from: client, to: server) { bytes in
        if isIntake == nil { isIntake = bytes.range(of: Data("-intake".utf8)) != nil }
        return isIntake == false || !state.withLock { $0.isDeaf }
      }
      finish(client, server, ends)
    }
  }

  /// Both directions have to be done before the descriptors may go to somebody else.
  private final class Ends: Sendable {
    let count = Mutex(0)
  }

  private func finish(_ client: Int32, _ server: Int32, _ ends: Ends) {
    for descriptor in [client, server] { shutdown(descriptor, Int32(SHUT_RDWR)) }
    let isLast = ends.count.withLock { count in
      count += 1
      return count == 2
    }
    guard isLast else { return }
    state.withLock { $0.descriptors.removeAll { $0 == client || $0 == server } }
    for descriptor in [client, server] { _ = close(descriptor) }
  }

  private static func pump(from source: Int32, to sink: Int32, passes: (Data) -> Bool) {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = read(source, &buffer, buffer.count)
      guard count > 0 else { return }
      guard passes(Data(buffer[..<count])) else { continue }
      var sent = 0
      while sent < count {
        let written = buffer.withUnsafeBytes {
          send(sink, $0.baseAddress.map { $0 + sent }, count - sent, Int32(MSG_NOSIGNAL))
        }
        guard written > 0 else { return }
        sent += written
      }
    }
  }

  private static func loopback(_ port: UInt16) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
    return address
  }
}

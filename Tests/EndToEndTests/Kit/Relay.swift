// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization

/// Stands between a daemon and its broker, and does to what they send each other what networks do.
final class Relay: Sendable {
  enum Fault: Hashable, Sendable {
    /// What the daemon's intake sends is lost: the broker goes on delivering, and gets no acknowledgement.
    case lostAcknowledgements
    /// So many bytes more pass, in both directions together. Then all connections end, most likely inside a packet.
    case cut(after: Int)
    /// Nothing passes, and nobody learns of it; also new connections are taken. What was sent meanwhile comes when
    /// the fault is over.
    case blackHole
    /// Messages of the broker come twice, on connections that begin while the fault lasts.
    case duplicates
    /// A few bytes at a time.
    case slow
  }

  let port: UInt16
  private let listener: Int32
  private let broker: UInt16
  private let state = Mutex(State())

  private struct State {
    var fault: Fault?
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

  /// From now on; nil: all works again.
  func begin(_ fault: Fault?) { state.withLock { $0.fault = fault } }

  /// Nil while all works, and after a cut.
  var fault: Fault? { state.withLock { $0.fault } }

  /// Ends all connections, and what was wrong with them.
  func hangUp() { hangUp(then: nil) }

  /// Ends all connections; what is wrong with those that come afterwards is up to the caller.
  func hangUp(then fault: Fault?) {
    state.withLock { state in
      for descriptor in state.descriptors { shutdown(descriptor, Int32(SHUT_RDWR)) }
      state.descriptors.removeAll()
      state.fault = fault
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
    let doubler = fault == .duplicates ? PacketDoubler() : nil
    // What the broker says.
    Thread.detachNewThread { [self] in
      pump(from: server, to: client) { doubler?.fromBroker($0) ?? $0 }
      finish(client, server, ends)
    }
    // What the daemon says. The first bytes name it.
    Thread.detachNewThread { [self] in
      var isIntake: Bool?
      pump(from: client, to: server) { bytes in
        if isIntake == nil {
          isIntake = Data(bytes).range(of: Data("-intake".utf8)) != nil
        }
        if isIntake == true, fault == .lostAcknowledgements { return [] }
        return doubler?.fromDaemon(bytes) ?? bytes
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

  /// - Parameter change: what is sent in the place of what came.
  private func pump(from source: Int32, to sink: Int32, change: ([UInt8]) -> [UInt8]) {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      // Whoever sends meanwhile finds the way full after a while.
      while fault == .blackHole { usleep(2_000) }
      let count = read(source, &buffer, fault == .slow ? 64 : buffer.count)
      guard count > 0 else { return }
      while fault == .blackHole { usleep(2_000) }
      if fault == .slow { usleep(1_000) }
      let bytes = change(Array(buffer[..<count]))
      let passing = passes(bytes.count)
      guard Self.send(bytes[..<passing], to: sink) else { return }
      if passing < bytes.count { return hangUp() }
    }
  }

  /// How many of so many bytes pass before a cut.
  private func passes(_ count: Int) -> Int {
    state.withLock { state in
      guard case .cut(let left) = state.fault else { return count }
      state.fault = .cut(after: max(0, left - count))
      return min(left, count)
    }
  }

  private static func send(_ bytes: ArraySlice<UInt8>, to sink: Int32) -> Bool {
    var rest = bytes
    while !rest.isEmpty {
      let written = rest.withUnsafeBytes {
        Foundation.send(sink, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      guard written > 0 else { return false }
      rest = rest.dropFirst(written)
    }
    return true
  }

  private static func loopback(_ port: UInt16) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
    return address
  }
}

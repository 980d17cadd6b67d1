import CBareSubscriber
import Foundation
import Synchronization

/// Stands between daemon and broker and notes when the broker accepts a connection: the first byte of
/// its first packet is CONNACK's, 0x20 (MQTT 5.0, section 3.2).
final class ConnackRelay: Sendable {
  let port: UInt16
  private let broker: UInt16
  private let answers = Mutex<[Int64]>([])

  init(to broker: UInt16) throws {
    self.broker = broker
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = Self.loopback(0)
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isOpen = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(listener, $0, length) == 0 && listen(listener, 16) == 0 && getsockname(listener, $0, &length) == 0
      }
    }
    guard listener >= 0, isOpen else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
    port = UInt16(bigEndian: address.sin_port)
    _ = fcntl(listener, F_SETFD, FD_CLOEXEC)
    Thread.detachNewThread { [self] in accept(listener) }
  }

  func reset() { answers.withLock { $0.removeAll() } }

  /// When the broker's answers came.
  func waitForAnswers(_ count: Int) throws -> [Int64] {
    let deadline = bare_now() + 30_000_000_000
    while bare_now() < deadline {
      let answers = answers.withLock { $0 }
      if answers.count >= count { return answers }
      usleep(500)
    }
    throw ChildProcess.Failure(description: "the broker did not answer through the relay")
  }

  private func accept(_ listener: Int32) {
    while true {
      let client = Glibc.accept(listener, nil, nil)
      guard client >= 0 else { return }
      let upstream = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      var address = Self.loopback(broker)
      let result = withUnsafePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          connect(upstream, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
        }
      }
      for descriptor in [client, upstream] {
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        var yes: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, socklen_t(MemoryLayout<Int32>.size))
      }
      guard result == 0 else { continue }
      Thread.detachNewThread { [self] in pass(from: client, to: upstream, isAnswer: false) }
      Thread.detachNewThread { [self] in pass(from: upstream, to: client, isAnswer: true) }
    }
  }

  private func pass(from source: Int32, to target: Int32, isAnswer: Bool) {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    var isFirst = true
    while true {
      let count = recv(source, &buffer, buffer.count, 0)
      guard count > 0 else { break }
      if isAnswer, isFirst, buffer[0] == 0x20 {
        let now = bare_now()
        answers.withLock { $0.append(now) }
      }
      isFirst = false
      guard send(target, buffer, count, Int32(MSG_NOSIGNAL)) == count else { break }
    }
    // The other direction ends with this; the descriptors are few and go with the process.
    shutdown(source, Int32(SHUT_RDWR))
    shutdown(target, Int32(SHUT_RDWR))
  }

  private static func loopback(_ port: UInt16) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    return address
  }
}

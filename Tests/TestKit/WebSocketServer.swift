// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization

/// A server of WebSockets (RFC 6455) on loopback. Each connection is served by a script, one after the other.
package final class WebSocketServer: Sendable {
  package let port: UInt16
  private let listener: FakeListener
  private let isEnding = Atomic(false)

  /// - Parameters:
  ///   - certificates: with them it speaks TLS.
  ///   - serve: on a thread of the server's own. The connection is closed afterwards.
  package init(
    tls certificates: TestCertificates? = nil, port: UInt16 = 0,
    _ serve: @escaping @Sendable (WebSocketPeer) -> Void
  ) throws {
    listener =
      if let certificates { try FakeListener(tls: certificates) } else {
        try FakeListener(port: port)
      }
    self.port = listener.port
    Thread { [weak self, listener] in
      while self?.isEnding.load(ordering: .relaxed) == false {
        guard let connection = listener.accept(within: 50) else { continue }
        serve(WebSocketPeer(connection))
        connection.close()
      }
    }.start()
  }

  deinit {
    isEnding.store(true, ordering: .relaxed)
    listener.close()
  }
}

/// The server's side of one WebSocket, for the thread that serves it.
package final class WebSocketPeer {
  private let connection: FakeConnection
  private var bytes: [UInt8] = []

  init(_ connection: FakeConnection) { self.connection = connection }

  /// As Home Assistant's web server answers (aiohttp).
  package static let upgrade = """
    HTTP/1.1 101 Switching Protocols\r
    Upgrade: websocket\r
    Connection: upgrade\r
    Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r
    Server: Python/3.13 aiohttp/3.11.16\r
    \r

    """

  /// Reads the head of the request, and answers it.
  ///
  /// - Returns: the head; nil where the client has gone.
  @discardableResult
  package func accept(_ answer: String = upgrade) -> String? {
    while true {
      if let end = bytes.firstRange(of: "\r\n\r\n".utf8) {
        let head = String(decoding: bytes[..<end.lowerBound], as: UTF8.self)
        bytes.removeSubrange(..<end.upperBound)
        connection.send(Array(answer.utf8))
        return head
      }
      guard readMore() else { return nil }
    }
  }

  package func send(_ text: String) { send(frame: Array(text.utf8)) }

  /// - Parameters:
  ///   - opcode: 1: text.
  ///   - isLast: of the fragments of a message.
  package func send(frame payload: [UInt8], opcode: UInt8 = 1, isLast: Bool = true) {
    send(bytes: Self.frame(payload, opcode: opcode, isLast: isLast))
  }

  package func send(bytes: [UInt8]) { connection.send(bytes) }

  /// Not masked: a server's.
  package static func frame(
    _ payload: [UInt8], opcode: UInt8 = 1, isLast: Bool = true
  ) -> [UInt8] {
    let count = payload.count
    let length: [UInt8] =
      switch count {
      case 0...125: [UInt8(count)]
      case 126...0xFFFF:
        [126] + (0..<2).reversed().map { UInt8(truncatingIfNeeded: count >> (8 * $0)) }
      default: [127] + (0..<8).reversed().map { UInt8(truncatingIfNeeded: count >> (8 * $0)) }
      }
    return [(isLast ? 0x80 : 0) | opcode] + length + payload
  }

  /// The next text of the client.
  ///
  /// - Returns: nil when it has closed, or gone.
  package func receive() -> String? {
    while let (opcode, payload) = receiveFrame() {
      if opcode == 1 { return String(decoding: payload, as: UTF8.self) }
      if opcode == 8 { return nil }
    }
    return nil
  }

  /// The next frame of the client, which is masked and whole.
  package func receiveFrame() -> (opcode: UInt8, payload: [UInt8])? {
    while true {
      if let frame = takeFrame() { return frame }
      guard readMore() else { return nil }
    }
  }

  private func takeFrame() -> (opcode: UInt8, payload: [UInt8])? {
    guard bytes.count >= 2, bytes[0] & 0x80 != 0, bytes[1] & 0x80 != 0 else { return nil }
    let short = Int(bytes[1] & 0x7F)
    let extra = short == 127 ? 8 : short == 126 ? 2 : 0
    guard bytes.count >= 6 + extra else { return nil }
    let count =
      extra == 0 ? short : bytes[2..<2 + extra].reduce(0) { $0 << 8 | Int($1) }
    let start = 6 + extra
    guard bytes.count >= start + count else { return nil }
    let mask = Array(bytes[start - 4..<start])
    let payload = bytes[start..<start + count].enumerated().map { $1 ^ mask[$0 % 4] }
    let opcode = bytes[0] & 0x0F
    bytes.removeFirst(start + count)
    return (opcode, payload)
  }

  /// - Returns: false at the end of the connection, or after a minute.
  private func readMore() -> Bool {
    var poller = pollfd(fd: connection.input, events: Int16(POLLIN), revents: 0)
    guard poll(&poller, 1, 60_000) > 0 else { return false }
    let isOpen = connection.receive()
    let more = connection.takeBytes()
    bytes += more
    return isOpen || !more.isEmpty
  }
}

import CLibCurl
import Glibc
import SodiumCrypto
import ThreadkeeperSupport

/// A WebSocket (RFC 6455), on the caller's thread, over a connection of libcurl, which does TLS. libcurl's own is in
/// newer versions only.
///
/// `Sec-WebSocket-Accept` is not checked, because nothing here has SHA-1. It shows that the server has understood the
/// request; so do the status 101, the header `Upgrade`, and `auth_required` as the first message.
final class WebSocket {
  typealias Deadline = ContinuousClock.Instant

  private let connection: OpaquePointer
  private let signal: WakeSignal?
  private var frames = Frames()

  /// - Parameters:
  ///   - users: whose programs may listen there, where that is on this machine and TLS does not show who answers.
  ///   - signal: raised when the agent stops.
  init(_ address: HomeAssistantAddress, of users: Set<UInt32>, until deadline: Deadline, signal: WakeSignal?)
    throws(HomeAssistantTrouble)
  {
    if let obstacle = HTTPTransfer.obstacle { throw .unreachable(obstacle) }
    let (time, stop) = (Int((deadline - .now).pollMilliseconds), signal?.descriptor ?? -1)
    var made: OpaquePointer?
    let outcome = libcurl_connect("\(address)", time, stop, &made)
    guard let connection = made else { throw .unreachable("no memory") }
    (self.connection, self.signal) = (connection, signal)
    guard outcome.code == CURLE_OK else { throw HomeAssistantTrouble(outcome, address) }
    if !address.isTLS { try HomeAssistantTrouble.check(connection, address.address.port, users) }
    let request = """
      GET \(address.path) HTTP/1.1\r
      Host: \(address.authority)\r
      Upgrade: websocket\r
      Connection: Upgrade\r
      Sec-WebSocket-Key: \(Base64.encode(RandomBytes.make(16)))\r
      Sec-WebSocket-Version: 13\r\n\r\n
      """
    try write(Array(request.utf8), until: deadline)
    var head: [UInt8] = []
    while true {
      let bytes = try read(until: deadline)
      head += bytes
      if let end = head.firstRange(of: "\r\n\r\n".utf8) {
        try Self.check(head[..<end.lowerBound])
        frames.take(head[end.upperBound...])
        return
      }
      guard !bytes.isEmpty, head.count <= HTTPAnswer.headLimit else { throw .status(0) }
    }
  }

  deinit { libcurl_close(connection) }

  private static func check(_ head: ArraySlice<UInt8>) throws(HomeAssistantTrouble) {
    let lines = String(decoding: head, as: UTF8.self).split(separator: "\r\n")
    let words = lines.first?.split(separator: " ") ?? []
    let status = words.count > 1 && words[0].hasPrefix("HTTP/1.") ? Int(words[1]) ?? 0 : 0
    let isUpgrade = lines.contains { $0.filter { $0 != " " }.lowercased() == "upgrade:websocket" }
    guard status == 101, isUpgrade else { throw .status(status) }
  }

  func send(_ payload: [UInt8], as kind: Frames.Kind = .text, until deadline: Deadline) throws(HomeAssistantTrouble) {
    var frame = Frames.masked(kind, payload, mask: RandomBytes.make(4))
    // It may hold the token, or a dataset.
    defer { wipe(&frame) }
    try write(frame, until: deadline)
  }

  /// The next whole message. Pings are answered meanwhile.
  func receive(until deadline: Deadline) throws(HomeAssistantTrouble) -> [UInt8] {
    while true {
      switch try frames.next() {
      case .message(let bytes): return bytes
      case .ping(let payload): try send(payload, as: .pong, until: deadline)
      case .close: throw .closed
      case nil:
        let bytes = try read(until: deadline)
        guard !bytes.isEmpty else { throw frames.isWithinFrame ? .cut : .closed }
        frames.take(bytes[...])
      }
    }
  }

  /// 1000: all is done. The answer is not waited for.
  func close() { try? send([0x03, 0xE8], as: .close, until: .now + .milliseconds(200)) }

  // MARK: Bytes

  private func write(_ bytes: [UInt8], until deadline: Deadline) throws(HomeAssistantTrouble) {
    var sent = 0
    while sent < bytes.count {
      var count = 0
      let code = bytes.withUnsafeBytes {
        libcurl_send(connection, $0.baseAddress.unsafelyUnwrapped + sent, $0.count - sent, &count)
      }
      sent += count
      // TLS may have to read first, and libcurl does not say so: it is tried again.
      if code == CURLE_AGAIN { try wait(for: 0, until: min(deadline, .now + .milliseconds(20))) }
      guard code == CURLE_OK || code == CURLE_AGAIN else { throw .closed }
    }
  }

  /// - Returns: empty at the end of the connection, also by a reset.
  private func read(until deadline: Deadline) throws(HomeAssistantTrouble) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: 16 << 10)
    while ContinuousClock.now < deadline {
      var count = 0
      let code = bytes.withUnsafeMutableBytes {
        libcurl_receive(connection, $0.baseAddress.unsafelyUnwrapped, $0.count, &count)
      }
      if code == CURLE_OK { return Array(bytes[..<count]) }
      guard code == CURLE_AGAIN else { return [] }
      try wait(for: POLLIN, until: deadline)
    }
    throw .timeout
  }

  private func wait(for events: Int32, until deadline: Deadline) throws(HomeAssistantTrouble) {
    guard ContinuousClock.now < deadline else { throw .timeout }
    let both = [(libcurl_descriptor(connection), events), (signal?.descriptor ?? -1, POLLIN)]
    var polled = both.map { pollfd(fd: $0.0, events: Int16($0.1), revents: 0) }
    _ = poll(&polled, nfds_t(polled.count), (deadline - .now).pollMilliseconds)
    if signal?.isRaised == true { throw .stopped }
  }
}

/// Frames (RFC 6455, section 5.2): reads those of a server, and makes those of a client. Pure.
///
/// ```
/// | FIN, 3 bits 0, opcode (4 bits) | MASK, length (7 bits) | 16 bits of it after 126, 64 after 127 | mask | payload |
/// ```
struct Frames {
  enum Kind: UInt8 { case continuation = 0, text, close = 8, ping, pong }

  enum Incoming: Equatable {
    case message([UInt8])
    case ping([UInt8])
    case close
  }

  /// Bytes of a message: a list of a hundred datasets has 40,000.
  static let limit = 1 << 20

  private var bytes: [UInt8] = []
  private var message: [UInt8] = []
  private var isFragmented = false

  var isWithinFrame: Bool { !bytes.isEmpty || isFragmented }

  mutating func take(_ more: ArraySlice<UInt8>) { bytes += more }

  /// - Returns: nil when more bytes are needed.
  mutating func next() throws(HomeAssistantTrouble) -> Incoming? {
    while bytes.count >= 2 {
      guard let kind = Kind(rawValue: bytes[0] & 0x7F), bytes[1] & 0x80 == 0 else { throw .noFrame }
      let (isLast, isControl) = (bytes[0] & 0x80 != 0, kind.rawValue >= Kind.close.rawValue)
      let short = Int(bytes[1])
      let extra = short == 127 ? 8 : short == 126 ? 2 : 0
      guard bytes.count >= 2 + extra else { return nil }
      let long = bytes[2..<2 + extra].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
      let isInOrder = isControl ? isLast && extra == 0 : isFragmented == (kind == .continuation)
      guard isInOrder else { throw .noFrame }
      let size = extra == 0 ? UInt64(short) : long
      guard size <= UInt64(Self.limit - (isControl ? 0 : message.count)) else { throw .tooLarge }
      let end = 2 + extra + Int(size)
      guard bytes.count >= end else { return nil }
      let payload = Array(bytes[2 + extra..<end])
      bytes.removeFirst(end)
      switch kind {
      case .close: return .close
      case .ping: return .ping(payload)
      case .pong: continue
      case .continuation, .text: message += payload
      }
      isFragmented = !isLast
      guard isLast else { continue }
      defer { message = [] }
      return .message(message)
    }
    return nil
  }

  /// A whole frame of a client, which is masked (section 5.3).
  static func masked(_ kind: Kind, _ payload: [UInt8], mask: [UInt8]) -> [UInt8] {
    let long = payload.count > Int(UInt16.max) ? 8 : payload.count > 125 ? 2 : 0
    let short = long == 8 ? 127 : long == 2 ? 126 : UInt8(payload.count)
    var frame = [0x80 | kind.rawValue, 0x80 | short]
    frame += (0..<long).reversed().map { UInt8(truncatingIfNeeded: payload.count >> (8 * $0)) }
    frame += mask
    for (index, byte) in payload.enumerated() { frame.append(byte ^ mask[index % mask.count]) }
    return frame
  }
}

import Glibc
import ThreadkeeperSupport

/// A connection of a client that may behave as badly as it likes.
package final class RawConnection: Sendable {
  package struct Failed: Error { package let errno: Int32 }

  private let descriptor: Int32

  package convenience init(port: Int) async throws { try self.init(FakeListener.connect(to: UInt16(port))) }

  /// To a Unix socket.
  package convenience init(path: String) throws { try self.init(FakeListener.connect(to: path)) }

  private init(_ connected: Int32?) throws {
    guard let descriptor = connected else { throw Failed(errno: errno) }
    self.descriptor = descriptor
    // Longer than any test waits.
    var limit = timeval(tv_sec: 60, tv_usec: 0)
    for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
      setsockopt(descriptor, SOL_SOCKET, option, &limit, socklen_t(MemoryLayout<timeval>.size))
    }
  }

  deinit { close(descriptor) }

  package func send(_ text: String) async throws {
    try await SystemThread.result { [descriptor] in
      var left = Array(text.utf8)[...]
      while !left.isEmpty {
        let count = left.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
        guard count > 0 else { throw Failed(errno: errno) }
        left.removeFirst(count)
      }
    }
  }

  /// Sends nothing more, and reads on.
  package func endSending() { shutdown(descriptor, Int32(SHUT_WR)) }

  /// What comes next; empty where the server has ended the connection, also by a reset.
  package func read(upTo count: Int = 65_536) async throws -> String {
    try await SystemThread.result { [descriptor] in
      var bytes = [UInt8](repeating: 0, count: count)
      let count = recv(descriptor, &bytes, bytes.count, 0)
      guard count >= 0 || errno == ECONNRESET else { throw Failed(errno: errno) }
      return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    }
  }

  package func readToEnd() async throws -> String {
    var text = ""
    while true {
      let more = try await read()
      if more.isEmpty { return text }
      text += more
    }
  }
}

/// An answer as it came: HTTP/1.1 with a length, and no chunks.
package struct RawAnswer {
  package struct Invalid: Error { package let text: String }

  package let status: Int
  /// By lowercase name.
  package let headers: [String: String]
  package let body: String

  package init(_ text: String) throws {
    guard let end = text.firstRange(of: "\r\n\r\n") else { throw Invalid(text: text) }
    let lines = text[..<end.lowerBound].split(separator: "\r\n")
    guard let status = lines.first?.split(separator: " ").dropFirst().first.flatMap({ Int($0) }) else {
      throw Invalid(text: text)
    }
    self.status = status
    headers = Dictionary(
      lines.dropFirst().map { line in
        let name = line.prefix { $0 != ":" }
        return (name.lowercased(), String(line[name.endIndex...].dropFirst(2)))
      }, uniquingKeysWith: { $0 + ", " + $1 })
    body = String(text[end.upperBound...])
  }

  /// The answer to a request of this machine, with headers as `Authorization: Bearer x`.
  package static func get(_ path: String, port: Int, _ headers: [String] = [], host: String = "localhost") async throws
    -> RawAnswer
  {
    let lines = ["GET \(path) HTTP/1.1", "Host: \(host)"] + headers
    let connection = try await RawConnection(port: port)
    try await connection.send(lines.joined(separator: "\r\n") + "\r\n\r\n")
    return try RawAnswer(await connection.readToEnd())
  }
}

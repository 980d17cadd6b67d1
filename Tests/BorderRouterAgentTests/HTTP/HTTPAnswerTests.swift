import Foundation
import Synchronization
import TestKit
import Testing

@testable import BorderRouterAgent

@Suite("Answers of HTTP/1.1", .timeLimit(.minutes(10))) struct HTTPAnswerTests {
  /// What comes of a server that sends this.
  private func read(_ text: String, closes: Bool = true, _ timeout: Duration = .seconds(60)) throws -> Result<
    HTTPAnswer, HTTPFailure
  > {
    let server = try ScriptedServer(text, closes: closes)
    let address = try #require(HTTPAddress("http://127.0.0.1:\(server.port)"))
    let client = OTBRClient(address, of: [0, getuid()], timeout: timeout)
    return Result { () throws(HTTPFailure) in try client.perform(.node()) }
  }

  private func expectGarbage(_ text: String, closes: Bool = true) throws {
    let result = try read(text, closes: closes)
    if case .failure(.garbage) = result { return }
    Issue.record("\(text.prefix(80)): \(result)")
  }

  @Test("A recorded answer is read, whether the connection ends or not", arguments: [true, false]) func recorded(
    closes: Bool
  ) throws {
    let text = """
      HTTP/1.1 200 OK\r
      Content-Type: application/json\r
      Content-Length: 34\r
      \r
      "8facafc7a82f06fcc1c5920216206f30"
      """
    let answer = try read(text, closes: closes).get()
    #expect(answer.status == 200)
    #expect(String(decoding: answer.body, as: UTF8.self) == "\"8facafc7a82f06fcc1c5920216206f30\"")
  }

  @Test("204 has no body, whatever follows, and ends without the connection's end") func noContent() throws {
    #expect(try read("HTTP/1.1 204 No Content\r\n\r\n", closes: false) == .success(HTTPAnswer(status: 204)))
  }

  @Test("Without a length the body ends with the connection") func untilTheEnd() throws {
    let text = "HTTP/1.0 404 Not Found\r\n\r\n{}"
    #expect(try read(text, closes: false, .milliseconds(200)) == .failure(.timeout))
    #expect(try read(text) == .success(HTTPAnswer(status: 404, body: Array("{}".utf8))))
  }

  @Test("A chunked body is put together") func chunked() throws {
    let text = "HTTP/1.1 200 OK\r\ntransfer-encoding: Chunked\r\n\r\n3;x=y\r\n\"le\r\nA\r\nader\"     \r\n0\r\n\r\n"
    #expect(try read(text, closes: false).get().body == Array("\"leader\"     ".utf8))
    try expectGarbage(String(text.dropLast(6)))
  }

  @Test("An interim answer is skipped") func interim() throws {
    #expect(
      try read("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx")
        == .success(HTTPAnswer(status: 200, body: [0x78])))
  }

  @Test("A redirect is an answer, and is not followed") func redirect() throws {
    let other = try ScriptedServer("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
    let text = "HTTP/1.1 307 Moved\r\nLocation: http://127.0.0.1:\(other.port)/\r\nContent-Length: 0\r\n\r\n"
    #expect(try read(text) == .success(HTTPAnswer(status: 307)))
    #expect(other.received.isEmpty)
  }

  @Test(
    "What is no answer is garbage",
    arguments: [
      "", "SSH-2.0-OpenSSH_9.2\r\n", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 20 OK\r\n\r\n", "HTTP/1.1 999 OK\r\n\r\n",
      "HTTP/1.1 100 Continue\r\n\r\n", "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n",
      "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nfour", "SSH-2.0-x\r\n\r\n",
      "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nxyz\r\n",
    ]) func garbage(_ text: String) throws
  { try expectGarbage(text) }

  @Test("A head or a body without end is given up") func endless() throws {
    let long = String(repeating: "a", count: 70_000)
    try expectGarbage("HTTP/1.1 200 OK\r\n\r\n" + long, closes: false)
    let header = "X: " + String(repeating: "a", count: 1_000) + "\r\n"
    try expectGarbage("HTTP/1.1 200 OK\r\n" + String(repeating: header, count: 20), closes: false)
    try expectGarbage("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n11170\r\n" + long, closes: false)
  }

  @Test("A description does not show the body") func description() {
    #expect(HTTPAnswer(status: 200, body: Array("secret".utf8)).description == "status 200, 6 bytes")
  }
}

/// A server on loopback that answers every request with the same bytes, or with none.
final class ScriptedServer: Sendable {
  let port: UInt16
  private let listener: Int32
  private let requests = Mutex<[String]>([])
  private let connections = Mutex(0)
  private let drops: Bool

  struct NoSocket: Error {}

  /// - Parameters:
  ///   - answer: nil: the connection is accepted and nothing is sent.
  ///   - closes: whether the connection is closed afterwards; else it is answered until its other end closes it.
  ///   - drops: whether the first connection is closed once a second request has come over it, unanswered.
  init(_ answer: String?, closes: Bool = true, drops: Bool = false) throws {
    self.drops = drops
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let made = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(listener, $0, length) == 0 && listen(listener, 8) == 0 && getsockname(listener, $0, &length) == 0
      }
    }
    guard listener >= 0, made else { throw NoSocket() }
    _ = fcntl(listener, F_SETFD, FD_CLOEXEC)
    self.listener = listener
    port = UInt16(bigEndian: address.sin_port)
    Thread { [weak self] in
      while true {
        let connection = accept(listener, nil, nil)
        guard connection >= 0 else {
          // Not before: its number would be another server's, whose connections this thread would take.
          close(listener)
          return
        }
        self?.serve(connection, answer, closes)
      }
    }.start()
  }

  deinit {
    // Ends the `accept` of its thread.
    shutdown(listener, Int32(SHUT_RDWR))
  }

  var received: [String] { requests.withLock { $0 } }
  var connectionCount: Int { connections.withLock { $0 } }

  private func serve(_ connection: Int32, _ answer: String?, _ closes: Bool) {
    let number = connections.withLock {
      $0 += 1
      return $0
    }
    var isFirst = true
    repeat {
      var buffer = [UInt8](repeating: 0, count: 4_096)
      let count = read(connection, &buffer, buffer.count)
      guard isFirst || count > 0 else { break }
      let isDropped = drops && number == 1 && !isFirst
      isFirst = false
      requests.withLock { $0.append(String(decoding: buffer.prefix(max(count, 0)), as: UTF8.self)) }
      if isDropped { break }
      // It is not answered, and stays open.
      guard let answer else {
        if closes { endConnection(connection) }
        return
      }
      let bytes = Array(answer.utf8)
      _ = bytes.withUnsafeBytes { send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
    } while !closes
    endConnection(connection)
  }
}

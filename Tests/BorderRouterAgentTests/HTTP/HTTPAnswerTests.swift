// SPDX-License-Identifier: Apache-2.0

import BorderRouterAgent
import Testing

@Suite("Answers of HTTP/1.1")
struct HTTPAnswerTests {
  private func read(_ text: String, isComplete: Bool = true) throws -> HTTPAnswer? {
    try HTTPAnswer.read(Array(text.utf8), isComplete: isComplete)
  }

  private func isGarbage(_ text: String, isComplete: Bool = true) -> Bool {
    do {
      _ = try read(text, isComplete: isComplete)
      return false
    } catch {
      if case .garbage = error as? HTTPFailure { return true }
      return false
    }
  }

  @Test("A recorded answer is read, and nothing before its last byte has come")
  func recorded() throws {
    let text = """
      HTTP/1.1 200 OK\r
      Content-Type: application/json\r
      Content-Length: 34\r
      \r
      "8facafc7a82f06fcc1c5920216206f30"
      """
    for count in 0..<text.utf8.count {
      #expect(try HTTPAnswer.read(Array(text.utf8.prefix(count)), isComplete: false) == nil)
    }
    let answer = try #require(try read(text, isComplete: false))
    #expect(answer.status == 200)
    #expect(String(decoding: answer.body, as: UTF8.self) == "\"8facafc7a82f06fcc1c5920216206f30\"")
  }

  @Test("204 has no body, whatever follows, and ends without the connection's end")
  func noContent() throws {
    #expect(
      try read("HTTP/1.1 204 No Content\r\n\r\n", isComplete: false) == HTTPAnswer(status: 204))
  }

  @Test("Without a length the body ends with the connection")
  func untilTheEnd() throws {
    let text = "HTTP/1.0 404 Not Found\r\n\r\n{}"
    #expect(try read(text, isComplete: false) == nil)
    #expect(try read(text) == HTTPAnswer(status: 404, body: Array("{}".utf8)))
  }

  @Test("A chunked body is put together")
  func chunked() throws {
    let text =
      "HTTP/1.1 200 OK\r\ntransfer-encoding: Chunked\r\n\r\n3;x=y\r\n\"le\r\nA\r\nader\"     \r\n0\r\n\r\n"
    #expect(try read(text)?.body == Array("\"leader\"     ".utf8))
    #expect(try HTTPAnswer.read(Array(text.utf8.dropLast(6)), isComplete: false) == nil)
  }

  @Test("An interim answer is skipped")
  func interim() throws {
    #expect(
      try read("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx")
        == HTTPAnswer(status: 200, body: [0x78]))
  }

  @Test(
    "What is no answer is garbage",
    arguments: [
      "", "SSH-2.0-OpenSSH_9.2\r\n", "HTTP/1.1 200 OK\r\n", "HTTP/2 200\r\n\r\n",
      "HTTP/1.1 20 OK\r\n\r\n",
      "HTTP/1.1 999 OK\r\n\r\n", "HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
      "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
      "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nfour",
      "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx",
      "HTTP/1.1 200 OK\r\nContent-Length: 65537\r\n\r\n",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffff\r\n",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nxyz\r\n",
    ])
  func garbage(_ text: String) {
    #expect(isGarbage(text))
  }

  @Test("A head or a body without end is given up")
  func endless() {
    let long = String(repeating: "a", count: 70_000)
    #expect(isGarbage("HTTP/1.1 200 OK\r\nX: " + long, isComplete: false))
    #expect(isGarbage("HTTP/1.1 200 OK\r\n\r\n" + long, isComplete: false))
    #expect(isGarbage("SSH-2.0", isComplete: false))
  }

  @Test("A description does not show the body")
  func description() {
    #expect(
      HTTPAnswer(status: 200, body: Array("secret".utf8)).description == "status 200, 6 bytes")
  }
}

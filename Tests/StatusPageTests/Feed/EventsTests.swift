import TestKit
import Testing

@Suite("Events for those who have the page open", .timeLimit(.minutes(30))) struct EventsTests {
  /// Reads on until the text has come.
  private func read(_ connection: RawConnection, until text: String) async throws -> String {
    var read: [UInt8] = []
    let text = Array(text.utf8)
    // Bytes, and only what is new: to search for characters takes minutes.
    var searched = 0
    while read[searched...].firstRange(of: text) == nil {
      searched = max(0, read.count - text.count)
      let more = try await connection.read()
      guard !more.isEmpty else { throw EndedBefore(read: String(decoding: read, as: UTF8.self)) }
      read += Array(more.utf8)
    }
    return String(decoding: read, as: UTF8.self)
  }

  private struct EndedBefore: Error { let read: String }

  private func follow(_ server: RunningServer) async throws -> RawConnection {
    try await server.request("GET /events HTTP/1.1")
  }

  @Test("The state comes at once, and again when it has changed; the answer ends with the server") func changes()
    async throws
  {
    // The last bytes of an answer have their second, which a busy machine may need for something else.
    let server = try await RunningServer.start { $0.stopMilliseconds = 60_000 }
    server.source.show(#"{"a":1}"#)
    let viewer = try await follow(server)
    let head = try await read(viewer, until: "data: {\"a\":1}\n\n")
    #expect(head.hasPrefix("HTTP/1.1 200 "))
    #expect(head.lowercased().contains("content-type: text/event-stream\r\n"))
    #expect(head.components(separatedBy: "event: state\n").count == 2)
    server.source.show(#"{"a":2}"#)
    _ = try await read(viewer, until: "data: {\"a\":2}\n\n")
    try await server.stop()
    #expect(try await viewer.readToEnd().hasSuffix("0\r\n\r\n"))
  }

  @Test("A client that knows no chunks gets the events as they are, to the end of the connection") func oldClient()
    async throws
  {
    let server = try await RunningServer.start()
    let viewer = try await server.request("GET /events HTTP/1.0")
    #expect(try await read(viewer, until: "\n\n").hasSuffix("\r\n\r\nevent: state\ndata: {}\n\n"))
    try await server.stop()
    #expect(try await viewer.readToEnd() == "")
  }

  @Test("It is looked at once for 200 viewers, and by nobody when none is left") func many() async throws {
    let server = try await RunningServer.start()
    var viewers: [RawConnection] = []
    for _ in 0..<200 { viewers.append(try await follow(server)) }
    for viewer in viewers { _ = try await read(viewer, until: "data: {}\n\n") }
    // 200 viewers that each had it looked at twice a second would be more than that in a moment.
    #expect(server.source.looks.withLock { $0 } < 200)
    #expect(server.server.viewers == 200)
    viewers.removeAll()
    try await eventually("all viewers to be gone") { server.server.viewers == 0 }
    #expect(try await server.get("/healthz").status == 200)
    try await server.stop()
  }

  @Test("It ends without waiting for 200 viewers of whom none reads") func endWithSilentViewers() async throws {
    let server = try await RunningServer.start { $0.stallSeconds = 600 }
    let big = String(repeating: "x", count: 300_000)
    server.source.show(#"{"a":"\#(big)"}"#)
    var viewers: [RawConnection] = []
    for _ in 0..<200 { viewers.append(try await follow(server)) }
    try await eventually("200 viewers") { server.server.viewers == 200 }
    let began = ContinuousClock.now
    try await server.stop()
    #expect(began.duration(to: .now) < .seconds(300))
    withExtendedLifetime(viewers) {}
  }

  @Test("What is changed on the page is sent at once, however long the pause is") func changed() async throws {
    let server = try await RunningServer.start(token: sampleToken) {
      // Longer than a connection of a test waits.
      ($0.shortestPauseMilliseconds, $0.longestPauseSeconds) = (600_000, 600)
    }
    let authorization = "Authorization: Bearer \(sampleToken)\r\n"
    let viewer = try await server.request("GET /events HTTP/1.1", authorization + "\r\n")
    _ = try await read(viewer, until: "data: {}\n\n")
    server.source.show(#"{"b":1}"#)
    let body = #"{"id":"c1"}"#
    let reply = try await server.answer(
      "POST /consent/deny HTTP/1.1",
      authorization + "Content-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n" + body)
    #expect(reply.status == 200)
    _ = try await read(viewer, until: "data: {\"b\":1}\n\n")
    try await server.stop()
  }

  @Test("With another token answers end, and only who shows it can follow again") func anotherToken() async throws {
    let server = try await RunningServer.start(token: sampleToken)
    func follow(_ token: String) async throws -> RawConnection {
      try await server.request("GET /events HTTP/1.1", "Authorization: Bearer \(token)\r\n\r\n")
    }
    let viewer = try await follow(sampleToken)
    _ = try await read(viewer, until: "data: {}\n\n")
    let kept = try server.server.findOrMakeToken(replacing: false) { "none" }
    #expect(kept.text == sampleToken && !kept.isNew && server.server.viewers == 1)
    let other = String(sampleToken.reversed()) + "-other"
    #expect(try server.server.findOrMakeToken(replacing: true) { other }.isNew)
    _ = try await read(viewer, until: "0\r\n\r\n")
    #expect(server.server.viewers == 0)
    _ = try await read(try await follow(sampleToken), until: "HTTP/1.1 401 ")
    _ = try await read(try await follow(other), until: "data: {}\n\n")
    try await server.stop()
  }

  @Test("Viewers beyond the limit are refused, and monitoring still gets its answer") func tooMany() async throws {
    let server = try await RunningServer.start { $0.viewers = 1 }
    let viewer = try await follow(server)
    _ = try await read(viewer, until: "data: {}\n\n")
    #expect(try await server.get("/events").status == 503)
    #expect(try await server.get("/healthz").status == 200)
    try await server.stop()
  }

  @Test("A client that does not read is dropped, and the others are not kept waiting") func slowReader() async throws {
    // The one that reads must get on in this time, also on a busy machine.
    let server = try await RunningServer.start { $0.stallSeconds = 10 }
    let big = String(repeating: "x", count: 600_000)
    server.source.show(#"{"a":"\#(big)"}"#)
    let silent = try await follow(server)
    try await eventually("the viewer") { server.server.viewers == 1 }
    let reading = try await follow(server)
    _ = try await read(reading, until: "\"}\n\n")
    try await eventually("the silent one to be dropped") { server.server.viewers == 1 }
    server.source.show(#"{"b":1}"#)
    _ = try await read(reading, until: "data: {\"b\":1}\n\n")
    try await server.stop()
    withExtendedLifetime(silent) {}
  }
}

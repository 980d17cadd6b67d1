import Logging
import ServiceLifecycle
import StatusPage
import TestKit
import Testing

@Suite("The HTTP server", .timeLimit(.minutes(30))) struct PageServerTests {
  @Test("It answers one request a connection, with the headers that keep a browser in bounds") func answers()
    async throws
  {
    let server = try await RunningServer.start()
    let answer = try await server.get("/healthz")
    #expect(answer.status == 200 && answer.body == "{\"status\":\"ok\"}\n")
    for (name, value) in [
      "content-length": "\(answer.body.utf8.count)", "connection": "close", "content-type": "application/json",
      "x-content-type-options": "nosniff", "cache-control": "no-store", "access-control-allow-origin": nil,
      "server": nil,
    ] { #expect(answer.headers[name] == value, "\(name)") }
    #expect(answer.headers["content-security-policy"]?.hasPrefix("default-src 'none';") == true)
    #expect(try await server.get("/nothing").status == 404)
    try await server.stop()
  }

  @Test("HEAD has the headers of GET and no body; a second request of a connection is not answered") func oneRequest()
    async throws
  {
    let server = try await RunningServer.start()
    let head = try await server.answer("HEAD /healthz HTTP/1.1")
    #expect(head.status == 200 && head.body.isEmpty && head.headers["content-length"] == "16")
    let twice = try await server.request(
      "GET /healthz HTTP/1.1", "\r\nGET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
    #expect(try await twice.readToEnd().components(separatedBy: "HTTP/1.1 ").count <= 2)
    try await server.stop()
  }

  @Test("A foreign name, a missing one and what is no HTTP are refused") func refusals() async throws {
    let server = try await RunningServer.start()
    for (request, answers) in [
      ("GET /healthz HTTP/1.1\r\nHost: evil.example", ["HTTP/1.1 421"]),
      ("GET /healthz HTTP/1.0", ["HTTP/1.0 400", "HTTP/1.1 400"]), ("\u{16}\u{3}\u{1} no HTTP", ["", "HTTP/1.1 400"]),
    ] {
      let connection = try await server.connect()
      try await connection.send(request + "\r\n\r\n")
      let answer = try await connection.readToEnd()
      #expect(answers.contains(String(answer.prefix(12))), "\(answer)")
    }
    try await server.stop()
  }

  @Test(
    "A body that is larger than any of ours is refused when it ends; one that goes on and on is dropped",
    arguments: [(11, 413), (200_000, 413), (200_001, nil)] as [(Int, Int?)]) func largeBody(bytes: Int, status: Int?)
    async throws
  {
    let server = try await RunningServer.start { ($0.bodyBytes, $0.discardedBytes) = (10, 200_000) }
    let client = try await server.request(
      "POST /healthz HTTP/1.1", "Content-Length: \(bytes)\r\n\r\n" + String(repeating: "a", count: bytes))
    let answer = try await client.readToEnd()
    #expect(try answer.isEmpty ? status == nil : RawAnswer(answer).status == status)
    try await server.stop()
  }

  @Test("A body without a length is refused") func chunkedBody() async throws {
    let server = try await RunningServer.start()
    let answer = try await server.answer("POST /healthz HTTP/1.1", "Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n")
    #expect(answer.status == 411)
    try await server.stop()
  }

  @Test("Headers up to their limit are read, and more are refused", arguments: [(0, 200), (1, 431), (20_000, 431)])
  func longHeaders(beyond: Int, status: Int) async throws {
    let server = try await RunningServer.start()
    let (line, limit) = ("GET /healthz HTTP/1.1", PageLimits().headerBytes + beyond)
    // In as many lines as a browser has, because each takes memory beside its bytes.
    let padding = "X-Padding: \(String(repeating: "a", count: 240))\r\n"
    var left = limit - (line + "\r\nHost: localhost\r\nCookie: \r\n\r\n").utf8.count
    var headers = ""
    while left >= 400 + beyond {
      headers += padding
      left -= padding.utf8.count
    }
    headers += "Cookie: \(String(repeating: "a", count: left))\r\n\r\n"
    let answer = try await server.answer(line, headers)
    #expect(answer.status == status)
    try await server.stop()
  }

  @Test("A client that sends nothing more after its request gets its answer") func halfClosed() async throws {
    let server = try await RunningServer.start()
    let client = try await server.request("GET /metrics HTTP/1.1")
    client.endSending()
    #expect(try RawAnswer(await client.readToEnd()).status == 200)
    try await server.stop()
  }

  @Test("A request that does not end is dropped: one that trickles by time, one that floods by size")
  func endlessHeaders() async throws {
    let server = try await RunningServer.start { $0.requestSeconds = 1 }
    let trickling = try await server.request("GET /healthz HTTP/1.1", "X-A: b\r\n")
    let flooding = try await server.request("GET /healthz HTTP/1.1", "")
    let line = "X-Padding: " + String(repeating: "a", count: 1_000) + "\r\n"
    await #expect(throws: RawConnection.Failed.self) { for _ in 0..<100_000 { try await flooding.send(line) } }
    _ = try await trickling.readToEnd()
    try await eventually("all connections to be closed") { server.server.connections == 0 }
    try await server.stop()
  }

  @Test("Where all places are taken by clients that send no request, a health check is answered") func manyConnections()
    async throws
  {
    let server = try await RunningServer.start {
      $0.connections = 3
      $0.requestSeconds = 600
    }
    var open: [RawConnection] = []
    for _ in 0..<2 { open.append(try await server.connect()) }
    let half = try await server.request("GET /healthz HTTP/1.1", "")
    try await eventually("three connections") { server.server.connections == 3 }
    for path in ["/healthz", "/readyz", "/healthz", "/healthz"] {
      #expect(try await server.get(path).status == 200, "\(path)")
    }
    // The one that had waited longest made room for the first.
    #expect(try await open[0].readToEnd() == "")
    withExtendedLifetime((open, half)) {}
    try await server.stop()
  }

  @Test("Who has sent a request keeps the place; beyond, only health checks are answered") func viewersKeepTheirPlaces()
    async throws
  {
    let server = try await RunningServer.start {
      $0.connections = 4
      $0.healthChecks = 1
    }
    var open: [RawConnection] = []
    for _ in 0..<3 { open.append(try await server.request("GET /events HTTP/1.1")) }
    try await eventually("three viewers") { server.server.viewers == 3 }
    for path in ["/events", "/metrics", "/"] {
      let refused = try await server.request("GET \(path) HTTP/1.1")
      #expect(try await refused.readToEnd() == "", "\(path)")
    }
    for path in ["/healthz", "/readyz"] { #expect(try await server.get(path).status == 200, "\(path)") }
    #expect(server.server.viewers == 3)
    open.removeAll()
    try await eventually("room") { await (try? server.get("/healthz"))?.status == 200 }
    try await server.stop()
  }

  @Test("It ends without waiting for clients that say nothing, or half of something") func end() async throws {
    let server = try await RunningServer.start { $0.requestSeconds = 600 }
    let silent = try await server.connect()
    let half = try await server.request("GET /healthz HTTP/1.1", "")
    try await eventually("the connections") { server.server.connections == 2 }
    let began = ContinuousClock.now
    try await server.stop()
    #expect(began.duration(to: .now) < .seconds(300))
    withExtendedLifetime((silent, half)) {}
  }

  @Test("Without libmicrohttpd it says what to install, and tries again until it is to end") func missingLibrary()
    async throws
  {
    var configuration = PageConfiguration(port: 0)
    configuration.library = "libmicrohttpd-that-is-nowhere.so.12"
    let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    let server = PageServer(configuration, source: FixedSource(), logger: logger)
    let group = ServiceGroup(services: [server], logger: logger)
    async let running: Void = group.run()
    try await eventually("its condition") { server.condition.current != .starting }
    guard case .unavailable(let reason, let remedy) = server.condition.current else {
      Issue.record("\(server.condition.current)")
      return
    }
    #expect(reason.contains("libmicrohttpd-that-is-nowhere.so.12"))
    #expect(remedy.contains("apt install libmicrohttpd12"))
    await group.triggerGracefulShutdown()
    try await running
  }

  @Test("A port that is taken is tried again until it is free") func takenPort() async throws {
    let first = try await RunningServer.start()
    async let second = RunningServer.start(port: UInt16(first.port))
    try await first.stop()
    let server = try await second
    #expect(server.port == first.port)
    #expect(try await server.get("/healthz").status == 200)
    try await server.stop()
  }
}

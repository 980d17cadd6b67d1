// SPDX-License-Identifier: Apache-2.0

import StatusPage
import TestKit
import Testing

@Suite("The HTTP server", .timeLimit(.minutes(30)))
struct PageServerTests {
  @Test("It answers one request a connection, with the headers that keep a browser in bounds")
  func answers() async throws {
    let server = try await RunningServer.start()
    let answer = try await server.get("/healthz")
    #expect(answer.status == 200 && answer.body == "{\"status\":\"ok\"}\n")
    #expect(answer.headers["content-length"] == "\(answer.body.utf8.count)")
    #expect(answer.headers["connection"] == "close")
    #expect(answer.headers["content-type"] == "application/json")
    #expect(answer.headers["content-security-policy"]?.hasPrefix("default-src 'none';") == true)
    #expect(answer.headers["x-content-type-options"] == "nosniff")
    #expect(answer.headers["cache-control"] == "no-store")
    #expect(answer.headers["access-control-allow-origin"] == nil && answer.headers["server"] == nil)
    #expect(try await server.get("/nothing").status == 404)
    try await server.stop()
  }

  @Test("HEAD has the headers of GET and no body; a second request of a connection is not answered")
  func oneRequest() async throws {
    let server = try await RunningServer.start()
    let head = try await server.answer("HEAD /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
    #expect(head.status == 200 && head.body.isEmpty && head.headers["content-length"] == "16")
    let twice = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
    let text = try await server.connect()
    try await text.send(twice + twice)
    #expect(try await text.readToEnd().components(separatedBy: "HTTP/1.1 ").count <= 2)
    try await server.stop()
  }

  @Test("A foreign name, a missing one and what is no HTTP are refused")
  func refusals() async throws {
    let server = try await RunningServer.start()
    #expect(
      try await server.answer("GET /healthz HTTP/1.1\r\nHost: evil.example\r\n\r\n").status == 421)
    #expect(try await server.answer("GET /healthz HTTP/1.0\r\n\r\n").status == 400)
    let connection = try await server.connect()
    try await connection.send("\u{16}\u{3}\u{1} no HTTP\r\n\r\n")
    let answer = try await connection.readToEnd()
    #expect(answer.isEmpty || answer.hasPrefix("HTTP/1.1 400 "))
    try await server.stop()
  }

  @Test("A body that is larger than any of ours is refused")
  func largeBody() async throws {
    let server = try await RunningServer.start { $0.bodyBytes = 10 }
    let request = "POST /healthz HTTP/1.1\r\nHost: localhost\r\nContent-Length: 11\r\n\r\n"
    #expect(try await server.answer(request + "0123456789a").status == 413)
    try await server.stop()
  }

  @Test(
    "A request that does not end is dropped: one that trickles by time, one that floods by size")
  func endlessHeaders() async throws {
    let server = try await RunningServer.start { $0.requestSeconds = 1 }
    let trickling = try await server.connect()
    try await trickling.send("GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-A: b\r\n")
    let flooding = try await server.connect()
    try await flooding.send("GET /healthz HTTP/1.1\r\nHost: localhost\r\n")
    let line = "X-Padding: " + String(repeating: "a", count: 1_000) + "\r\n"
    await #expect(throws: RawConnection.Failed.self) {
      for _ in 0..<100_000 { try await flooding.send(line) }
    }
    _ = try await trickling.readToEnd()
    try await eventually("all connections to be closed") { server.server.connections == 0 }
    try await server.stop()
  }

  @Test("Where all places are taken by clients that send no request, a health check is answered")
  func manyConnections() async throws {
    let server = try await RunningServer.start {
      $0.connections = 3
      $0.requestSeconds = 600
    }
    var open: [RawConnection] = []
    for _ in 0..<2 { open.append(try await server.connect()) }
    let half = try await server.connect()
    try await half.send("GET /healthz HTTP/1.1\r\nHost: localhost\r\n")
    try await eventually("three connections") { server.server.connections == 3 }
    for path in ["/healthz", "/readyz", "/healthz", "/healthz"] {
      #expect(try await server.get(path).status == 200, "\(path)")
    }
    // The one that had waited longest made room for the first.
    #expect(try await open[0].readToEnd() == "")
    withExtendedLifetime((open, half)) {}
    try await server.stop()
  }

  @Test("Who has sent a request keeps the place; beyond, only health checks are answered")
  func viewersKeepTheirPlaces() async throws {
    let server = try await RunningServer.start {
      $0.connections = 4
      $0.healthChecks = 1
    }
    var open: [RawConnection] = []
    for _ in 0..<3 {
      let viewer = try await server.connect()
      try await viewer.send("GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n")
      open.append(viewer)
    }
    try await eventually("three viewers") { server.server.viewers == 3 }
    for path in ["/events", "/metrics", "/"] {
      let refused = try await server.connect()
      try await refused.send("GET \(path) HTTP/1.1\r\nHost: localhost\r\n\r\n")
      #expect(try await refused.readToEnd() == "", "\(path)")
    }
    for path in ["/healthz", "/readyz"] {
      #expect(try await server.get(path).status == 200, "\(path)")
    }
    #expect(server.server.viewers == 3)
    open.removeAll()
    try await eventually("room") { await (try? server.get("/healthz"))?.status == 200 }
    try await server.stop()
  }

  @Test("It ends without waiting for clients that say nothing, or half of something")
  func end() async throws {
    let server = try await RunningServer.start { $0.requestSeconds = 600 }
    let silent = try await server.connect()
    let half = try await server.connect()
    try await half.send("GET /healthz HTTP/1.1\r\n")
    try await eventually("the connections") { server.server.connections == 2 }
    let began = ContinuousClock.now
    try await server.stop()
    #expect(began.duration(to: .now) < .seconds(300))
    withExtendedLifetime((silent, half)) {}
  }

  @Test("A port that is taken is tried again until it is free")
  func takenPort() async throws {
    let first = try await RunningServer.start()
    async let second = RunningServer.start(port: first.port)
    try await first.stop()
    let server = try await second
    #expect(server.port == first.port)
    #expect(try await server.get("/healthz").status == 200)
    try await server.stop()
  }
}

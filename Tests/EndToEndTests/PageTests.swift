// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestKit
import Testing

@Suite("The HTTP server of a running daemon", .inTurns, .timeLimit(.minutes(30)))
struct PageTests {
  private func installation(_ broker: TestBroker, port: UInt16) throws -> Installation {
    try Installation(broker, more: "http: {enabled: true, port: \(port)}")
  }

  @Test("It is ready while it has its broker and its store, and ends with the daemon")
  func ready() async throws {
    let broker = try TestBroker()
    let port = try UnusedPort.next()
    let installation = try installation(broker, port: port)
    let daemon = try await installation.start()
    try await eventually("the daemon to be ready") {
      try await RawAnswer.get("/readyz", port: Int(port)).status == 200
    }
    #expect(try await RawAnswer.get("/healthz", port: Int(port)).status == 200)
    #expect(
      try await RawAnswer.get("/healthz", port: Int(port), host: "evil.example").status == 421)
    broker.stop()
    try await eventually("the daemon to notice") {
      try await RawAnswer.get("/readyz", port: Int(port)).status == 503
    }
    let answer = try #require(JSON(try await RawAnswer.get("/readyz", port: Int(port)).body))
    #expect(answer["ready"] == false)
    #expect(try await RawAnswer.get("/healthz", port: Int(port)).status == 200)
    #expect(try await daemon.stop() == .exit(0))
    await #expect(throws: RawConnection.Failed.self) {
      try await RawAnswer.get("/healthz", port: Int(port))
    }
    withExtendedLifetime(installation) {}
  }

  @Test("The page is small, and its state has the daemon's alerts and no secret")
  func page() async throws {
    let broker = try TestBroker()
    let port = try UnusedPort.next()
    let installation = try installation(broker, port: port)
    let daemon = try await installation.start()
    let publisher = try await TestPublisher.start(broker)
    let dataset = try ThreadNetwork("home").hex(at: 5)
    try await publisher.publish([
      BorderRouter(number: 1).announces(dataset), BorderRouter(number: 2).says("announce"),
    ])
    let page = try await RawAnswer.get("/", port: Int(port))
    #expect(page.status == 200 && page.body.utf8.count <= 60_000)
    let connection = try await RawConnection(port: Int(port))
    try await connection.send("GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n")
    var text = ""
    while !text.contains("CredentialsMissing") {
      let more = try await connection.read()
      try #require(!more.isEmpty, "\(text)")
      text += more
    }
    #expect(text.contains(#""preferred":true"#) && text.contains(BorderRouter(number: 1).agent))
    #expect(!text.contains(dataset))
    #expect(try await daemon.stop() == .exit(0))
    withExtendedLifetime(installation) {}
  }

  @Test("The link of `page token` opens the page, and what is changed there is changed")
  func changes() async throws {
    let broker = try TestBroker()
    let port = try UnusedPort.next()
    let installation = try installation(broker, port: port)
    let outcome = try await installation.command("page", "token")
    #expect(outcome.status == 0)
    let link = try #require(outcome.output.split(separator: "\n").first)
    let token = try #require(link.split(separator: "=").last)
    #expect(link == "http://127.0.0.1:\(port)/?token=\(token)" && token.utf8.count == 43)
    let file = installation.storePath + ".http-token"
    let attributes = try FileManager.default.attributesOfItem(atPath: file)
    #expect(attributes[.posixPermissions] as? Int == 0o600)
    // The same again, and another one when that is wanted.
    #expect(try await installation.command("page", "token").output.hasPrefix("\(link)\n"))
    let daemon = try await installation.start()
    let publisher = try await TestPublisher.start(broker)
    let network = try ThreadNetwork("other")
    try await publisher.publish([
      BorderRouter(number: 1).announces(try ThreadNetwork("home").hex()),
      BorderRouter(number: 2).announces(try network.hex()),
    ])
    try await eventually("both networks") {
      try await installation.json("networks").list.count == 2
    }
    func post(_ path: String, _ body: String, _ headers: String...) async throws -> RawAnswer {
      let lines =
        ["POST \(path) HTTP/1.1", "Host: localhost", "Content-Length: \(body.utf8.count)"]
        + ["Content-Type: application/json"] + headers
      let connection = try await RawConnection(port: Int(port))
      try await connection.send(lines.joined(separator: "\r\n") + "\r\n\r\n" + body)
      return try RawAnswer(await connection.readToEnd())
    }
    let body = #"{"home":"home","ext_pan_id":"\#(network.extendedPANID)"}"#
    #expect(try await RawAnswer.get("/", port: Int(port)).status == 401)
    #expect(try await post("/networks/prefer", body).status == 403)
    let shown = "Authorization: Bearer \(token)"
    for path in ["/networks/accept", "/networks/prefer"] {
      let answer = try await post(path, body, shown)
      #expect(answer.status == 200, "\(answer.body)")
    }
    let preferred = try await installation.json("networks").list.first { $0["preferred"] == true }
    #expect(preferred?["network_name"] == "other")
    let refused = try await post("/consent/deny", #"{"id":"none"}"#, shown)
    #expect(refused.status == 409 && refused.body.contains("message"))
    #expect(try await daemon.stop() == .exit(0))
    #expect(!daemon.log.contains(token))
    withExtendedLifetime(installation) {}
  }

  @Test(
    "A port that is taken is said by `status` and the log; the daemon works, and takes it when it is free"
  )
  func takenPort() async throws {
    let broker = try TestBroker()
    let port = try UnusedPort.next()
    let other = try installation(broker, port: port)
    let holder = try await other.start()
    let installation = try Installation(
      TestBroker(), more: "http: {enabled: true, port: \(port)}")
    let daemon = try await installation.start()
    try await eventually("status to say it") {
      try await installation.json("status")["page"]?["state"] == "unavailable"
    }
    let page = try await installation.json("status")["page"]
    #expect(page?["problem"]?.text == "port \(port) of 127.0.0.1 is taken by another program")
    #expect(try await installation.command("status").output.contains("Choose another `http.port`"))
    #expect(daemon.log.components(separatedBy: "cannot listen").count == 2, "once")
    #expect(try await holder.stop() == .exit(0))
    try await eventually("the page") {
      try await installation.json("status")["page"]?["url"]?.text == "http://127.0.0.1:\(port)/"
    }
    #expect(try await daemon.stop() == .exit(0))
  }

  @Test("Switched off, nothing listens")
  func off() async throws {
    let port = try UnusedPort.next()
    let installation = try Installation(TestBroker(), more: "http: {enabled: false, port: \(port)}")
    let daemon = try await installation.start()
    #expect(try await installation.json("status")["page"]?["state"] == "off")
    await #expect(throws: RawConnection.Failed.self) {
      try await RawAnswer.get("/healthz", port: Int(port))
    }
    try await daemon.stop()
  }
}

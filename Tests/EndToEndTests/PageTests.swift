import Foundation
import TestKit
import Testing

@Suite("The HTTP server of a running daemon", .inTurns, .timeLimit(.minutes(30))) struct PageTests {
  @Test("It is ready with its broker, small, shows no secret, and ends with the daemon") func readers() async throws {
    let broker = try TestBroker()
    let port = Int(try UnusedPort.next())
    let installation = try Installation(broker, more: "http: {enabled: true, port: \(port)}")
    let daemon = try await installation.start()
    try await eventually("the daemon to be ready") { try await RawAnswer.get("/readyz", port: port).status == 200 }
    #expect(try await RawAnswer.get("/healthz", port: port).status == 200)
    #expect(try await RawAnswer.get("/healthz", port: port, host: "evil.example").status == 421)

    let publisher = try await TestPublisher.start(broker)
    let dataset = try ThreadNetwork("home").hex(at: 5)
    try await publisher.publish([BorderRouter(number: 1).announces(dataset), BorderRouter(number: 2).says("announce")])
    let blueprint = try await RawAnswer.get("/blueprints/threadkeeper-alerts.yaml", port: port)
    #expect(blueprint.headers["content-type"] == "application/yaml")
    #expect(try blueprint.body == ProjectFiles.text(of: "examples/home-assistant/threadkeeper-alerts-blueprint.yaml"))
    let page = try await RawAnswer.get("/", port: port)
    #expect(page.status == 200 && page.body.utf8.count <= 60_000)
    let connection = try await RawConnection(port: port)
    try await connection.send("GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n")
    var text = ""
    while !text.contains("CredentialsMissing") {
      let more = try await connection.read()
      try #require(!more.isEmpty, "\(text)")
      text += more
    }
    #expect(text.contains(#""preferred":true"#) && text.contains(BorderRouter(number: 1).agent))
    #expect(!text.contains(dataset))

    broker.stop()
    try await eventually("the daemon to notice") { try await RawAnswer.get("/readyz", port: port).status == 503 }
    let answer = try #require(JSON(try await RawAnswer.get("/readyz", port: port).body))
    #expect(answer["ready"] == false)
    #expect(try await RawAnswer.get("/healthz", port: port).status == 200)
    #expect(try await daemon.stop() == .exit(0))
    await #expect(throws: RawConnection.Failed.self) { try await RawAnswer.get("/healthz", port: port) }
  }

  @Test("What is changed there with the token is changed, and what is refused is said") func changes() async throws {
    let running = try await RunningHome(hasPage: true)
    let network = try ThreadNetwork("other")
    try await running.announce(1, "Kitchen", try ThreadNetwork("home"))
    try await running.announce(2, "Attic", network)
    try await eventually("both networks") { try await running.installation.status()["networks"] == 2 }
    let body = #"{"home":"home","ext_pan_id":"\#(network.extendedPANID)"}"#
    #expect(try await RawAnswer.get("/", port: Int(running.port)).status == 401)
    #expect(try await running.post("/networks/prefer", body).status == 403)
    for path in ["/networks/accept", "/networks/prefer"] {
      let answer = try await running.post(path, body, RunningHome.shownToken)
      #expect(answer.status == 200, "\(answer.body)")
    }
    #expect(try await running.preferred == "other")
    #expect(try await running.installation.status()["discovery"]?["state"] == "off")
    let refused = try await running.post("/consent/deny", #"{"id":"none"}"#, RunningHome.shownToken)
    #expect(refused.status == 409 && refused.body.contains("message"))
    try await running.stop()
    #expect(!running.daemon.log.contains(RunningHome.token))
  }

  @Test("The link of `page token` opens the page of a port that was taken, once it is free") func takenPort()
    async throws
  {
    let holder = try TestBroker()
    let port = holder.port
    let installation = try Installation(TestBroker(), more: "http: {enabled: true, port: \(port)}")
    let link = try #require(try await installation.run("page", "token").split(separator: "\n").first)
    let token = try #require(link.split(separator: "=").last)
    #expect(link == "http://127.0.0.1:\(port)/?token=\(token)" && token.utf8.count == 43)
    let file = installation.storePath + ".http-token"
    let attributes = try FileManager.default.attributesOfItem(atPath: file)
    #expect(attributes[.posixPermissions] as? Int == 0o600)
    // The same again.
    #expect(try await installation.run("page", "token").hasPrefix("\(link)\n"))

    let daemon = try await installation.start()
    try await eventually("status to say it") { try await installation.status()["page"]?["state"] == "unavailable" }
    #expect(
      try await installation.status()["page"]?["problem"]?.text
        == "port \(port) of 127.0.0.1 is taken by another program")
    #expect(try await installation.run("status").contains("Choose another `http.port`"))
    #expect(daemon.log.components(separatedBy: "cannot listen").count == 2, "once")
    holder.stop()
    try await eventually("the page") {
      try await installation.status()["page"]?["url"]?.text == "http://127.0.0.1:\(port)/"
    }
    let opened = try await RawAnswer.get("/?token=\(token)", port: Int(port))
    #expect((200..<400).contains(opened.status))
    // Another one counts at once.
    let other = try await installation.run("page", "token", "--new")
    #expect(other.hasPrefix("http://127.0.0.1:\(port)/?token=") && !other.hasPrefix(link))
    for (link, isLetIn) in [(other.dropLast(), true), (link, false)] {
      let query = link.drop { $0 != "?" }
      #expect(try await (RawAnswer.get("/\(query)", port: Int(port)).status != 401) == isLetIn)
    }
    let code = try await installation.json("page", "code")
    #expect(code["address"]?.text == "http://127.0.0.1:\(port)/" && code["minutes"] == 10)
    let digits = try #require(code["code"]?.text)
    let body = "code=\(digits)"
    let connection = try await RawConnection(port: Int(port))
    try await connection.send(
      "POST / HTTP/1.1\r\nHost: localhost:\(port)\r\nOrigin: http://localhost:\(port)\r\n"
        + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
    let entered = try RawAnswer(await connection.readToEnd())
    #expect(entered.status == 303 && entered.headers["set-cookie"]?.hasPrefix("threadkeeper_token=") == true)
    #expect(try await daemon.stop() == .exit(0))
    #expect(!daemon.log.contains(token) && !daemon.log.contains(digits))
  }
}

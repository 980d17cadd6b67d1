import Broker
import Foundation
import TestKit
import Testing

/// A message that must be refused, and how: one for each code. `ReadMessagesTests` has the others.
struct BadMessage: Sendable {
  /// In payloads; no rejection may repeat it.
  static let mark = "payload-mark-7f3a"

  let name: String
  let payload: [UInt8]
  let code: String
  var kind = "announce"
  var field: String?
  var offset: Int64?

  private static func of(
    _ code: String, _ payload: String, _ name: String, kind: String = "announce", field: String? = nil,
    offset: Int64? = nil
  ) -> BadMessage {
    BadMessage(name: name, payload: Array(payload.utf8), code: code, kind: kind, field: field, offset: offset)
  }

  static let all: [BadMessage] = {
    let id = #""border_agent_id":"a1b2c3d4e5f60718""#
    let long = String(repeating: "x", count: 60_000)
    return [
      of("invalid_json", mark, "no JSON"),
      of("invalid_json", #"{\#(id),"name":"\ud800"}"#, "half a surrogate", field: "name"),
      of("wrong_type", "[\"\(mark)\"]", "a list"),
      of("wrong_type", "{\(id),\"seq\":\"\(mark)\"}", "a seq that is a text", field: "seq"),
      of("missing_field", "{}", "no id", field: "border_agent_id"),
      of("missing_field", "{\(id)}", "no dataset", kind: "dataset", field: "dataset"),
      of("bad_field", "{\(id),\"name\":\"\(long.prefix(129))\"}", "a long name", field: "name"),
      of("bad_border_agent_id", #"{"border_agent_id":"1"}"#, "a short id", field: "border_agent_id"),
      of("not_enrolled", "{\(id),\"sealed\":\"\(mark)\"}", "a sealed event", field: "sealed"),
      of(
        "not_found", #"{"border_agent_id":"ffffffffffffffff"}"#, "a heartbeat of nobody", kind: "heartbeat",
        field: "border_agent_id"), of("truncated", "{\(id),\"dataset\":\"00\"}", "half a dataset", field: "dataset"),
      of("too_large", "{\(id),\"name\":\"\(long)\"}", "60,000 bytes of a text"),
      of("too_deep", String(repeating: "[", count: 10_000), "10,000 lists", offset: 8),
      BadMessage(
        name: "an overlong form", payload: Array("{\(id),\"name\":\"".utf8) + [0xC0, 0xAF] + Array("\"}".utf8),
        code: "invalid_utf8"),
    ]
  }()
}

@Suite("Bad input", .inTurns, .timeLimit(.minutes(30))) struct BadInputTests {
  @Test("Each is refused by name, without its payload, and what is good arrives") func refused() async throws {
    let dataset = try ThreadNetwork("home").hex()
    func retained(_ user: String) -> Publication {
      var publication = BorderRouter(number: 0x900, user: user).announces(dataset)
      publication.retain = true
      return publication
    }
    let broker = try TestBroker()
    try await TestPublisher.start(broker).publish([retained("early")])
    let home = try await RunningHome(on: broker, hold: 1)
    let all = BadMessage.all
    let topics = [
      ("in", "invalid_topic"), ("in//announce", "invalid_topic"), ("in/user/Announce", "unknown_event"),
      ("in/user/" + String(repeating: "x", count: 10_000), "unknown_event"),
    ]
    let users = ["Küche", "日本", "'; DROP TABLE router; --", "$x", "%u", "\\"]
    for (number, bad) in all.enumerated() {
      try await home.publish(
        Publication(topic: "threadkeeper/in/bad-\(number)/\(bad.kind)", payload: bad.payload),
        BorderRouter(number: 0x100 + number).announces(dataset))
    }
    for (topic, _) in topics { try await home.publish(Publication(topic: "threadkeeper/\(topic)", payload: [0x7B])) }
    for (number, user) in users.enumerated() {
      try await home.publish(BorderRouter(number: number, user: user).announces(dataset))
    }
    try await home.publish(retained("live"))
    let (refusals, announced) = (all.count + topics.count + 2, all.count + users.count)
    try await home.until("all refusals and all announcements") {
      $0.events("message_rejected").count == refusals && $0.events("router_announced").count == announced
    }
    let events = home.audience.look { $0.events("message_rejected") }
    for (number, bad) in all.enumerated() {
      let event = try #require(events.first { $0["user"]?.text == "bad-\(number)" }, "\(bad.name)")
      #expect(event["code"]?.text == bad.code, "\(bad.name): \(event)")
      #expect(event["field"]?.text == bad.field, "\(bad.name): \(event)")
      if let offset = bad.offset { #expect(event["offset"]?.number == offset, "\(bad.name)") }
      #expect(event["topic"]?.text == "threadkeeper/in/bad-\(number)/\(bad.kind)")
      #expect(event["message"]?.text?.isEmpty == false)
      #expect(!event.description.contains(BadMessage.mark), "\(bad.name)")
      #expect(event.description.utf8.count < 1000, "\(bad.name)")
    }
    for (topic, code) in topics {
      let start = String("threadkeeper/\(topic)".prefix(400))
      #expect(events.first { $0["topic"]?.text == start }?["code"]?.text == code, "\(start)")
    }
    #expect(
      events.filter { $0["code"] == "retained" }.map { $0["user"] } == ["early", "live"],
      "whether it lay there or came while it runs")
    for (number, user) in users.enumerated() {
      #expect(home.state(BorderRouter(number: number).topic)?["user"]?.text == user)
    }
    let log = home.daemon.log
    #expect(!log.contains(BadMessage.mark))
    // The log counts them by their codes, at most one line a code in ten seconds.
    for code in Set(all.map(\.code)) {
      let line = try #require(
        log.split(separator: "\n").first { $0.contains("messages rejected") && $0.contains("code=\(code) ") }, "\(code)"
      )
      for field in [" count=", " reason=", " topic="] { #expect(line.contains(field), "\(line)") }
    }
    #expect(try await home.installation.status()["routers"]?.number == Int64(announced))
    try await home.stop()
  }

  @Test("A thousand bad messages between good ones, again and again: memory stays flat", .beginsFirst) func memory()
    async throws
  {
    let broker = try TestBroker()
    let installation = try Installation(port: broker.port, logLevel: "info")
    let audience = try await Audience.start(broker, "threadkeeper/bridge/event")
    let daemon = try await installation.start()
    let publisher = try await TestPublisher.start(broker)
    let home = try ThreadNetwork("home")
    let bad = BadMessage.all
    let routers = (1...50).map { BorderRouter(number: $0) }
    func round(_ number: Int) async throws {
      var publications: [Publication] = []
      for index in 0..<1000 {
        let one = bad[index % bad.count]
        publications.append(Publication(topic: "threadkeeper/in/bad/\(one.kind)", payload: one.payload))
        if index.isMultiple(of: 20) {
          publications.append(routers[index / 20].changes(to: try home.hex(at: UInt64(number))))
        }
      }
      try await publisher.publish(publications)
      try await audience.until("round \(number)") {
        $0.events.count { $0["event_type"] == "message_rejected" } >= number * 1000
      }
    }
    // A round has some 5 MiB of payload: kept, it would show. What is resident says less: at rest it is given back.
    for number in 1...2 { try await round(number) }
    let before = daemon.peakBytes
    for number in 3...6 { try await round(number) }
    let after = daemon.peakBytes
    #expect(before > 1 << 20)
    #expect(after < before + 16 << 20, "from \(before >> 10) KiB to \(after >> 10) KiB")
    let stored = try await installation.json("credentials", "list").list
    #expect(stored.count == 50)
    #expect(stored.allSatisfy { $0["active_timestamp"] == 6 })
    #expect(try await daemon.stop() == .exit(0))
  }
}

@Suite("Large messages", .inTurns, .timeLimit(.minutes(30))) struct LargeMessageTests {
  /// What the private broker's own limit is taken away with.
  private static let unlimited = "max_packet_size 268435455"
  private static let large = [UInt8](repeating: 0x20, count: 60_000_000)

  @Test(
    "Messages of 60 MB do not fill the daemon's memory, retained or not, and it goes on",
    arguments: [("5", [unlimited]), ("3.1.1", [unlimited, "message_size_limit 65536"])]) func flood(
      version: String, configuration: [String]
    ) async throws
  {
    let broker = try TestBroker(extraConfiguration: configuration)
    let publisher = try await TestPublisher.start(broker)
    func flood() async throws {
      for (topic, retain) in [
        ("threadkeeper/in/mallory/announce", false), ("threadkeeper/in/mallory/dataset", true),
        ("homeassistant/status", true),
      ] { try await publisher.publish([Publication(topic: topic, payload: Self.large, retain: retain)]) }
    }
    // What lies there when it starts.
    try await flood()
    let installation = try Installation(broker, mqtt: ["protocol: '\(version)'"])
    let daemon = try await installation.start()
    let audience = try await Audience.start(broker, "threadkeeper/router/#")
    let before = daemon.peakBytes
    try await flood()
    let router = BorderRouter(number: 1, user: "hub")
    try await publisher.publish([router.announces(try ThreadNetwork("home").hex())])
    try await audience.until("the router") { $0.state(router.topic)?["credentials"] == "stored" }
    // One such message would be more than all that a debug build takes.
    #expect(before > 1 << 20 && before < 100 << 20, "\(before >> 20) MiB at the start")
    #expect(daemon.peakBytes < before + 16 << 20, "\(before >> 20), \(daemon.peakBytes >> 20) MiB")
    #expect(try await daemon.stop() == .exit(0))
  }

  @Test("The private broker ends the connection of who sends 60 MB") func privateBroker() async throws {
    let broker = try TestBroker()
    var configuration = broker.configuration(clientID: "mallory")
    // With MQTT 5 the client knows the broker's limit, and sends nothing.
    configuration.protocolVersion = .v311
    configuration.cleanStart = true
    configuration.sessionExpiry = 0
    let client = TestClient(configuration)
    try await client.ready()
    client.publish([Publication(topic: "threadkeeper/in/mallory/announce", payload: Self.large)])
    try await eventually("the end of the connection") {
      client.handler.record.disconnections.contains { $0.wasConnected }
    }
    #expect(!client.handler.record.acknowledged.contains { $0.outcome == .delivered })
  }

  @Test("With MQTT 3.1.1 the doctor finds out whether the broker has a limit") func doctor() async throws {
    for (configuration, result) in [
      ([Self.unlimited], "warning"), ([Self.unlimited, "message_size_limit 1048576"], "ok"),
    ] {
      let broker = try TestBroker(extraConfiguration: configuration)
      let installation = try Installation(broker, mqtt: ["protocol: '3.1.1'"], more: "discovery: {mdns: off}")
      let report = try #require(JSON(try await installation.command("doctor", "--json").output))
      let finding = report["findings"]?.list.first { $0["check"]?.text == "message_size" }
      #expect(finding?["result"]?.text == result, "\(configuration): \(report)")
      #expect(result == "ok" || finding?["remedy"]?.text?.contains("message_size_limit") == true)
    }
  }
}

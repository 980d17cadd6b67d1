// SPDX-License-Identifier: Apache-2.0

import Broker
import Foundation
import TestKit
import Testing

@Suite("Bad input", .inTurns, .timeLimit(.minutes(30)))
struct BadInputTests {
  @Test("Each is refused by name, without its payload, and what is good arrives")
  func refused() async throws {
    let broker = try TestBroker()
    let installation = try Installation(broker)
    let audience = try await Audience.start(broker)
    let daemon = try await installation.start()
    let publisher = try await TestPublisher.start(broker)
    let home = try ThreadNetwork("home")
    let vectors = try DatasetVectors.all().filter { $0.expect != "complete" }.map {
      BadMessage(
        "vector \($0.id)", "{\"border_agent_id\":\"a1b2c3d4e5f60718\",\"dataset\":\"\($0.hex)\"}",
        $0.expect == "pending" ? "incomplete_dataset" : $0.expect, field: "dataset")
    }
    #expect(vectors.count >= 16)
    let all = BadMessage.all + vectors
    var publications: [Publication] = []
    for (number, bad) in all.enumerated() {
      publications.append(
        Publication(topic: "threadkeeper/in/bad-\(number)/\(bad.kind)", payload: bad.payload))
      publications.append(BorderRouter(number: 0x100 + number).announces(try home.hex()))
    }
    try await publisher.publish(publications)
    try await audience.until("all refusals and all announcements") {
      $0.events("message_rejected").count == all.count
        && $0.events("router_announced").count == all.count
    }
    let events = audience.look { $0.events("message_rejected") }
    for (number, bad) in all.enumerated() {
      let event = try #require(events.first { $0["user"]?.text == "bad-\(number)" }, "\(bad.name)")
      #expect(event["code"]?.text == bad.code, "\(bad.name): \(event)")
      #expect(event["field"]?.text == bad.field, "\(bad.name): \(event)")
      if let offset = bad.offset { #expect(event["offset"]?.number == offset, "\(bad.name)") }
      if bad.name.hasPrefix("vector B") { #expect(event["offset"]?.number != nil, "\(bad.name)") }
      #expect(event["topic"]?.text == "threadkeeper/in/bad-\(number)/\(bad.kind)")
      #expect(event["message"]?.text?.isEmpty == false)
      #expect(!event.description.contains(BadMessage.mark), "\(bad.name)")
      #expect(event.description.utf8.count < 1000, "\(bad.name)")
    }
    #expect(!daemon.log.contains(BadMessage.mark))
    // The log counts them by their codes, at most one line a code in ten seconds.
    for code in Set(all.map(\.code)) {
      let line = daemon.log.split(separator: "\n").first {
        $0.contains("messages rejected") && $0.contains("code=\(code) ")
      }
      #expect(line?.contains(" count=") == true, "\(code)")
      #expect(line?.contains(" reason=") == true && line?.contains(" topic=") == true, "\(code)")
    }
    #expect(try await installation.json("status")["routers"]?.number == Int64(all.count))
    #expect(try await daemon.stop() == .exit(0))
  }

  @Test("Odd topics and odd user names are refused or kept as they are, and harm nobody")
  func topics() async throws {
    let broker = try TestBroker()
    let installation = try Installation(broker)
    let audience = try await Audience.start(broker)
    let daemon = try await installation.start()
    let publisher = try await TestPublisher.start(broker)
    let home = try ThreadNetwork("home")
    let body = "{\"border_agent_id\":\"a1b2c3d4e5f60718\",\"dataset\":\"\(try home.hex())\"}"
    let refused = [
      ("in", "invalid_topic"), ("in/", "invalid_topic"), ("in/user", "invalid_topic"),
      ("in//announce", "invalid_topic"), ("in/user/", "unknown_event"),
      ("in/user/Announce", "unknown_event"), ("in/user/announce/", "unknown_event"),
      ("in/user/announce/more", "unknown_event"),
      ("in/user/request/", "unknown_event"), ("in/user/request", "unknown_event"),
      ("in/user/" + String(repeating: "x", count: 10_000), "unknown_event"),
      ("in/" + String(repeating: "x/", count: 150), "unknown_event"),
    ]
    try await publisher.publish(
      refused.map { Publication(topic: "threadkeeper/\($0.0)", payload: Array(body.utf8)) })
    try await audience.until("all refusals") {
      $0.events("message_rejected").count == refused.count
    }
    let events = audience.look { $0.events("message_rejected") }
    for (index, (topic, code)) in refused.enumerated() {
      #expect(events[index]["code"]?.text == code, "\(topic.prefix(40))")
      #expect(events[index]["topic"]?.text == String("threadkeeper/\(topic)".prefix(400)))
    }
    #expect(try await installation.json("routers").list.isEmpty)

    let users = [
      "Küche", "a b", "日本", "$x", "user.name@example", "'; DROP TABLE router; --", "\"q\"", "%u",
      "\\",
    ]
    for (number, user) in users.enumerated() {
      try await publisher.publish([
        BorderRouter(number: number, user: user).announces(try home.hex())
      ])
    }
    try await audience.until("all of the odd users") { heard in
      users.indices.allSatisfy {
        heard.state(BorderRouter(number: $0).topic)?["user"]?.text == users[$0]
      }
    }
    #expect(try await installation.json("status")["routers"]?.number == Int64(users.count))
    #expect(try await daemon.stop() == .exit(0))
  }

  @Test(
    "A thousand bad messages between good ones, again and again: memory stays flat", .beginsFirst)
  func memory() async throws {
    let broker = try TestBroker()
    let installation = try Installation(port: broker.port, logLevel: "info")
    let audience = try await Audience.start(broker, "threadkeeper/bridge/event")
    let daemon = try await installation.start()
    let publisher = try await TestPublisher.start(broker)
    let home = try ThreadNetwork("home")
    let bad = BadMessage.all
    let routers = (1...50).map { BorderRouter(number: $0) }
    var expected = 0
    func round(_ number: UInt64) async throws {
      var publications: [Publication] = []
      for index in 0..<1000 {
        let one = bad[index % bad.count]
        publications.append(
          Publication(topic: "threadkeeper/in/bad/\(one.kind)", payload: one.payload))
        if index.isMultiple(of: 20) {
          publications.append(routers[index / 20].changes(to: try home.hex(at: number)))
        }
      }
      try await publisher.publish(publications)
      expected += 1000
      let rejections = expected
      try await audience.until("round \(number)", within: .seconds(60)) {
        $0.events.count { $0["event_type"] == "message_rejected" } >= rejections
      }
    }
    // A round has some 5 MiB of payload: kept, it would show.
    for number in 1...3 { try await round(UInt64(number)) }
    let before = daemon.residentBytes
    for number in 4...8 { try await round(UInt64(number)) }
    let after = daemon.residentBytes
    #expect(before > 1 << 20)
    #expect(after < before + 16 << 20, "from \(before >> 10) KiB to \(after >> 10) KiB")
    let stored = try await installation.json("credentials", "list").list
    #expect(stored.count == 50)
    #expect(stored.allSatisfy { $0["active_timestamp"] == 8 })
    #expect(try await daemon.stop() == .exit(0))
  }

  @Test("Retained messages are ignored and counted, whether they lay there or come while it runs")
  func retained() async throws {
    let broker = try TestBroker(persistence: true, savesAtOnce: true)
    let installation = try Installation(broker)
    let publisher = try await TestPublisher.start(broker)
    let home = try ThreadNetwork("home")
    let early = BorderRouter(number: 1, user: "early")
    let live = BorderRouter(number: 2, user: "live")
    let good = BorderRouter(number: 3, user: "good")
    var lying = early.announces(try home.hex())
    lying.retain = true
    try await publisher.publish([lying])
    let audience = try await Audience.start(broker)
    let daemon = try await installation.start()
    try await audience.until("the first refusal") { $0.events("message_rejected").count == 1 }
    var flagged = live.announces(try home.hex())
    flagged.retain = true
    try await publisher.publish([flagged, good.announces(try home.hex())])
    try await audience.until("the second refusal and the good one") {
      $0.events("message_rejected").count == 2 && $0.state(good.topic) != nil
    }
    let events = audience.look { $0.events("message_rejected") }
    #expect(events.map { $0["code"] } == ["retained", "retained"])
    #expect(events.map { $0["user"] } == ["early", "live"])
    #expect(try await installation.json("routers").list.count == 1)

    // A new connection of the bridge publishes its health again.
    broker.stop()
    try broker.start()
    let after = try await Audience.start(broker)
    try await after.until("the count") {
      $0.state("threadkeeper/bridge/health")?["retained_ignored"]?.number ?? 0 >= 2
    }
    #expect(after.state("threadkeeper/bridge/health")?["messages_rejected"] == 0)
    #expect(try await installation.json("routers").list.count == 1)
    #expect(try await daemon.stop() == .exit(0))
  }
}

// SPDX-License-Identifier: Apache-2.0

import Broker
import Foundation
import Home
import TestKit
import Testing

@Suite("Floods", .inTurns, .timeLimit(.minutes(30)))
struct FloodTests {
  @Test(
    "A login that floods is refused by name and counted, and the others are served", .beginsFirst)
  func events() async throws {
    let broker = try TestBroker(
      logins: [
        .init("threadkeeper", role: .daemon), .init("monitor", role: .monitor),
        .init("border-router"), .init("mallory"),
      ], persistence: true)
    let password = try #require(broker.broker.password(of: "threadkeeper"))
    let installation = try Installation(
      broker, mqtt: ["username: threadkeeper", "password: '\(password)'"],
      more: "limits: {events_per_second: 10, events_burst: 50, routers_per_team: 20}")
    let daemon = try await installation.start()
    let audience = try await Audience.start(broker, user: "monitor", "threadkeeper/#")
    let network = try ThreadNetwork("home").hex()
    let mallory = try await TestPublisher.start(broker, user: "mallory")
    _ = try await mallory.publish(
      (1_000..<3_000).map { BorderRouter(number: $0, user: "mallory").announces(network) })
    let own = BorderRouter(number: 1)
    let publisher = try await TestPublisher.start(broker, user: "border-router")
    _ = try await publisher.publish([own.announces(network)])
    try await audience.until("the router of another login, and both rejections") { heard in
      let codes = Set(heard.events("message_rejected").compactMap { $0["code"]?.text })
      return heard.state(own.topic)?["credentials"] == "stored"
        && codes.isSuperset(of: ["rate_limited", "too_many_routers"])
    }
    try await audience.until("the count of all that was refused", within: .seconds(120)) {
      ($0.state("threadkeeper/bridge/health")?["messages_rejected"]?.number ?? 0) >= 1_900
    }
    #expect(JSON(try await installation.command("routers", "--json").output)?.list.count == 21)
    let lines = daemon.log.split(separator: "\n").count { $0.contains("border router announced") }
    #expect(lines <= 30, "\(lines) lines")
    #expect(try await daemon.stop() == .exit(0))
  }

  @Test(
    "A login that makes up ids without end, by events and by requests, keeps no more than its share"
  )
  func madeUpIDs() async throws {
    let broker = try TestBroker(
      logins: [
        .init("threadkeeper", role: .daemon), .init("monitor", role: .monitor),
        .init("border-router"), .init("mallory"),
      ], persistence: true)
    let password = try #require(broker.broker.password(of: "threadkeeper"))
    let installation = try Installation(
      broker, mqtt: ["username: threadkeeper", "password: '\(password)'"],
      more: "limits: {routers_per_team: 50}")
    let daemon = try await installation.start()
    let audience = try await Audience.start(broker, user: "monitor", "threadkeeper/#")
    let network = try ThreadNetwork("home").hex()
    let publisher = try await TestPublisher.start(broker, user: "border-router")
    let left = BorderRouter(number: 1)
    let own = BorderRouter(number: 2)
    _ = try await publisher.publish([left.announces(network), left.leaves])

    let mallory = try await TestPublisher.start(broker, user: "mallory")
    let invented = (1_000..<2_500).map { BorderRouter(number: $0, user: "mallory") }
    let flood = invented.enumerated().flatMap { number, router in
      number % 2 == 0
        ? [router.announces(network), router.leaves]
        : [router.announces(network, sequence: 1), router.leaves]
    }
    _ = try await mallory.publish(Array(flood.prefix(1_500)))
    _ = try await publisher.publish([own.announces(network)])
    _ = try await mallory.publish(Array(flood.dropFirst(1_500)))
    let topic = "threadkeeper/in/mallory/request/credentials/store"
    _ = try await mallory.publish(
      (5_000..<5_100).map { number in
        let agent = BorderRouter(number: number).agent
        return Publication(
          topic: topic,
          payload: Array(#"{"border_agent_id":"\#(agent)","dataset":"\#(network)"}"#.utf8))
      })
    let last = BorderRouter(number: 9_999, user: "mallory")
    _ = try await mallory.publish([last.announces(network)])
    try await audience.until("the honest router, and the end of the flood", within: .seconds(60)) {
      let isOver =
        $0.state(last.topic) != nil
        || $0.events("message_rejected").contains { $0["border_agent_id"]?.text == last.agent }
      return $0.state(own.topic)?["credentials"] == "stored" && isOver
    }
    #expect(try await daemon.stop() == .exit(0))
    let routers = try #require(try installation.homes()["home"]).routers
    let teams = Dictionary(grouping: routers) { $0.owner?.text ?? "" }.mapValues(\.count)
    #expect(teams == ["border-router": 2, "mallory": 50])
    let records = try Program.check(
      "sqlite3", [installation.storePath + "/store.sqlite3", "SELECT count(*) FROM records"])
    // One for each id, and a few of the home's and the daemon's own.
    #expect(try #require(Int(records.trimmingCharacters(in: .newlines))) < 70, "\(records)")
    // The owner of the honest team's router that left is still there.
    let again = try await installation.start()
    let removed = try await installation.json("routers", "remove", left.agent)
    #expect(removed["previous_team"] == "border-router", "\(removed)")
    #expect(try await again.stop() == .exit(0))
  }
}

// SPDX-License-Identifier: Apache-2.0

import EmbeddedBroker
import Foundation
import MosquittoClient
import TestKit
import Testing

@Suite("Floods", .inTurns, .timeLimit(.minutes(30)))
struct FloodTests {
  @Test("A login that floods is refused by name and counted, and the others are served")
  func events() async throws {
    let broker = try TestBroker(
      logins: [
        .init("threadkeeper", role: .keeper), .init("monitor", role: .monitor),
        .init("border-router"), .init("mallory"),
      ], persistence: true)
    let password = try #require(broker.broker.password(of: "threadkeeper"))
    let keeper = try Installation(
      broker, mqtt: ["username: threadkeeper", "password: '\(password)'"],
      more: "limits: {events_per_second: 10, events_burst: 50, routers_per_team: 20}")
    let daemon = try await keeper.start()
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
    #expect(JSON(try await keeper.command("routers", "--json").output)?.list.count == 21)
    let lines = daemon.log.split(separator: "\n").count { $0.contains("border router announced") }
    #expect(lines <= 30, "\(lines) lines")
    #expect(try await daemon.stop() == .exit(0))
  }
}

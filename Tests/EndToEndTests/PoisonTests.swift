// SPDX-License-Identifier: Apache-2.0

import Broker
import Foundation
import SQLiteDatabase
import TestKit
import Testing

private enum HangingRecord {
  static let library = PreloadedLibrary("hanging_record")
}

@Suite("Messages made to stop the intake", .inTurns, .timeLimit(.minutes(30)))
struct PoisonTests {
  private static let logins: [EmbeddedBrokerConfiguration.Login] = [
    .init("threadkeeper", role: .daemon), .init("monitor", role: .monitor),
    .init("border-router"), .init("mallory"),
  ]

  private func ssid(_ name: Int) -> Publication {
    Publication(
      topic: "threadkeeper/in/mallory/ssid",
      payload: Array(#"{"access_point":"ap","ssid":"wifi-\#(name)"}"#.utf8))
  }

  @Test("A login that claims an access point makes no work for others, and SIGTERM ends the daemon")
  func accessPoint() async throws {
    let broker = try TestBroker(logins: Self.logins, persistence: true)
    let password = try #require(broker.broker.password(of: "threadkeeper"))
    let installation = try Installation(
      broker, mqtt: ["username: threadkeeper", "password: '\(password)'"])
    let daemon = try await installation.start()
    let audience = try await Audience.start(broker, user: "monitor", "threadkeeper/#")
    let network = try ThreadNetwork("home").hex()
    let own = BorderRouter(number: 1)
    let publisher = try await TestPublisher.start(broker, user: "border-router")
    _ = try await publisher.publish([
      own.says("announce", ("dataset", "\"\(network)\""), ("access_point", #""ap""#)),
      own.says("ssid", ("ssid", #""mine""#)),
    ])
    let mallory = try await TestPublisher.start(broker, user: "mallory")
    let claims = (100..<400).map { number in
      BorderRouter(number: number, user: "mallory")
        .says("announce", ("dataset", "\"\(network)\""), ("access_point", #""ap""#))
    }
    _ = try await mallory.publish(claims + (0..<2_000).map(ssid))
    try await audience.until("the rejection") {
      $0.events("message_rejected").contains { $0["code"]?.text == "too_many_routers" }
    }
    // The SIGTERM meets a batch of them.
    let more = Task { _ = try? await mallory.publish((2_000..<6_000).map(ssid)) }
    #expect(try await daemon.stop() == .exit(0))
    await more.value
    let again = try await installation.start()
    try await audience.until("the router as it was") { $0.state(own.topic)?["ssid"] == "mine" }
    #expect(try await again.stop() == .exit(0))
  }

  @Test(
    "A message that hangs the daemon is rejected after some kills, and all others are stored",
    .enabled(if: HangingRecord.library != nil, "there is no C compiler"))
  func hanging() async throws {
    let broker = try TestBroker(logins: Self.logins, persistence: true)
    let password = try #require(broker.broker.password(of: "threadkeeper"))
    let installation = try Installation(
      broker, mqtt: ["username: threadkeeper", "password: '\(password)'"])
    let network = try ThreadNetwork("home").hex()
    let publisher = try await TestPublisher.start(broker, user: "border-router")
    let audience = try await Audience.start(broker, user: "monitor", "threadkeeper/#")
    let first = try await installation.start()
    _ = try await publisher.publish([BorderRouter(number: 1).announces(network)])
    try await audience.until("a router") { $0.state(BorderRouter(number: 1).topic) != nil }
    #expect(try await first.stop() == .exit(0))
    let database = try SQLiteDatabase(
      path: installation.location.databasePath, access: .readOnly)
    let longest = try database.read {
      try $0.first("SELECT max(max(length(state)), max(length(secret))) FROM records") {
        $0.integer(0)
      }
    }
    database.close()
    let variables = [
      "LD_PRELOAD": try #require(HangingRecord.library).path,
      "HANGING_LENGTH": "\(try #require(longest) + 64)",
    ]
    let mallory = try await TestPublisher.start(broker, user: "mallory")
    _ = try await publisher.publish((1...25).map { BorderRouter(number: $0).announces(network) })
    let long = "\"\(String(repeating: "long", count: 15))\""
    _ = try await mallory.publish([
      BorderRouter(number: 99, user: "mallory").says(
        "announce", ("dataset", "\"\(network)\""), ("name", long), ("vendor", long),
        ("model", long))
    ])
    _ = try await publisher.publish((26...49).map { BorderRouter(number: $0).announces(network) })
    var kills = 0
    while !isRejected(audience), kills < 12 {
      let daemon = try installation.launch(environment: variables)
      try await eventually("the daemon to hang, or the rejection") {
        try daemon.processorSeconds > 2 || isRejected(audience)
      }
      guard isRejected(audience) else {
        try await daemon.kill9()
        kills += 1
        continue
      }
      try await audience.until("the last router") {
        $0.state(BorderRouter(number: 49).topic)?["credentials"] == "stored"
      }
      #expect(try await daemon.stop() == .exit(0))
    }
    // Batches of fewer and fewer messages first, then the message alone three times.
    #expect((3...9).contains(kills), "\(kills) kills")
    #expect(isRejected(audience))
    let status = try await installation.serving { try await installation.json("status") }
    #expect(status["routers"] == 49)
  }

  private func isRejected(_ audience: Audience) -> Bool {
    audience.look { heard in
      heard.events("message_rejected").contains {
        $0["code"]?.text == "cannot_apply" && $0["user"]?.text == "mallory"
      }
    }
  }
}

// SPDX-License-Identifier: Apache-2.0

import Broker
import Foundation
import SQLiteDatabase
import TestKit
import Testing

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

  @Test("A message that fails whenever it is applied is rejected, and what came with it is stored")
  func poison() async throws {
    let broker = try TestBroker(logins: Self.logins, persistence: true)
    let password = try #require(broker.broker.password(of: "threadkeeper"))
    let installation = try Installation(
      broker, mqtt: ["username: threadkeeper", "password: '\(password)'"])
    let first = try await installation.start()
    #expect(try await first.stop() == .exit(0))
    let database = try SQLiteDatabase(
      path: "\(installation.storePath)/store.sqlite3", access: .readWrite(create: false))
    try database.write {
      try $0.execute(
        """
        CREATE TRIGGER poison BEFORE INSERT ON router WHEN NEW.name = 'poison'
        BEGIN SELECT RAISE(ABORT, 'no such router'); END
        """)
    }
    database.close()
    let network = try ThreadNetwork("home").hex()
    let publisher = try await TestPublisher.start(broker, user: "border-router")
    let mallory = try await TestPublisher.start(broker, user: "mallory")
    _ = try await publisher.publish((1...20).map { BorderRouter(number: $0).announces(network) })
    _ = try await mallory.publish([
      BorderRouter(number: 99, user: "mallory")
        .says("announce", ("dataset", "\"\(network)\""), ("name", #""poison""#))
    ])
    _ = try await publisher.publish((21...40).map { BorderRouter(number: $0).announces(network) })
    let audience = try await Audience.start(broker, user: "monitor", "threadkeeper/#")
    let second = try await installation.start()
    try await audience.until("the rejection and the last router") { heard in
      heard.events("message_rejected").contains {
        $0["code"]?.text == "cannot_apply" && $0["user"]?.text == "mallory"
      } && heard.state(BorderRouter(number: 40).topic)?["credentials"] == "stored"
    }
    try await audience.until("health") {
      $0.state("threadkeeper/bridge/health")?["intake"] == "running"
    }
    #expect(try await second.stop() == .exit(0))
  }

  @Test("A message that hangs the daemon is rejected after some kills, and all others are stored")
  func hanging() async throws {
    let broker = try TestBroker(logins: Self.logins, persistence: true)
    let password = try #require(broker.broker.password(of: "threadkeeper"))
    let installation = try Installation(
      broker, mqtt: ["username: threadkeeper", "password: '\(password)'"])
    let first = try await installation.start()
    #expect(try await first.stop() == .exit(0))
    let database = try SQLiteDatabase(
      path: "\(installation.storePath)/store.sqlite3", access: .readWrite(create: false))
    // A statement that never ends.
    try database.write {
      try $0.execute(
        """
        CREATE VIEW forever AS
        WITH RECURSIVE n(i) AS (VALUES(0) UNION ALL SELECT i + 1 FROM n) SELECT count(*) AS c FROM n
        """)
      try $0.execute(
        """
        CREATE TRIGGER hang BEFORE INSERT ON router WHEN NEW.name = 'hang'
        BEGIN SELECT c FROM forever; END
        """)
    }
    database.close()
    let network = try ThreadNetwork("home").hex()
    let publisher = try await TestPublisher.start(broker, user: "border-router")
    let mallory = try await TestPublisher.start(broker, user: "mallory")
    _ = try await publisher.publish((1...25).map { BorderRouter(number: $0).announces(network) })
    _ = try await mallory.publish([
      BorderRouter(number: 99, user: "mallory")
        .says("announce", ("dataset", "\"\(network)\""), ("name", #""hang""#))
    ])
    _ = try await publisher.publish((26...49).map { BorderRouter(number: $0).announces(network) })
    let audience = try await Audience.start(broker, user: "monitor", "threadkeeper/#")
    var kills = 0
    while !isRejected(audience), kills < 12 {
      let daemon = try installation.launch()
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

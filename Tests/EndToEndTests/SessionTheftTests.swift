// SPDX-License-Identifier: Apache-2.0

import Broker
import Foundation
import TestKit
import Testing

@Suite("Sessions at the broker", .inTurns, .timeLimit(.minutes(30)))
struct SessionTheftTests {
  private func installation(_ broker: TestBroker) throws -> Installation {
    let password = try #require(broker.broker.password(of: "threadkeeper"))
    return try Installation(broker, mqtt: ["username: threadkeeper", "password: '\(password)'"])
  }

  @Test("A read-only login that connects with client ids made of what is published gets no session")
  func theft() async throws {
    let broker = try TestBroker(logins: EmbeddedBrokerConfiguration.Login.home, persistence: true)
    let installation = try installation(broker)
    let daemon = try await installation.start()
    let audience = try await Audience.start(broker, user: "monitor", "threadkeeper/#")
    try await audience.until("the id of the store") {
      $0.state("threadkeeper/bridge/info")?["instance_id"]?.text != nil
    }
    let published = try #require(
      audience.state("threadkeeper/bridge/info")?["instance_id"]?.text)
    try await daemon.kill9()

    let router = BorderRouter(number: 1)
    let publisher = try await TestPublisher.start(broker, user: "border-router")
    let outcomes = try await publisher.publish([
      router.announces(try ThreadNetwork("home").hex())
    ])
    #expect(outcomes == [.delivered])
    for end in ["intake", "status"] {
      var stolen = broker.configuration(
        clientID: "threadkeeper-\(published)-\(end)", user: "monitor")
      stolen.cleanStart = true
      let thief = TestClient(stolen)
      try await thief.ready()
      #expect(thief.handler.record.sessions.first?.sessionPresent == false)
      try await thief.stop()
    }

    let second = try await installation.start()
    try await audience.until("the router that announced itself meanwhile") {
      $0.state(router.topic)?["credentials"] == "stored"
    }
    #expect(audience.look { $0.alerts("alert_raised", "SessionLost").isEmpty })
    #expect(try await second.stop() == .exit(0))
  }

  @Test(
    "A copy of the store in another directory runs beside the first, each with its own sessions")
  func copied() async throws {
    let broker = try TestBroker(logins: EmbeddedBrokerConfiguration.Login.home, persistence: true)
    let one = try installation(broker)
    let other = try installation(broker)
    let made = try await one.start()
    #expect(try await made.stop() == .exit(0))
    for name in ["store", "store.key", "store.anchor"] {
      try FileManager.default.copyItem(
        atPath: one.directory.file(name), toPath: other.directory.file(name))
    }
    let (first, second) = (try await one.start(), try await other.start())
    let router = BorderRouter(number: 1)
    let publisher = try await TestPublisher.start(broker, user: "border-router")
    _ = try await publisher.publish([router.announces(try ThreadNetwork("home").hex())])
    for installation in [one, other] {
      try await eventually("the router in both stores") {
        try await installation.command("credentials", "get", router.agent).status == 0
      }
    }
    #expect(!(first.log + second.log).contains("disconnected"))
    #expect(try await first.stop() == .exit(0))
    #expect(try await second.stop() == .exit(0))
  }
}

import Broker
import TestKit
import Testing

/// The short forms are in `BrokerTests`.
@Suite("A broker that comes and goes for minutes", .serialized) struct BrokerSoakTests {
  /// Each begins with a new daemon: one whose connections end again and again waits for up to a minute.
  private static let scenes = 3
  private static let rounds = 5

  @Test(
    "A broker that is stopped and killed under load, and forgets, gets its state back",
    .enabled(if: Soak.broker.isWanted, "`make soak` runs it")) func soakBroker() async throws
  {
    try await Soak.broker.measure { ledger in
      for _ in 1...Self.scenes {
        try await stops(ledger)
        ledger.name(try await kills(ledger))
      }
    }
  }

  /// Stopped as systemd does: it saves what waits in it, so nothing may be lost at all.
  private func stops(_ ledger: Soak.Ledger) async throws {
    let broker = try TestBroker(persistence: true)
    let installation = try Installation(port: broker.port, hold: 60, logLevel: "info")
    let daemon = try await installation.start()
    let publisher = LoadPublisher(try HomeLoad(), rate: 300, to: broker)
    for _ in 1...Self.rounds {
      let acknowledged = publisher.load.acknowledged + .random(in: 1...300)
      try await eventually("the load to go on") { publisher.load.acknowledged >= acknowledged }
      broker.stop()
      try broker.start()
      ledger.round()
    }
    try await publisher.finish()
    try await eventually(within: .seconds(120), "all messages") {
      try await installation.status()["routers"]?.number == Int64(publisher.load.routers)
    }
    ledger.lose(try await publisher.load.lost(in: installation))
    try await installation.checkStop(daemon)
  }

  /// Killed, without persistence: what the daemon had taken stays, and the broker gets all of it again.
  private func kills(_ ledger: Soak.Ledger) async throws -> String {
    let broker = try TestBroker()
    let installation = try Installation(port: broker.port, hold: 0, logLevel: "info")
    let daemon = try await installation.start()
    let home = try ReportingHome(50)
    for version in 1...Self.rounds {
      let publisher = try await TestPublisher.start(broker)
      try await publisher.publish(try home.reports(version))
      try await home.stored(version, in: installation)
      broker.kill()
      try broker.start()
      let audience = try await Audience.start(broker, "threadkeeper/#")
      try await audience.until("all that was retained, and the alert", within: .seconds(120)) { heard in
        home.routers.allSatisfy { heard.state($0.topic)?["credentials"] == "stored" }
          && heard.state("threadkeeper/bridge/state") == ["state": "online"]
          && heard.latest.values.contains { JSON($0)?["alertname"] == "SessionLost" }
      }
      try await eventually("the intake") { try await installation.status()["intake"]?["state"] == "running" }
      ledger.lose(try await home.missing(version, in: installation))
      ledger.round()
    }
    try await installation.checkStop(daemon)
    return "alert `SessionLost`"
  }

  @Test(
    "Another client takes the session of the intake over, again and again, and goes",
    .enabled(if: Soak.takeover.isWanted, "`make soak` runs it")) func soakTakeover() async throws
  {
    try await Soak.takeover.measure { ledger in
      let broker = try TestBroker()
      let installation = try Installation(broker, mqtt: ["client_id: contested"])
      let audience = try await Audience.start(broker, "threadkeeper/bridge/#")
      let daemon = try await installation.start()
      let home = try ReportingHome()
      let publisher = try await TestPublisher.start(broker)
      try await publisher.publish(try home.reports(1))
      try await home.stored(1, in: installation)
      var other = broker.configuration(clientID: "contested-intake")
      func connections() -> Int { daemon.log.components(separatedBy: "intake connected").count }
      for _ in 1...40 where !daemon.log.contains("another client uses the same client id") {
        let before = connections()
        other.cleanStart = false
        _ = await MosquittoClient.attempt(other, within: .seconds(10))
        try await eventually("the daemon to be let in again") {
          connections() > before || daemon.log.contains("another client uses the same client id")
        }
        ledger.round()
      }
      try await audience.until("the alert", within: .seconds(60)) {
        !$0.alerts("alert_raised", "SessionTakenOver").isEmpty
      }
      // The other client is gone.
      try await audience.until("the end of the alert", within: .seconds(240)) {
        !$0.alerts("alert_resolved", "SessionTakenOver").isEmpty
      }
      try await publisher.publish(try home.reports(2))
      try await home.stored(2, in: installation, within: .seconds(120))
      ledger.lose(try await home.missing(2, in: installation))
      ledger.name("alert `SessionTakenOver`")
      try await installation.checkStop(daemon)
    }
  }
}

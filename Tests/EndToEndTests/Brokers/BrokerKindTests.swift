import Foundation
import TestKit
import Testing

/// A broker as a house may have it.
enum BrokerKind: String, CaseIterable, CustomTestStringConvertible {
  case mosquitto = "Mosquitto, MQTT 5"
  case mosquitto311 = "Mosquitto, MQTT 3.1.1"
  case tls = "Mosquitto with TLS"
  case clientCertificate = "Mosquitto with a certificate for each client"
  case accessList = "Mosquitto with logins and an access list"
  case ejabberd = "ejabberd"

  /// Those that this machine has.
  static let present = allCases.filter { $0 != .ejabberd || DebianTool.ejabberd != nil }

  var testDescription: String { rawValue }

  func start() throws -> any HouseBroker {
    switch self {
    case .mosquitto: try HouseMosquitto()
    case .mosquitto311: try HouseMosquitto(settings: ["protocol: 3.1.1"])
    case .tls: try HouseMosquitto(secured: .password)
    case .clientCertificate: try HouseMosquitto(secured: .certificate)
    case .accessList: try HouseMosquitto(hasLogins: true)
    case .ejabberd: try HouseEjabberd()
    }
  }
}

@Suite("The same with every broker", .inTurns, .timeLimit(.minutes(30))) struct BrokerKindTests {
  @Test("Alerts, requests, what is sent meanwhile, the last will and a restart", arguments: BrokerKind.present)
  func day(_ kind: BrokerKind) async throws {
    let broker = try kind.start()
    let installation = try Installation(port: broker.port, mqtt: broker.settings, hold: 0)
    let audience = Audience(broker.client("monitor", "threadkeeper/#"))
    try await audience.ready(connection: 1)
    let asker = Audience(broker.client("border-router", "threadkeeper/out/border-router/#"))
    try await asker.ready(connection: 1)
    let publisher = TestPublisher(broker.client("border-router"))
    let home = try ThreadNetwork("home")
    let hub = BorderRouter(number: 1)
    let attic = BorderRouter(number: 2)
    let late = BorderRouter(number: 3)

    // What is wrong is published, and retained.
    var daemon = try await installation.start()
    try await publisher.publish([
      hub.announces(try home.hex()), attic.announces(try ThreadNetwork("guest-thread").hex()),
    ])
    try await audience.until("the alert") {
      !$0.alerts("alert_raised", "PreferredNetworkMismatch").isEmpty && $0.state(attic.topic) != nil
    }

    // A question is answered to who asked.
    try await publisher.publish("threadkeeper/in/border-router/request/routers/list", #"{"transaction":"t-1"}"#)
    let answer = "threadkeeper/out/border-router/response/routers/list"
    try await asker.until("the answer") { $0.state(answer)?["transaction"] == "t-1" }
    #expect(asker.state(answer)?["data"]?["routers"]?.list.count == 2)

    // Killed, it is offline by its last will; what is sent meanwhile waits for it.
    try await daemon.kill9()
    try await audience.until("the last will") { $0.state("threadkeeper/bridge/state") == ["state": "offline"] }
    try await publisher.publish([late.announces(try home.hex())])
    daemon = try await installation.start()
    try await audience.until("what was sent meanwhile") {
      $0.state(late.topic) != nil && $0.state("threadkeeper/bridge/state") == ["state": "online"]
    }

    // After a restart all is there, and a session that was lost is an alert.
    Recorder.current?.brokersMayForget()
    try broker.restart()
    try await audience.ready(connection: 2)
    try await eventually("the connection") { try await installation.status()["broker"]?["state"] == "connected" }
    let after = Audience(broker.client("monitor", "threadkeeper/#"))
    try await after.until("what is retained") {
      $0.state(hub.topic) != nil && $0.state(attic.topic) != nil && $0.state(late.topic) != nil
        && $0.state("threadkeeper/bridge/state") == ["state": "online"]
    }
    try await eventually("the alert about the session, where it is lost") {
      try await installation.json("alerts").list.contains { $0["alertname"] == "SessionLost" } != broker.keepsSessions
    }

    // What leaves, leaves nothing.
    try await publisher.publish([attic.leaves])
    try await audience.until("the end of the alert and of the topic") {
      !$0.alerts("alert_resolved", "PreferredNetworkMismatch").isEmpty && $0.latest[attic.topic] == ""
    }
    #expect(try await daemon.stop() == .exit(0))
    try await audience.until("the end") {
      $0.state("threadkeeper/bridge/state") == ["state": "offline", "reason": "stopped"]
    }
    #expect(try installation.verify().matchesManifest)
  }
}

// SPDX-License-Identifier: Apache-2.0

import Broker
import Foundation
import TestKit
import Testing

@Suite("What a broker asks of its clients", .inTurns, .timeLimit(.minutes(30)))
struct BrokerAccessTests {
  @Test("With logins and the access list that `acl` prints, a router speaks only for itself")
  func accessList() async throws {
    let broker = try TestBroker(logins: EmbeddedBrokerConfiguration.Login.home)
    let password = try #require(broker.broker.password(of: "threadkeeper"))
    let installation = try Installation(
      broker, mqtt: ["username: threadkeeper", "password: '\(password)'"])
    let daemon = try await installation.start()
    let audience = try await Audience.start(broker, user: "monitor", "threadkeeper/#")
    let publisher = try await TestPublisher.start(broker, user: "border-router")
    let home = try ThreadNetwork("home")
    let own = BorderRouter(number: 1)
    let others = BorderRouter(number: 2, user: "somebody-else")
    let outcomes = try await publisher.publish([
      others.announces(try home.hex()), own.announces(try home.hex()),
    ])
    #expect(outcomes[0] != .delivered)
    #expect(outcomes[1] == .delivered)
    try await audience.until("the router") { $0.state(own.topic)?["credentials"] == "stored" }
    #expect(audience.look { $0.latest[others.topic] == nil })
    #expect(audience.look { $0.messages.allSatisfy { !$0.topic.contains("/in/") } })
    #expect(!daemon.log.contains("refuses publications"))
    #expect(try await daemon.stop() == .exit(0))
  }

  @Test("A wrong access list stands in `status`, until it is the one that `acl` prints")
  func wrongAccessList() async throws {
    let password = "sesame-of-anna"
    let broker = try TestBroker(
      logins: [
        .init("anna", role: .client, password: password), .init("monitor", role: .monitor),
        .init("border-router", role: .client),
      ], baseTopics: ["threadkeeper"])
    let installation = try Installation(broker, mqtt: ["username: anna", "password: \(password)"])
    let daemon = try await installation.start()
    let audience = try await Audience.start(broker, user: "monitor", "threadkeeper/#")
    try await eventually("the refusals") {
      let refused = try await installation.json("status")["refused"]
      return refused?["topics"]?.number ?? 0 >= 4
        && refused?["last_topic"]?.text?.hasPrefix("threadkeeper/bridge/") == true
        && refused?["problem"]?.text?.contains("access list") == true
        && refused?["remedy"]?.text?.contains("threadkeeper acl") == true
    }
    let words = try await installation.command("status").output
    #expect(words.contains("\nrefused ") && words.contains("`anna`"), "\(words)")

    let list = try await installation.command("acl", "--monitor", "monitor")
    let observer = broker.observerLogin.map { "user \($0)\ntopic readwrite #\n" } ?? ""
    try Data((list.output + observer).utf8)
      .write(to: URL(fileURLWithPath: "\(broker.directory)/acl"))
    let file = "\(broker.directory)/mosquitto.pid"
    let process = Int32(try String(contentsOfFile: file, encoding: .utf8).filter(\.isNumber))
    #expect(kill(try #require(process), SIGHUP) == 0)
    // A new router changes what the daemon says of itself: that does not wait for its minute.
    let publisher = try await TestPublisher.start(broker, user: "border-router")
    let router = BorderRouter(number: 1)
    try await eventually("the daemon's word") {
      try await publisher.publish([router.announces(try ThreadNetwork("home").hex())])
      return audience.look { $0.state("threadkeeper/bridge/state") == ["state": "online"] }
    }
    try await eventually("nothing in `status`") {
      try await installation.json("status")["refused"] == nil
    }
    #expect(!(try await installation.command("status").output.contains("refused")))
    // Also what changes once in weeks.
    try await eventually("the overviews") {
      audience.look {
        $0.state("threadkeeper/bridge/alerts") != nil
          && $0.state("threadkeeper/bridge/consent") != nil
      }
    }
    #expect(try await daemon.stop() == .exit(0))
  }

  @Test("MQTT 3.1.1 works: state, sessions and stops")
  func oldProtocol() async throws {
    let broker = try TestBroker()
    let installation = try Installation(broker, mqtt: ["protocol: 3.1.1"], hold: 0)
    let audience = try await Audience.start(broker)
    var daemon = try await installation.start()
    let publisher = try await TestPublisher.start(broker)
    let home = try ThreadNetwork("home")
    let router = BorderRouter(number: 1)
    try await publisher.publish([router.announces(try home.hex())])
    try await audience.until("the router") { $0.state(router.topic)?["preferred"] == "match" }
    try await daemon.kill9()
    try await audience.until("the last will") {
      $0.state("threadkeeper/bridge/state") == ["state": "offline"]
    }
    // The session is kept: this one waits for the next start.
    let second = BorderRouter(number: 2)
    try await publisher.publish([second.announces(try home.hex())])
    daemon = try await installation.start()
    try await audience.until("the second router") { $0.state(second.topic) != nil }
    #expect(audience.look { $0.alerts("alert_raised", "SessionLost").isEmpty })
    #expect(try await daemon.stop() == .exit(0))
    try await audience.until("the clean stop") {
      $0.state("threadkeeper/bridge/state") == ["state": "offline", "reason": "stopped"]
    }
  }

  @Test("TLS with a client certificate works, and a strange authority is refused in words")
  func tls() async throws {
    let certificates = try TestCertificates()
    let port = try UnusedPort.next()
    let broker = try TestBroker(extraConfiguration: [
      "listener \(port) 127.0.0.1", "cafile \(certificates.authority)",
      "certfile \(certificates.server)", "keyfile \(certificates.serverKey)",
      "require_certificate true",
    ])
    let installation = try Installation(
      port: port,
      mqtt: [
        "tls:", "  ca_file: \(certificates.authority)", "  cert_file: \(certificates.client)",
        "  key_file: \(certificates.clientKey)",
      ])
    let daemon = try await installation.start()
    let audience = try await Audience.start(broker)
    let publisher = try await TestPublisher.start(broker)
    let router = BorderRouter(number: 1)
    try await publisher.publish([router.announces(try ThreadNetwork("home").hex())])
    try await audience.until("the router") { $0.state(router.topic) != nil }
    #expect(try await daemon.stop() == .exit(0))

    let strange = try Installation(
      port: port, mqtt: ["tls:", "  ca_file: \(certificates.strangeAuthority)"])
    let refused = try strange.launch()
    try await eventually("words about the certificate") {
      refused.log.contains("`mqtt.tls.ca_file`")
    }
    #expect(refused.isRunning)
    #expect(try await refused.stop() == .exit(0))
  }
}

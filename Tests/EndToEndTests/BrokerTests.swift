// SPDX-License-Identifier: Apache-2.0

import Broker
import Foundation
import TestKit
import Testing

@Suite("The broker comes and goes", .inTurns, .timeLimit(.minutes(30)))
struct BrokerTests {
  @Test(
    "A broker that kept its state finds the bridge back, with everything that was sent meanwhile")
  func restartWithPersistence() async throws {
    let broker = try TestBroker(persistence: true, savesAtOnce: true)
    let installation = try Installation(broker)
    let daemon = try await installation.start()
    let publisher = try await TestPublisher.start(broker)
    let home = try ThreadNetwork("home")
    let first = BorderRouter(number: 1)
    let second = BorderRouter(number: 2)
    try await publisher.publish([first.announces(try home.hex())])
    var audience = try await Audience.start(broker)
    try await audience.until("the first router") { $0.state(first.topic) != nil }

    // Stopped, not killed: everything is in its file.
    broker.stop()
    try broker.start()
    audience = try await Audience.start(broker)
    let later = try await TestPublisher.start(broker)
    try await later.publish([second.announces(try home.hex())])
    try await audience.until("the second router, and the first one's retained state") {
      $0.state(second.topic) != nil && $0.state(first.topic) != nil
        && $0.state("threadkeeper/bridge/state") == ["state": "online"]
    }
    #expect(daemon.isRunning)
    #expect(audience.look { $0.alerts("alert_raised", "SessionLost").isEmpty })
    #expect(
      try await installation.json("alerts").list.allSatisfy { $0["alertname"] != "SessionLost" })
    #expect(try await daemon.stop() == .exit(0))
  }

  @Test("What is sent while the daemon is down is waiting when it comes back")
  func downtime() async throws {
    let broker = try TestBroker()
    let installation = try Installation(broker)
    let daemon = try await installation.start()
    #expect(try await daemon.stop() == .exit(0))
    let publisher = try await TestPublisher.start(broker)
    let home = try ThreadNetwork("home")
    let routers = (1...1200).map { BorderRouter(number: $0) }
    try await publisher.publish(try routers.map { $0.announces(try home.hex()) })
    let again = try await installation.start()
    try await eventually(within: .seconds(60), "all 1200 routers") {
      try await installation.json("status")["routers"] == 1200
    }
    #expect(try await again.stop() == .exit(0))
  }

  @Test("A broker that forgot everything is told everything, and a lost session is an alert")
  func restartWithoutPersistence() async throws {
    let broker = try TestBroker()
    let installation = try Installation(broker, hold: 0)
    let daemon = try await installation.start()
    let publisher = try await TestPublisher.start(broker)
    let home = try ThreadNetwork("home")
    let guests = try ThreadNetwork("guest-thread")
    let hub = BorderRouter(number: 1)
    let stray = BorderRouter(number: 2)
    var audience = try await Audience.start(broker)
    try await publisher.publish([
      hub.announces(try home.hex()), stray.announces(try guests.hex()),
    ])
    try await audience.until("the alert") {
      !$0.alerts("alert_raised", "PreferredNetworkMismatch").isEmpty
    }
    let retained = audience.look { heard in
      heard.latest.keys.filter { !$0.contains("event") && heard.latest[$0] != "" }
    }
    #expect(retained.count >= 11)

    Recorder.current?.brokersMayForget()
    broker.kill()
    try broker.start()
    audience = try await Audience.start(broker)
    func sessionLost(_ heard: Audience.Heard) -> JSON? {
      heard.latest.filter { $0.key.hasPrefix("threadkeeper/alert/") }
        .compactMap { JSON($0.value) }.first { $0["alertname"] == "SessionLost" }
    }
    try await audience.until("the alert about the session") { sessionLost($0) != nil }
    for topic in retained {
      try await audience.until("\(topic), which was retained") { $0.latest[topic] != nil }
    }
    try await audience.until("the intake's health") {
      $0.state("threadkeeper/bridge/health")?["intake"] == "running"
    }
    let lost = try #require(audience.look(sessionLost))
    #expect(lost["status"] == "firing")
    #expect(lost["severity"] == "warning")
    #expect(lost["remedy"]?.text?.contains("persistence true") == true)
    // Events of the past are not told again.
    #expect(audience.look { $0.events("router_announced").isEmpty })

    // The way in is open again.
    let later = try await TestPublisher.start(broker)
    let third = BorderRouter(number: 3)
    try await later.publish([third.announces(try home.hex())])
    try await audience.until("a new router") { $0.state(third.topic) != nil }

    // The next connection that finds its session ends the alert.
    #expect(try await daemon.stop() == .exit(0))
    let again = try await installation.start()
    try await audience.until("the alert's end") {
      !$0.alerts("alert_resolved", "SessionLost").isEmpty
    }
    #expect(try await again.stop() == .exit(0))
  }

  @Test("A daemon that starts before its broker waits for it, in words")
  func brokerMissing() async throws {
    let broker = try TestBroker(persistence: true)
    let installation = try Installation(broker)
    broker.stop()
    let daemon = try installation.launch()
    try await eventually("words about the missing broker") {
      daemon.log.contains("nothing listens on 127.0.0.1:\(broker.port)")
    }
    try await eventually("status with the reason") {
      let status = try await installation.command("status", "--json")
      return JSON(status.output)?["broker"]?["problem"]?.text?.contains("nothing listens") == true
    }
    try broker.start()
    try await installation.ready(daemon)
    #expect(try await daemon.stop() == .exit(0))
  }

  @Test("A stop while nobody answers is a clean one")
  func stopWithoutAnswer() async throws {
    let hole = try BlackHole()
    let installation = try Installation(port: hole.port)
    let daemon = try installation.launch()
    try await eventually("an attempt to connect") { hole.isBeingCalled }
    #expect(try await daemon.stop() == .exit(0))
  }

  @Test("kill -9 leaves the last will, a clean stop its reason", arguments: [SIGTERM, SIGINT])
  func lastWill(signal: Int32) async throws {
    let broker = try TestBroker()
    let installation = try Installation(broker)
    let audience = try await Audience.start(broker)
    let topic = "threadkeeper/bridge/state"
    let daemon = try await installation.start()
    try await audience.until("online") { $0.state(topic) == ["state": "online"] }
    try await daemon.kill9()
    try await audience.until("the last will") { $0.state(topic) == ["state": "offline"] }
    #expect(try await installation.command("status").status == 69)

    let again = try await installation.start()
    try await audience.until("online again") { $0.state(topic) == ["state": "online"] }
    #expect(try await again.stop(signal) == .exit(0))
    try await audience.until("the clean stop") {
      $0.state(topic) == ["state": "offline", "reason": "stopped"]
    }
    // Retained, and the last word: no will follows a clean stop.
    let late = try await Audience.start(broker, topic)
    try await late.until("what is retained") { $0.state(topic) != nil }
    #expect(late.state(topic) == ["state": "offline", "reason": "stopped"])
    #expect(
      audience.look { heard in
        heard.messages.filter { $0.topic == topic }.map {
          String(decoding: $0.payload, as: UTF8.self)
        }
      }.count == 4)
  }

  @Test(
    "A client that takes a session over again and again: the daemon stays, and says so everywhere",
    .beginsFirst, arguments: ["intake", "status"])
  func takeover(connection: String) async throws {
    let broker = try TestBroker()
    let installation = try Installation(broker, mqtt: ["client_id: contested"])
    let audience = try await Audience.start(broker)
    let daemon = try await installation.start()
    let other = broker.configuration(clientID: "contested-\(connection)")
    func connections() -> Int {
      daemon.log.components(separatedBy: "\(connection) connected").count - 1
    }
    for _ in 1...40 where !daemon.log.contains("another client uses the same client id") {
      let before = connections()
      // What is published just before could be why a broker closes a connection.
      try await Task.sleep(for: .milliseconds(300))
      #expect(await MosquittoClient.attempt(other, within: .seconds(10)) == nil)
      try await eventually("the daemon to be let in again") {
        connections() > before || daemon.log.contains("another client uses the same client id")
      }
    }
    try await audience.until("the alert", within: .seconds(60)) {
      !$0.alerts("alert_raised", "SessionTakenOver").isEmpty
    }
    try await audience.until("health with the reason", within: .seconds(90)) {
      $0.state("threadkeeper/bridge/health")?["reason"]?.text?.contains("same client id") == true
    }
    let alert = try #require(audience.look { $0.alerts("alert_raised", "SessionTakenOver") }.first)
    #expect(alert["severity"] == "critical")
    #expect(alert["remedy"]?.text?.contains("clientid_prefixes") == true)
    #expect(audience.look { $0.messages.allSatisfy { !$0.payload.text.contains("contested-") } })
    try await eventually("status with the reason") {
      try await installation.json("status")["intake"]?["reason"]?.text?.contains("same client id")
        == true
    }
    #expect(try await installation.command("status").output.contains("same client id"))
    #expect(try await installation.json("alerts").list.first?["alertname"] == "SessionTakenOver")

    // Nothing is in its way any more: it comes back by itself, with a new session, as the other client has
    // ended the previous one.
    try await audience.until("the end of the alert", within: .seconds(180)) {
      !$0.alerts("alert_resolved", "SessionTakenOver").isEmpty
    }
    let publisher = try await TestPublisher.start(broker)
    let router = BorderRouter(number: 1)
    try await publisher.publish([router.announces(try ThreadNetwork("home").hex())])
    try await audience.until("the router", within: .seconds(120)) {
      $0.state(router.topic) != nil
    }
    #expect(daemon.isRunning)
    #expect(try await daemon.stop() == .exit(0))
  }
}

extension [UInt8] {
  fileprivate var text: String { String(decoding: self, as: UTF8.self) }
}

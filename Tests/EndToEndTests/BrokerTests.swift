// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestKit
import Testing

@Suite("The broker comes and goes", .inTurns, .timeLimit(.minutes(30)))
struct BrokerTests {
  @Test(
    "A broker that kept its state finds the bridge back, with everything that was sent meanwhile")
  func restartWithPersistence() async throws {
    let broker = try TestBroker(persistence: true, savesAtOnce: true)
    let keeper = try Installation(broker)
    let daemon = try await keeper.start()
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
    #expect(try await keeper.json("alerts").list.allSatisfy { $0["alertname"] != "SessionLost" })
    #expect(try await daemon.stop() == .exit(0))
  }

  @Test("What is sent while the keeper is down is waiting when it comes back")
  func downtime() async throws {
    let broker = try TestBroker()
    let keeper = try Installation(broker)
    let daemon = try await keeper.start()
    #expect(try await daemon.stop() == .exit(0))
    let publisher = try await TestPublisher.start(broker)
    let home = try ThreadNetwork("home")
    let routers = (1...1200).map { BorderRouter(number: $0) }
    try await publisher.publish(try routers.map { $0.announces(try home.hex()) })
    let again = try await keeper.start()
    try await eventually(within: .seconds(60), "all 1200 routers") {
      try await keeper.json("status")["routers"] == 1200
    }
    #expect(try await again.stop() == .exit(0))
  }

  @Test("A broker that forgot everything is told everything, and a lost session is an alert")
  func restartWithoutPersistence() async throws {
    let broker = try TestBroker()
    let keeper = try Installation(broker, hold: 0)
    let daemon = try await keeper.start()
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
    try await audience.until("everything that was retained, and the alert about the session") {
      heard in
      retained.allSatisfy { heard.latest[$0] != nil } && sessionLost(heard) != nil
        && heard.state("threadkeeper/bridge/health")?["intake"] == "running"
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
    let again = try await keeper.start()
    try await audience.until("the alert's end") {
      !$0.alerts("alert_resolved", "SessionLost").isEmpty
    }
    #expect(try await again.stop() == .exit(0))
  }

  @Test("Home Assistant's birth is answered with everything that is retained")
  func birth() async throws {
    let broker = try TestBroker()
    let keeper = try Installation(broker)
    let publisher = try await TestPublisher.start(broker)
    let router = BorderRouter(number: 1)
    var daemon = try await keeper.start()
    try await publisher.publish([router.announces(try ThreadNetwork("home").hex())])
    try await eventually("the router") { try await keeper.json("status")["routers"] == 1 }
    #expect(try await daemon.stop() == .exit(0))
    daemon = try await keeper.start()
    let audience = try await Audience.start(broker)
    try await audience.until("the retained router") { $0.state(router.topic) != nil }
    func times(_ heard: Audience.Heard) -> Int {
      heard.messages.count { $0.topic == router.topic }
    }
    let before = audience.look(times)
    try await publisher.publish("homeassistant/status", "online")
    try await audience.until("it to be told again") { times($0) > before }
    #expect(try await daemon.stop() == .exit(0))
  }

  @Test("A keeper that starts before its broker waits for it, in words")
  func brokerMissing() async throws {
    let broker = try TestBroker(persistence: true)
    let keeper = try Installation(broker)
    broker.stop()
    let daemon = try keeper.launch()
    try await eventually("words about the missing broker") {
      daemon.log.contains("nothing listens on 127.0.0.1:\(broker.port)")
    }
    try await eventually("status with the reason") {
      let status = try await keeper.command("status", "--json")
      return JSON(status.output)?["broker"]?["problem"]?.text?.contains("nothing listens") == true
    }
    try broker.start()
    try await keeper.ready(daemon)
    #expect(try await daemon.stop() == .exit(0))
  }

  @Test("A stop while nobody answers is a clean one")
  func stopWithoutAnswer() async throws {
    let hole = try BlackHole()
    let keeper = try Installation(port: hole.port)
    let daemon = try keeper.launch()
    try await eventually("an attempt to connect") { hole.isBeingCalled }
    #expect(try await daemon.stop() == .exit(0))
  }

  @Test("kill -9 leaves the last will, a clean stop its reason", arguments: [SIGTERM, SIGINT])
  func lastWill(signal: Int32) async throws {
    let broker = try TestBroker()
    let keeper = try Installation(broker)
    let audience = try await Audience.start(broker)
    let topic = "threadkeeper/bridge/state"
    let daemon = try await keeper.start()
    try await audience.until("online") { $0.state(topic) == ["state": "online"] }
    try await daemon.kill9()
    try await audience.until("the last will") { $0.state(topic) == ["state": "offline"] }
    #expect(try await keeper.json("status")["running"] == false)

    let again = try await keeper.start()
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

  @Test("A second keeper with the same client id: one of them stops with words, the other works")
  func takeover() async throws {
    let broker = try TestBroker()
    let keepers = try (1...2).map { _ in try Installation(broker, mqtt: ["client_id: twin"]) }
    let first = try await keepers[0].start()
    let second = try keepers[1].launch()
    try await eventually("one of them to end") { !first.isRunning || !second.isRunning }
    for keeper in [first, second] where !keeper.isRunning {
      #expect(try await keeper.end() == .exit(69))
      #expect(keeper.log.contains("another client t"))
      #expect(keeper.log.contains("`mqtt.client_id`"))
      #expect(keeper.log.contains("Stop the other one"))
    }
    // Now and then both give way in the same moment.
    let installation = second.isRunning ? keepers[1] : keepers[0]
    let winner =
      if let alive = [second, first].first(where: \.isRunning) { alive } else {
        try installation.launch()
      }
    try await installation.ready(winner)
    let publisher = try await TestPublisher.start(broker)
    let router = BorderRouter(number: 1)
    try await publisher.publish([router.announces(try ThreadNetwork("home").hex())])
    try await eventually("the router in the other one's store") {
      try await installation.json("status")["routers"] == 1
    }
    // What it said last about itself is true.
    let audience = try await Audience.start(broker)
    try await audience.until("online") {
      $0.state("threadkeeper/bridge/state") == ["state": "online"]
    }
    #expect(try await winner.stop() == .exit(0))
  }
}

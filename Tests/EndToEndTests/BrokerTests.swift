import Broker
import Foundation
import TestKit
import Testing

/// A broker that is restarted and has kept its state: `BrokerKindTests`.
@Suite("The broker comes and goes", .inTurns, .timeLimit(.minutes(30))) struct BrokerTests {
  @Test("What is sent while the daemon is down is waiting when it comes back") func downtime() async throws {
    let running = try await RunningHome()
    try await running.stop()
    let dataset = try ThreadNetwork("home").hex()
    // More than a broker keeps by default.
    let count = 1_010
    try await running.publisher.publish((1...count).map { BorderRouter(number: $0).announces(dataset) })
    try await running.start()
    try await eventually("all routers") { try await running.installation.status()["routers"]?.number == Int64(count) }
    try await running.stop()
  }

  @Test("A broker that forgot everything is told everything, and a lost session is an alert")
  func restartWithoutPersistence() async throws {
    let running = try await RunningHome()
    let (hub, stray) = (BorderRouter(number: 1), BorderRouter(number: 2))
    let home = try ThreadNetwork("home")
    try await running.publish(hub.announces(try home.hex()), stray.announces(try ThreadNetwork("guest-thread").hex()))
    try await running.until("the alert") { !$0.alerts("alert_raised", "PreferredNetworkMismatch").isEmpty }
    let retained = running.audience.look { heard in
      heard.latest.keys.filter { !$0.contains("event") && heard.latest[$0] != "" }
    }
    #expect(retained.count >= 11)

    Recorder.current?.brokersMayForget()
    running.broker.kill()
    try running.broker.start()
    let audience = try await Audience.start(running.broker)
    func sessionLost(_ heard: Audience.Heard) -> JSON? {
      heard.latest.filter { $0.key.hasPrefix("threadkeeper/alert/") }.compactMap { JSON($0.value) }.first {
        $0["alertname"] == "SessionLost"
      }
    }
    try await audience.until("the alert about the session, and all that was retained") { heard in
      sessionLost(heard) != nil && retained.allSatisfy { heard.latest[$0] != nil }
        && heard.state("threadkeeper/bridge/health")?["intake"] == "running"
    }
    let lost = try #require(audience.look(sessionLost))
    #expect(lost["status"] == "firing" && lost["severity"] == "warning")
    #expect(lost["remedy"]?.text?.contains("persistence true") == true)
    // Events of the past are not told again.
    #expect(audience.look { $0.events("router_announced").isEmpty })

    // The way in is open again.
    let later = try await TestPublisher.start(running.broker)
    let third = BorderRouter(number: 3)
    try await later.publish([third.announces(try home.hex())])
    try await audience.until("a new router") { $0.state(third.topic) != nil }

    // The next connection that finds its session ends the alert.
    try await running.restart()
    try await audience.until("the alert's end") { !$0.alerts("alert_resolved", "SessionLost").isEmpty }
    try await running.stop()
  }

  @Test("A daemon that starts before its broker waits for it, in words, as its service manager learns")
  func brokerMissing() async throws {
    let broker = try TestBroker(persistence: true)
    let directory = try TemporaryDirectory()
    let manager = try NoticeReceiver(directory.file("notify"))
    let installation = try Installation(
      broker, variables: ["NOTIFY_SOCKET": manager.address, "WATCHDOG_USEC": "300000"])
    broker.stop()
    let daemon = try installation.launch()
    var lines: [String] = []
    func received(_ line: String, count: Int = 1) async throws {
      try await eventually("a notice \(line), after \(lines)") {
        while let notice = manager.next() { lines += notice }
        return lines.count { $0.hasPrefix(line) } >= count
      }
    }
    let place = "127.0.0.1:\(broker.port)"
    try await received("STATUS=Not connected to \(place): ")
    #expect(lines.first == "READY=1")
    #expect(daemon.log.contains("nothing listens on \(place)"))
    try await eventually("status with the reason") {
      try await installation.status()["broker"]?["problem"]?.text?.contains("nothing listens") == true
    }
    try broker.start()
    try await installation.ready(daemon)
    try await received("STATUS=Connected to \(place)")
    try await received("WATCHDOG=1", count: 3)
    #expect(!lines.contains("STOPPING=1"))
    #expect(try await daemon.stop() == .exit(0))
    try await received("STOPPING=1")
    #expect(lines.last == "STATUS=Stopping")
  }

  @Test("kill -9 leaves the last will, a clean stop its reason") func lastWill() async throws {
    let topic = "threadkeeper/bridge/state"
    let running = try await RunningHome()
    try await running.until("online") { $0.state(topic) == ["state": "online"] }
    try await running.daemon.kill9()
    try await running.until("the last will") { $0.state(topic) == ["state": "offline"] }
    #expect(try await running.installation.command("status").status == 69)

    try await running.start()
    try await running.until("online again") { $0.state(topic) == ["state": "online"] }
    #expect(try await running.daemon.stop(SIGINT) == .exit(0))
    try await running.until("the clean stop") { $0.state(topic) == ["state": "offline", "reason": "stopped"] }
    // Retained, and the last word: no will follows a clean stop.
    let late = try await Audience.start(running.broker, topic)
    try await late.until("what is retained") { $0.state(topic) != nil }
    #expect(late.state(topic) == ["state": "offline", "reason": "stopped"])
    #expect(running.audience.look { heard in heard.messages.count { $0.topic == topic } } == 4)
  }

  /// Its end takes 75 s: `BridgeMonitorTests`, and `make soak`.
  @Test(
    "A client that takes a session over again and again: the daemon stays, and says so everywhere",
    arguments: ["intake", "status"]) func takeover(session: String) async throws
  {
    let running = try await RunningHome(mqtt: ["client_id: contested"])
    let installation = running.installation
    let other = running.broker.configuration(clientID: "contested-\(session)")
    func isNamed() -> Bool { running.daemon.log.contains("another client uses the same client id") }
    func connections() -> Int { running.daemon.log.components(separatedBy: "\(session) connected").count - 1 }
    for _ in 1...40 where !isNamed() {
      let before = connections()
      // Within 250 ms of an acknowledgement, which nobody else sees, a broker may have another reason to close. The
      // intake publishes nothing.
      if session == "status" { try await Task.sleep(for: .milliseconds(300)) }
      #expect(await MosquittoClient.attempt(other, within: .seconds(10)) == nil)
      try await eventually("the daemon to be let in again") { connections() > before || isNamed() }
    }
    try await running.until("the alert, and health with the reason") {
      !$0.alerts("alert_raised", "SessionTakenOver").isEmpty
        && $0.state("threadkeeper/bridge/health")?["reason"]?.text?.contains("same client id") == true
    }
    let alert = try #require(running.audience.look { $0.alerts("alert_raised", "SessionTakenOver") }.first)
    #expect(alert["severity"] == "critical")
    #expect(alert["remedy"]?.text?.contains("clientid_prefixes") == true)
    #expect(
      running.audience.look { heard in
        heard.messages.allSatisfy { !String(decoding: $0.payload, as: UTF8.self).contains("contested-") }
      })
    try await eventually("status with the reason") {
      try await installation.status()["intake"]?["reason"]?.text?.contains("same client id") == true
    }
    #expect(try await installation.run("status").contains("same client id"))
    #expect(try await installation.json("alerts").list.first?["alertname"] == "SessionTakenOver")
    try await running.stop()
  }
}

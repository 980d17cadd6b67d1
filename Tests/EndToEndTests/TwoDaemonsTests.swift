import Foundation
import TestKit
import Testing

@Suite("Two daemons on one base topic", .inTurns, .timeLimit(.minutes(30))) struct TwoDaemonsTests {
  private func kept(_ broker: TestBroker) async throws -> [String: String] {
    let audience = try await Audience.start(broker)
    try await audience.caughtUp()
    let kept = audience.look { $0.latest.filter { !$0.key.hasPrefix("audience/") } }
    try await audience.stop()
    return kept
  }

  private func reason(_ installation: Installation) async throws -> String {
    try await installation.status()["intake"]?["reason"]?.text ?? ""
  }

  @Test("A newcomer with an empty store changes nothing of the first one, both say so, and it may take over")
  func twoDaemons() async throws {
    let running = try await RunningHome()
    let (hub, new) = (BorderRouter(number: 1), BorderRouter(number: 2))
    try await running.publish(hub.announces(try ThreadNetwork("home").hex()))
    try await running.until("the router, and its device") {
      $0.latest[hub.topic] != nil && $0.latest[hub.device] != nil
        && $0.state("threadkeeper/bridge/info")?["routers"]?.number == 1
    }
    try await running.audience.caughtUp()
    let before = try await kept(running.broker)
    let instance = try #require(running.state("threadkeeper/bridge/info")?["instance_id"]?.text)

    let second = try Installation(running.broker, hold: 0)
    var daemon = try await second.start()
    try await running.until("the alert of the first one") {
      $0.alerts("alert_raised", "AnotherDaemon").count == 1
        && $0.state("threadkeeper/bridge/alerts")?["critical"]?.number == 1
    }
    try await eventually("the reason of the newcomer") {
      try await reason(second).contains("belongs to another daemon (\(instance))")
    }
    let alerts = try await second.command("alerts").output
    #expect(alerts.contains("AnotherDaemon") && alerts.contains("mqtt.take_over"), "\(alerts)")
    #expect(daemon.log.contains("AnotherDaemon"), "\(daemon.log)")
    let doctor = try await second.command("doctor").output
    #expect(doctor.contains("belongs to another daemon"), "\(doctor)")
    #expect(try await reason(running.installation).contains("another daemon"))

    // Both receive it; one publishes it.
    try await running.publish(new.announces(try ThreadNetwork("guests").hex()))
    try await running.until("the first one's router") { $0.latest[new.topic] != nil }
    try await eventually("the newcomer's router") { try await second.command("routers").output.contains(new.agent) }
    #expect(try await daemon.stop() == .exit(0))
    try await running.audience.caughtUp()
    let after = try await kept(running.broker)
    for topic in before.keys { #expect(after[topic] != nil, "\(topic)") }
    #expect(after[hub.topic] == before[hub.topic] && after[hub.device] == before[hub.device])
    let presence = "threadkeeper/bridge/state"
    #expect(
      running.audience.look { heard in
        heard.messages.filter { $0.topic == presence }.allSatisfy {
          String(decoding: $0.payload, as: UTF8.self) == #"{"state":"online"}"#
        }
      })
    let alteredBefore = running.audience.look { $0.alerts("alert_raised", "StateAltered") }
    #expect(alteredBefore.isEmpty)

    // The first one is gone for good.
    try await running.stop()
    daemon = try await second.start()
    try await eventually("the reason without the first one") {
      try await reason(second).contains("belongs to another daemon")
    }
    #expect(try await daemon.stop() == .exit(0))
    #expect(try await kept(running.broker)[hub.topic] == before[hub.topic])
    daemon = try await second.start(environment: ["THREADKEEPER_MQTT_TAKE_OVER": instance])
    try await running.until("the newcomer's topics") { heard in
      let info = heard.state("threadkeeper/bridge/info")?["instance_id"]?.text
      return info != nil && info != instance && heard.latest[hub.topic] == "" && heard.latest[new.topic] != ""
        && heard.state(presence)?["state"] == "online"
    }
    #expect(try await reason(second) == "")
    #expect(try await daemon.stop() == .exit(0))

    // And back: the first one holds back now.
    try await running.start()
    try await eventually("the reason of the first one") {
      try await reason(running.installation).contains("belongs to another daemon")
    }
    try await running.stop()
  }

  @Test("A last will of the newcomer is replaced by the one that is there") func lastWill() async throws {
    let running = try await RunningHome()
    let presence = "threadkeeper/bridge/state"
    let second = try Installation(running.broker, hold: 0)
    let daemon = try await second.start()
    try await eventually("the newcomer holds back") { try await reason(second).contains("belongs to another daemon") }
    _ = try await daemon.kill9()
    try await running.until("the will, and the daemon") { heard in
      let states = heard.messages.filter { $0.topic == presence }.map {
        String(decoding: $0.payload, as: UTF8.self).contains("online")
      }
      return states.contains(false) && states.last == true
    }
    try await running.stop()
  }
}

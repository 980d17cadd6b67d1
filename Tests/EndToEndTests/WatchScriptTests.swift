// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestKit
import Testing

/// The example's script beside routers that answer as real ones do.
@Suite("The example follows an OpenThread Border Router", .inTurns, .timeLimit(.minutes(30)))
struct WatchScriptTests {
  private let broker: TestBroker
  private let installation: Installation
  private let home: ThreadNetwork
  private let guest: ThreadNetwork

  init() throws {
    broker = try TestBroker()
    installation = try Installation(broker, hold: 1)
    home = try ThreadNetwork("home")
    guest = try ThreadNetwork("guest")
  }

  private func watch(_ routers: ThreadRouters, _ number: Int = 0) throws -> WatchScript {
    try WatchScript(
      "border-router.sh", ["watch-otbr", "--otbr", routers.url(number), "--name", "Attic"],
      in: installation.directory,
      ["MQTT_USERNAME": "attic", "MQTT_PORT": "\(broker.port)"])
  }

  private func topic(_ agent: String) -> String { "threadkeeper/router/\(agent)" }

  @Test("Where it is, its Thread state and its dataset are published as they change")
  func changes() async throws {
    let audience = try await Audience.start(broker)
    let daemon = try await installation.start()
    let routers = try await ThreadRouters(2)
    let agent = try routers.order(0, "form", home.hex()).agent
    let watch = try watch(routers)
    try await audience.until("the announcement") {
      let state = $0.state(topic(agent))
      return state?["thread_state"] == "leader" && state?["preferred"] == "match"
        && state?["current_ext_pan_id"]?.text == home.extendedPANID && state?["name"] == "Attic"
    }
    // A dataset set while Thread runs: it shows at once, and the router stays where it is.
    try routers.order(0, "set", "mgmt_seconds 600")
    try routers.order(1, "form", home.hex())
    try routers.order(1, "mgmt_set", guest.hex())
    let other = try routers.order(1, "enable").agent
    let second = try self.watch(routers, 1)
    try await audience.until("configured for one network and on another") {
      let state = $0.state(topic(other))
      return state?["ext_pan_id"]?.text == guest.extendedPANID
        && state?["current_ext_pan_id"]?.text == home.extendedPANID
        && state?["preferred"] == "mismatch" && state?["thread_state"] == "router"
    }
    try await audience.until("the alert that says both") {
      $0.alerts("alert_raised", "PreferredNetworkMismatch").contains {
        $0["summary"]?.text
          == "Attic is on home (\(home.extendedPANID)) and configured for guest"
      }
    }
    // It loses its network: the changed dataset is published all the same.
    try routers.order(0, "set", "never_attaches true")
    try routers.order(0, "form", home.hex(at: 2, channel: 20))
    try await audience.until("detached, with the new dataset") {
      let state = $0.state(topic(agent))
      return state?["thread_state"] == "detached" && state?["channel"] == 20
    }
    try await audience.until("the alert about it") {
      $0.alerts("alert_raised", "RouterDetached").contains {
        $0["router"]?.text == agent && $0["summary"]?.text?.contains("detached since 2") == true
      }
    }
    let table = try await installation.command("routers").output
    #expect(table.contains("detached") && table.contains(" on \(home.extendedPANID)"))
    #expect(
      try await installation.command("status").output.contains(
        "1 detached, 1 not on the network that they are configured for"))
    try routers.order(0, "set", "never_attaches false")
    try await audience.until("attached again") {
      $0.state(topic(agent))?["thread_state"] == "leader"
        && $0.alerts("alert_resolved", "RouterDetached").count == 1
    }
    #expect(watch.end() == .exit(143) && second.end() == .exit(143))
    #expect(
      audience.look { $0.events("message_rejected").isEmpty && $0.events("router_left").isEmpty })
    #expect(try await daemon.stop() == .exit(0))
  }

  @Test("Refused, frozen and stopped are three things; none of them is a leave")
  func offline() async throws {
    let audience = try await Audience.start(broker)
    let daemon = try await installation.start()
    let routers = try await ThreadRouters(1)
    let agent = try routers.order(0, "form", home.hex()).agent
    let watch = try watch(routers)
    func until(_ reason: String?) async throws {
      try await audience.until(reason ?? "online") {
        $0.state(topic(agent))?["offline_reason"]?.text == reason
          && $0.state(topic(agent))?["availability"]?.text == (reason == nil ? "online" : "offline")
      }
    }
    try await until(nil)
    for (bad, good, reason) in [
      ("refuse", "listen", "unreachable"), ("freeze", "thaw", "frozen"),
      ("disable", "enable", "stopped"),
    ] {
      try routers.order(0, bad)
      try await until(reason)
      try await audience.until("the alert") {
        $0.alerts("alert_raised", "BorderRouterOffline").last?["reason"]?.text == reason
      }
      try routers.order(0, good)
      try await until(nil)
    }
    #expect(audience.look { $0.events("router_left").isEmpty })
    for word in ["unreachable", "frozen", "stopped", "it is back"] {
      #expect(watch.output.contains(word), "\(watch.output)")
    }
    #expect(watch.end() == .exit(143))
    #expect(try await daemon.stop() == .exit(0))
  }

  @Test("After a factory reset the old id leaves, and the new one is announced")
  func reset() async throws {
    let audience = try await Audience.start(broker)
    let daemon = try await installation.start()
    let routers = try await ThreadRouters(1)
    let old = try routers.order(0, "form", home.hex()).agent
    let watch = try watch(routers)
    try await audience.until("the old one") { $0.state(topic(old)) != nil }
    let new = try routers.order(0, "reset").agent
    #expect(new != old)
    try await audience.until("the leave") { $0.latest[topic(old)] == "" }
    try routers.order(0, "form", home.hex())
    try await audience.until("the new one") {
      $0.state(topic(new))?["thread_state"] == "leader"
    }
    // The other way round: it has a network again before anybody looks.
    let third = try routers.order(0, "reset").agent
    try routers.order(0, "form", home.hex())
    try await audience.until("the third one") {
      $0.latest[topic(new)] == "" && $0.state(topic(third))?["thread_state"] == "leader"
    }
    #expect(
      try await installation.json("routers").list.map { $0["border_agent_id"]?.text } == [third])
    #expect(watch.end() == .exit(143))
    #expect(try await daemon.stop() == .exit(0))
  }

  @Test(
    "An old agent without border agent id, with numbers for states and other spellings, is read too"
  )
  func oldAgent() async throws {
    let audience = try await Audience.start(broker)
    let daemon = try await installation.start()
    let routers = try await ThreadRouters(1)
    try routers.order(0, "set", "mode \"old\"")
    let address = try routers.order(0, "form", home.hex()).address
    let watch = try watch(routers)
    try await audience.until("the router by its extended address") {
      let state = $0.state(topic(address))
      return state?["thread_state"] == "leader" && state?["credentials"] == "stored"
        && state?["current_ext_pan_id"]?.text == home.extendedPANID
    }
    #expect(watch.end() == .exit(143))
    #expect(try await daemon.stop() == .exit(0))
  }

  @Test("A dataset that is rejected is said with its reason; the router is listed without it")
  func rejected() async throws {
    let audience = try await Audience.start(broker)
    let daemon = try await installation.start()
    let routers = try await ThreadRouters(1)
    let agent = try routers.order(
      0, "partial", "000300000c0102123405100102030405060708090a0b0c0d0e0f10"
    ).agent
    let watch = try watch(routers)
    try await audience.until("the router") {
      $0.state(topic(agent))?["thread_state"] == "detached"
        && $0.state(topic(agent))?["credentials"] == "missing"
    }
    #expect(
      watch.output.contains("error: threadkeeper has rejected announce (missing_tlv)"),
      "\(watch.output)")
    #expect(watch.end() == .exit(143))
    #expect(try await daemon.stop() == .exit(0))
  }

  @Test("A dataset that was refused for another reason than itself is published again")
  func refusedForAnotherReason() async throws {
    let audience = try await Audience.start(broker)
    let daemon = try await installation.start()
    let routers = try await ThreadRouters(1)
    let agent = try routers.order(0, "form", home.hex()).agent
    let watch = try watch(routers)
    try await audience.until("the router") { $0.state(topic(agent))?["preferred"] == "match" }
    #expect(try await installation.command("routers", "transfer", agent, "hub").status == 0)
    try routers.order(0, "form", home.hex(at: 2, channel: 20))
    try await eventually("the refusal") {
      watch.output.contains("error: threadkeeper has rejected dataset (")
    }
    #expect(try await installation.command("routers", "transfer", agent, "attic").status == 0)
    try await audience.until("the changed dataset") { $0.state(topic(agent))?["channel"] == 20 }
    #expect(watch.end() == .exit(143))
    #expect(try await daemon.stop() == .exit(0))
  }

  @Test("A router that answers without an address is frozen until it has one")
  func withoutAddress() async throws {
    let audience = try await Audience.start(broker)
    let daemon = try await installation.start()
    let routers = try await ThreadRouters(1)
    let agent = try routers.order(0, "form", home.hex()).agent
    let paths = ["/node", "/node/ba-id", "/node/ext-address"]
    for path in paths { try routers.order(0, "fail", "GET \(path) 500") }
    let watch = try watch(routers)
    try await eventually("the message") { watch.output.contains("is frozen; trying again") }
    for path in paths { try routers.order(0, "fail", "GET \(path) 0") }
    try await audience.until("the router") { $0.state(topic(agent))?["preferred"] == "match" }
    #expect(!watch.output.contains("parameter not set"))
    #expect(watch.end() == .exit(143))
    #expect(try await daemon.stop() == .exit(0))
  }

  @Test("A sealed router is kept alive with sealed and signed messages only")
  func sealed() async throws {
    let audience = try await Audience.start(broker)
    let daemon = try await installation.start()
    let key = installation.directory.file("router.key")
    let made = try await installation.clientKeygen(key)
    #expect(
      try await installation.command("clients", "enroll", "attic", made, "--trust", "signed").status
        == 0)
    Recorder.current?.allPublishersAreEnrolled()
    let routers = try await ThreadRouters(1)
    let agent = try routers.order(0, "form", home.hex()).agent
    let watch = try WatchScript(
      "sealed-router/watch.sh", ["--otbr", routers.url(0), "--name", "Attic \"north\""],
      in: installation.directory,
      [
        "MQTT_USERNAME": "attic", "MQTT_PORT": "\(broker.port)", "CLIENT_KEY": key,
        "DAEMON_LINE": try #require(
          try await installation.json("clients", "fingerprint")["line"]?.text),
      ])
    try await audience.until("the announcement") {
      $0.state(topic(agent))?["thread_state"] == "leader"
        && $0.state(topic(agent))?["name"] == "Attic \"north\""
    }
    try routers.order(0, "form", home.hex(at: 2, channel: 20))
    try await audience.until("the change") { $0.state(topic(agent))?["channel"] == 20 }
    try routers.order(0, "freeze")
    try await audience.until("offline") { $0.state(topic(agent))?["offline_reason"] == "frozen" }
    try routers.order(0, "thaw")
    try await audience.until("a heartbeat") { $0.state(topic(agent))?["availability"] == "online" }
    try routers.order(0, "reset")
    try await audience.until("the leave") { $0.latest[topic(agent)] == "" }
    #expect(watch.end() == .exit(143))
    var needles = Needles()
    needles.add("network key", home.networkKey)
    audience.look { heard in
      #expect(heard.events("message_rejected").isEmpty)
      for message in heard.messages where message.topic.hasPrefix("threadkeeper/in/") {
        #expect(String(decoding: message.payload, as: UTF8.self).hasPrefix(#"{"sealed""#))
        #expect(needles.found(in: Data(message.payload)) == [])
      }
    }
    #expect(try await daemon.stop() == .exit(0))
  }

  @Test("Without the line to seal to, a sealed watcher sends nothing")
  func noLine() async throws {
    let outcome = try await Program.example(
      "sealed-router/watch.sh", [], ["HOME": installation.directory.path, "MQTT_USERNAME": "attic"])
    #expect(outcome.status == 78 && outcome.output.contains("DAEMON_LINE"))
  }
}

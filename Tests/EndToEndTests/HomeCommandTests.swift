// SPDX-License-Identifier: Apache-2.0

import Broker
import Foundation
import TestKit
import Testing

@Suite("Commands on what a daemon has stored", .inTurns, .timeLimit(.minutes(30)))
struct HomeCommandTests {
  @Test("What looks at the store asks the daemon, and says so without one")
  func looking() async throws {
    let broker = try TestBroker()
    let installation = try Installation(broker, hold: 0)
    let none = try await installation.command("status")
    #expect(none.status == 69 && none.error.contains("no daemon runs"), "\(none.error)")
    #expect(none.error.contains("--state-directory"), "\(none.error)")
    let audience = try await Audience.start(broker)
    let daemon = try await installation.start()
    let empty = try await installation.command("routers")
    #expect(
      empty.output.hasPrefix("No border router is listed. Each appears when it announces itself"))
    #expect(try await installation.json("routers") == [])
    let publisher = try await TestPublisher.start(broker)
    let home = try ThreadNetwork("home")
    let guests = try ThreadNetwork("guest-thread")
    let hub = BorderRouter(number: 1)
    let stray = BorderRouter(number: 2)
    try await publisher.publish([
      hub.says("announce", ("name", #""Hub""#), ("dataset", "\"\(try home.hex())\"")),
      stray.says("announce", ("name", #""Stray""#), ("dataset", "\"\(try guests.hex())\"")),
    ])
    try await audience.until("the alert") {
      !$0.alerts("alert_raised", "PreferredNetworkMismatch").isEmpty
    }

    let status = try await installation.json("status")
    #expect(status["pid"]?.number == Int64(daemon.identifier))
    #expect(status["routers"] == 2)
    #expect(status["networks"] == 2)
    #expect(status["credentials"] == 2)
    #expect(status["alerts"] == 2)
    #expect(
      status["alerts_firing"]?.list == [
        ["severity": "warning", "alertname": "PreferredNetworkMismatch", "count": 1],
        ["severity": "info", "alertname": "PlaintextCredentials", "count": 1],
      ])
    #expect(status["broker"]?["state"] == "connected")
    #expect(status["broker"]?["port"]?.number == Int64(broker.port))
    #expect(status["intake"]?["state"] == "running")
    #expect(status["preferred_networks"]?.list.first?["network_name"] == "home")
    let text = try await installation.command("status").output
    #expect(text.contains("\nalerts       1 warning: PreferredNetworkMismatch\n"), "\(text)")
    #expect(text.contains("\n             1 info: PlaintextCredentials\n"), "\(text)")
    #expect(text.contains("running as process \(daemon.identifier)"))
    let lists = [
      (["routers"], "Stray"), (["networks"], guests.extendedPANID),
      (["alerts"], #""Stray" is on "guest-thread", not on"#),
      (["credentials", "list"], hub.agent),
    ]
    for (command, part) in lists {
      let listed = try await installation.command(command)
      #expect(listed.output.contains(part), "\(command): \(listed.output)")
      let rows = JSON(try await installation.command(command + ["--json"]).output)?.list
      #expect(rows?.count == 2, "\(command)")
      // The lists hold what is published, field for field.
      if command == ["routers"] {
        #expect(rows?.first { $0["name"] == "Stray" } == audience.state(stray.topic))
      }
    }
    #expect(try await installation.command("store", "verify").status == 0)
    #expect(try await daemon.stop() == .exit(0))
    for command in lists.map(\.0) + [["status"]] {
      let listed = try await installation.command(command)
      #expect(listed.status == 69 && listed.error.contains("threadkeeper run"), "\(command)")
    }
    #expect(try await installation.dataset(of: hub.agent) == (try home.hex()))
    #expect(try await installation.command("store", "verify").status == 0)
  }

  @Test("What is deleted is published at once, and after a restart too")
  func deleting() async throws {
    let broker = try TestBroker()
    let installation = try Installation(broker, hold: 0)
    let audience = try await Audience.start(broker)
    let daemon = try await installation.start()
    let publisher = try await TestPublisher.start(broker)
    let home = try ThreadNetwork("home")
    let router = BorderRouter(number: 1)
    try await publisher.publish([router.announces(try home.hex())])
    try await audience.until("the router") { $0.state(router.topic) != nil }

    let beside = try await installation.command("credentials", "delete", router.agent)
    #expect(beside.status == 0, "\(beside.error)")
    try await audience.until("the deleted credentials") {
      $0.state(router.topic)?["credentials"] == "missing"
    }
    let none = try await installation.command("credentials", "delete", router.agent)
    #expect(none.status == 66)
    #expect(none.error.contains(router.agent))
    try await publisher.publish([router.announces(try home.hex())])
    try await audience.until("the router again") {
      $0.state(router.topic)?["credentials"] == "stored"
    }
    #expect(try await installation.dataset(of: router.agent) == (try home.hex()))
    // A second daemon is refused, and does the first one no harm.
    let second = try installation.launch()
    #expect(try await second.end() == .exit(75))
    #expect(second.log.contains("process \(daemon.identifier)"))

    let deleted = try await installation.command("credentials", "delete", router.agent, "--json")
    #expect(deleted.status == 0)
    #expect(JSON(deleted.output) == ["deleted": .text(router.agent)])
    #expect(try await installation.command("credentials", "delete", router.agent).status == 66)
    #expect(try await installation.command("credentials", "get", router.agent).status == 66)
    #expect(try await installation.command("credentials", "get", "xyz").status == 64)
    #expect(try await installation.json("routers").list.first?["credentials"] == "missing")
    #expect(try await daemon.stop() == .exit(0))
    let again = try await installation.start()
    try await audience.until("the missing credentials, told") {
      $0.state(router.topic)?["credentials"] == "missing"
        && !$0.alerts("alert_raised", "CredentialsMissing").isEmpty
    }
    #expect(try await again.stop() == .exit(0))
    #expect(try installation.verify().matchesManifest)
  }

  @Test("Two homes, each with its own topics, routers and preferred network")
  func homes() async throws {
    let broker = try TestBroker()
    let installation = try Installation(
      broker, hold: 0,
      more: "homes: {house: {base_topic: tk/house}, cabin: {base_topic: tk/cabin}}")
    let audience = try await Audience.start(broker)
    let daemon = try await installation.start()
    let publisher = try await TestPublisher.start(broker)
    let house = try ThreadNetwork("house-thread")
    let cabin = try ThreadNetwork("cabin-thread")
    let inHouse = BorderRouter("a1b2c3d4e5f60701", base: "tk/house")
    let inCabin = BorderRouter("a1b2c3d4e5f60701", base: "tk/cabin")
    let strayed = BorderRouter("a1b2c3d4e5f60702", base: "tk/cabin")
    try await publisher.publish([
      inHouse.announces(try house.hex()), inCabin.announces(try cabin.hex()),
      strayed.announces(try house.hex()),
    ])
    try await audience.until("the stray one's alert, in its own home") { heard in
      heard.latest.contains {
        $0.key.hasPrefix("tk/cabin/alert/") && JSON($0.value)?["router"]?.text == strayed.agent
      }
    }
    try await audience.until("both homes") { heard in
      heard.state("tk/house/bridge/info")?["routers"] == 1
        && heard.state("tk/cabin/bridge/info")?["routers"] == 2
    }
    #expect(audience.state(inHouse.topic)?["preferred"] == "match")
    #expect(audience.state(inHouse.topic)?["home"] == "house")
    #expect(audience.state(inCabin.topic)?["preferred"] == "match")
    #expect(audience.state(strayed.topic)?["preferred"] == "mismatch")
    for home in ["house", "cabin"] {
      #expect(audience.state("tk/\(home)/bridge/state") == ["state": "online"])
      #expect(audience.state("tk/\(home)/bridge/info")?["home"]?.text == home)
    }
    #expect(
      audience.look { heard in
        !heard.latest.keys.contains {
          $0.hasPrefix("tk/house/alert/") && heard.latest[$0]?.contains("Mismatch") == true
        }
      })
    #expect(audience.look { $0.latest["tk/house/router/\(strayed.agent)"] } == nil)

    // One id, two homes: the command has to know which.
    #expect(try await installation.command("credentials", "get", inHouse.agent).status == 64)
    let shown = try await installation.command(
      "credentials", "get", inHouse.agent, "--home", "cabin", "--show-secrets", "--json")
    #expect(JSON(shown.output)?["dataset"]?.text == (try cabin.hex()))
    #expect(try await installation.json("credentials", "list").list.count == 3)
    #expect(try await installation.json("status")["preferred_networks"]?.list.count == 2)
    let status = try await installation.command("status").output
    #expect(status.contains("house: house-thread ("), "\(status)")
    #expect(status.contains("cabin: cabin-thread ("), "\(status)")

    try await publisher.publish([inCabin.leaves])
    try await audience.until("the leave, in one home only") {
      $0.latest[inCabin.topic] == "" && $0.latest[inHouse.topic] != ""
    }
    #expect(try await daemon.stop() == .exit(0))
    for home in ["house", "cabin"] {
      try await audience.until("the clean stop") {
        $0.state("tk/\(home)/bridge/state") == ["state": "offline", "reason": "stopped"]
      }
    }
  }

  @Test("A home that moves to another base topic leaves nothing behind on the old one")
  func baseTopic() async throws {
    let broker = try TestBroker()
    let installation = try Installation(
      broker, mqtt: ["base_topic: old/place", "client_id: house"], hold: 0)
    let audience = try await Audience.start(broker)
    let daemon = try await installation.start()
    let publisher = try await TestPublisher.start(broker)
    let home = try ThreadNetwork("home")
    let router = BorderRouter("a1b2c3d4e5f60701", base: "old/place")
    try await publisher.publish([router.announces(try home.hex())])
    try await audience.until("the router") { $0.state(router.topic) != nil }
    #expect(try await daemon.stop() == .exit(0))

    let text = try String(contentsOfFile: installation.configuration, encoding: .utf8)
    try Data(text.replacingOccurrences(of: "old/place", with: "new/place").utf8)
      .write(to: URL(fileURLWithPath: installation.configuration))
    let again = try await installation.start()
    let moved = BorderRouter("a1b2c3d4e5f60701", base: "new/place")
    try await audience.until("everything at the new place, and nothing at the old one") { heard in
      heard.state(moved.topic)?["credentials"] == "stored"
        && heard.state("new/place/network/\(home.extendedPANID)") != nil
        && heard.latest.allSatisfy {
          !$0.key.hasPrefix("old/place/") || $0.key.contains("/event") || $0.value == ""
        }
    }
    #expect(try await again.stop() == .exit(0))

    // Nor does the broker's session go on with the old one.
    let last = moved.says("heartbeat")
    try await publisher.publish([router.announces(try home.hex()), last])
    var session = broker.configuration(clientID: "house-intake")
    session.cleanStart = false
    session.sessionExpiry = 3_600
    let client = TestClient(session)
    try await eventually("what waits in the session") {
      client.handler.record.messages.contains { $0.topic == last.topic }
    }
    try await client.stop()
    #expect(client.handler.record.messages.map(\.topic) == [last.topic])
  }
}

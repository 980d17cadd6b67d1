// SPDX-License-Identifier: Apache-2.0

import TestKit
import Testing

@Suite("Networks and routers that change", .inTurns, .timeLimit(.minutes(30)))
struct RouterChangeTests {
  @Test("The preferred network follows a member's newer dataset, and nobody is alarmed")
  func migration() async throws {
    let broker = try TestBroker()
    let installation = try Installation(broker, hold: 60)
    let audience = try await Audience.start(broker)
    let daemon = try await installation.start()
    let publisher = try await TestPublisher.start(broker)
    let home = try ThreadNetwork("home")
    let routers = (1...3).map { BorderRouter(number: $0) }

    for router in routers { try await publisher.publish([router.announces(try home.hex())]) }
    let newer = try home.hex(at: 2, channel: 25)
    try await publisher.publish([routers[0].changes(to: newer)])
    try await audience.until("the others to be behind") {
      $0.state(routers[2].topic)?["preferred"] == "mismatch"
    }
    for router in routers.dropFirst() {
      try await publisher.publish([router.changes(to: newer)])
    }
    try await audience.until("all of them on the new channel") { heard in
      routers.allSatisfy {
        heard.state($0.topic)?["preferred"] == "match" && heard.state($0.topic)?["channel"] == 25
      }
    }
    #expect(audience.look { $0.events("preferred_changed").count } == 2)
    #expect(
      audience.look { $0.alertEvents.filter { $0["router"] != nil }.isEmpty },
      "an alert about a router although all of them followed within the hold")
    #expect(try await daemon.stop() == .exit(0))
  }

  @Test("A router that leaves takes its credentials, topics and alerts along")
  func leaving() async throws {
    let broker = try TestBroker()
    let installation = try Installation(broker, hold: 0)
    let audience = try await Audience.start(broker)
    let daemon = try await installation.start()
    let publisher = try await TestPublisher.start(broker)
    let home = try ThreadNetwork("home")
    let guests = try ThreadNetwork("guest-thread")
    let hub = BorderRouter("a1b2c3d4e5f60701")
    let stray = BorderRouter("a1b2c3d4e5f60702")

    try await publisher.publish([
      hub.announces(try home.hex()), stray.announces(try guests.hex()),
    ])
    try await audience.until("the alert") {
      !$0.alerts("alert_raised", "PreferredNetworkMismatch").isEmpty
    }
    try await publisher.publish([stray.leaves])
    let gone = [
      stray.topic, "\(stray.topic)/availability", "threadkeeper/network/\(guests.extendedPANID)",
    ]
    try await audience.until("the topics to be emptied and the alert resolved") { heard in
      gone.allSatisfy { heard.latest[$0] == "" }
        && !heard.alerts("alert_resolved", "PreferredNetworkMismatch").isEmpty
        && heard.events("router_left").count == 1
    }
    let refused = try await installation.command("credentials", "get", stray.agent)
    #expect(refused.status == 66)
    #expect(try await installation.json("credentials", "list").list.count == 1)
    #expect(
      try await installation.json("routers").list.map { $0["border_agent_id"]?.text } == [hub.agent]
    )

    // On the broker nothing is left of it for those who come later.
    let late = try await Audience.start(broker)
    try await late.until("what is retained") { $0.state(hub.topic) != nil }
    #expect(late.look { heard in gone.allSatisfy { heard.latest[$0] == nil } })

    // The last one of the preferred network leaves it preferred, and that is said.
    try await publisher.publish([hub.leaves])
    try await audience.until("the last one's leave") { $0.events("router_left").count == 2 }
    let last = audience.look { $0.events("router_left") }.last
    #expect(last?["message"]?.text?.contains("stays preferred") == true)
    let status = try await installation.json("status")
    #expect(status["routers"] == 0)
    #expect(status["credentials"] == 0)
    #expect(status["preferred_networks"]?.list.count == 1)
    #expect(try await daemon.stop() == .exit(0))
  }

  @Test("A router that belongs to another team is refused by name, and nothing changes")
  func ownership() async throws {
    let broker = try TestBroker()
    let installation = try Installation(
      broker, more: "teams: {installers: [hub-kitchen, hub-attic]}")
    let audience = try await Audience.start(broker)
    let daemon = try await installation.start()
    let publisher = try await TestPublisher.start(broker)
    let home = try ThreadNetwork("home")
    let kitchen = BorderRouter("a1b2c3d4e5f60701", user: "hub-kitchen")
    let otherTeam = BorderRouter("a1b2c3d4e5f60701", user: "hub-garage")
    let colleague = BorderRouter("a1b2c3d4e5f60701", user: "hub-attic")

    try await publisher.publish([kitchen.announces(try home.hex())])
    try await publisher.publish([
      otherTeam.changes(to: try home.hex(at: 9)), otherTeam.leaves, otherTeam.says("offline"),
      otherTeam.announces(try home.hex(at: 9)),
    ])
    try await audience.until("four refusals") {
      $0.events("message_rejected").count == 4
    }
    #expect(
      audience.look { $0.events("message_rejected").allSatisfy { $0["code"] == "not_authorized" } })
    #expect(try await installation.dataset(of: kitchen.agent) == (try home.hex()))

    try await publisher.publish([colleague.changes(to: try home.hex(at: 2))])
    try await audience.until("the colleague's update, and an alert about a login that is in use") {
      $0.events("dataset_updated").count == 1
        && $0.alerts("alert_raised", "PlaintextCredentials").contains { $0["user"] == "hub-attic" }
    }
    #expect(
      try await installation.json("alerts").list.map { $0["user"] } == ["hub-attic"],
      "alerts about logins that speak for no router")

    // An id goes on belonging to its team when the router has left, and when its credentials are
    // deleted by hand.
    try await publisher.publish([kitchen.leaves])
    try await publisher.publish([otherTeam.announces(try home.hex(at: 9))])
    try await audience.until("the fifth refusal") { $0.events("message_rejected").count == 5 }
    try await publisher.publish([kitchen.announces(try home.hex(at: 3))])
    try await audience.until("it is back") { $0.state(kitchen.topic)?["active_timestamp"] == 3 }
    #expect(try await installation.command("credentials", "delete", kitchen.agent).status == 0)
    #expect(try await daemon.stop() == .exit(0))
    let again = try await installation.start()
    try await publisher.publish([otherTeam.announces(try home.hex(at: 9))])
    try await audience.until("the sixth refusal") { $0.events("message_rejected").count == 6 }
    #expect(try await installation.json("credentials", "list").list.isEmpty)
    #expect(try await again.stop() == .exit(0))
  }
}

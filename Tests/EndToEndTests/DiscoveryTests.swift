// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestKit
import Testing

/// Border routers in a local network of the test's own, with a real avahi-daemon at either end.
@Suite(
  "Border routers on the local network, with avahi-daemon", .inTurns,
  .enabled(if: LocalNetwork.obstacle == nil, "\(LocalNetwork.obstacle ?? "")"))
struct DiscoveryTests {
  private let network: LocalNetwork
  private let publisher: ServicePublisher
  private let broker: TestBroker
  private let installation: Installation
  private let audience: Audience
  private let home: ThreadNetwork
  private let guests: ThreadNetwork

  init() async throws {
    network = try LocalNetwork()
    publisher = try ServicePublisher(network)
    broker = try TestBroker()
    installation = try Installation(broker, hold: 0, variables: network.environment())
    audience = try await Audience.start(broker)
    home = try ThreadNetwork("home")
    guests = try ThreadNetwork("guest-thread")
  }

  private func publish(_ name: String, _ router: AdvertisedRouter) throws {
    try publisher.publish(name, text: router.text)
  }

  @Test("Routers are listed, followed to another network, and offline when they go")
  func life() async throws {
    let kitchen = AdvertisedRouter(1, home)
    var attic = AdvertisedRouter(2, home)
    try publish("Kitchen", kitchen)
    try publish("Attic", attic)
    let daemon = try await installation.start()
    let login = try await TestPublisher.start(broker)
    try await login.publish([BorderRouter(number: 1).announces(try home.hex())])
    for router in [kitchen, attic] {
      try await audience.until("a router on the preferred network") {
        $0.state(router.topic)?["preferred"] == "match"
          && $0.state(router.topic)?["source"] == "mdns"
      }
    }
    let network = try #require(try await installation.json("networks").list.first)
    #expect(network["routers"] == 3)
    #expect(network["border_routers"]?.list.first?["name"] == "Attic")
    // Routers are listed before avahi-daemon says that there are no more for now.
    try await eventually("the first list is complete") {
      try await installation.json("status")["discovery"]?["state"] == "running"
    }
    #expect(try await installation.json("status")["discovery"]?["routers"] == 2)

    attic.network = guests
    try publish("Attic", attic)
    try await audience.until("the alert") {
      !$0.alerts("alert_raised", "PreferredNetworkMismatch").isEmpty
    }
    let alert = try #require(
      audience.look { $0.alerts("alert_raised", "PreferredNetworkMismatch").last })
    #expect(alert["severity"] == "warning")
    #expect(alert["summary"]?.text?.contains(#""Attic" is on "guest-thread""#) == true)

    attic.network = home
    attic.partition = 2
    try publish("Attic", attic)
    try await audience.until("the split") {
      !$0.alerts("alert_raised", "NetworkSplit").isEmpty
    }
    try publisher.withdraw("Attic")
    try await audience.until("the router is offline") {
      $0.state(attic.topic)?["availability"] == "offline"
    }
    #expect(audience.look { $0.events("router_left") }.isEmpty)
    _ = try await daemon.stop()
  }

  @Test(
    "A router whose power is cut is offline when its address expires, and once removed not listed until it is back"
  )
  func powerCut() async throws {
    let kitchen = AdvertisedRouter(1, home)
    let attic = AdvertisedRouter(2, home)
    try network.stop(.avahi, .far)
    let daemon = try await installation.start()
    let login = try await TestPublisher.start(broker)
    try await login.publish([BorderRouter(number: 1).announces(try home.hex())])
    let sender = try PacketSender(network)
    func send(_ name: String, _ router: AdvertisedRouter) throws {
      // As border routers do it: services for 75 minutes, addresses for a short time.
      try sender.send(
        MulticastPacket(
          name: Array(name.utf8), text: MulticastPacket.strings(router.text),
          host: Array(name.utf8), lifetime: 4_500, hostLifetime: 3))
    }
    try await eventually("the router is online") {
      try send("Kitchen", kitchen)
      return audience.state(kitchen.topic)?["preferred"] == "match"
    }
    // Nobody answers from now on.
    try await audience.until("the alert") {
      !$0.alerts("alert_raised", "BorderRouterOffline").isEmpty
    }
    #expect(audience.state(kitchen.topic)?["availability"] == "offline")
    let scan = try await ThreadkeeperBinary.run(
      ["networks", "--scan", "2"], environment: network.environment())
    #expect(scan.status == 0 && !scan.output.contains("Kitchen"), "\(scan)")

    #expect(try await installation.command("routers", "remove", kitchen.agent).status == 0)
    try await audience.until("it is removed") { $0.latest[kitchen.topic] == "" }
    try await eventually("another one is online") {
      try send("Attic", attic)
      return audience.state(attic.topic) != nil
    }
    #expect(audience.look { $0.latest[kitchen.topic] } == "")
    try await eventually("it is back") {
      try send("Kitchen", kitchen)
      return audience.state(kitchen.topic)?["availability"] == "online"
    }
    _ = try await daemon.stop()
  }

  @Test("A router that was reset, and keeps its host's name, is one router that is online")
  func reset() async throws {
    try network.stop(.avahi, .far)
    let daemon = try await installation.start()
    let login = try await TestPublisher.start(broker)
    try await login.publish([BorderRouter(number: 1).announces(try home.hex())])
    let sender = try PacketSender(network)
    try await eventually("the list is complete") {
      try await installation.json("status")["discovery"]?["state"] == "running"
    }
    let (former, current) = (AdvertisedRouter(1, home), AdvertisedRouter(2, home))
    for (name, router) in [("Box #00AB", former), ("Box #00CD", current)] {
      try await eventually("\(name) is online") {
        // The former record is not withdrawn, and its host still answers.
        try sender.send(
          MulticastPacket(
            name: Array(name.utf8), text: MulticastPacket.strings(router.text),
            host: Array("box".utf8), lifetime: 4_500, hostLifetime: 4_500))
        return audience.state(router.topic)?["availability"] == "online"
      }
    }
    try await audience.until("the former one is offline") {
      $0.state(former.topic)?["availability"] == "offline"
    }
    #expect(audience.state(current.topic)?["availability"] == "online")
    _ = try await daemon.stop()
  }

  @Test("When the agent of a router is silent, the alert names it, and its record says where it is")
  func agentSilent() async throws {
    let agent = BorderRouter(AdvertisedRouter(1, home).agent)
    var kitchen = AdvertisedRouter(1, home)
    try publish("Kitchen", kitchen)
    let daemon = try await installation.start()
    let login = try await TestPublisher.start(broker)
    try await login.publish([agent.announces(try home.hex()), agent.says("offline")])
    try await audience.until("the alert names the agent") {
      $0.alertEvents.last?["summary"]?.text?.contains("its agent is silent") == true
    }
    kitchen.network = guests
    try publish("Kitchen", kitchen)
    try await audience.until("the move is noticed") {
      !$0.alerts("alert_raised", "PreferredNetworkMismatch").isEmpty
    }
    #expect(
      audience.state(kitchen.topic)?["current_ext_pan_id"]?.text == guests.extendedPANID)
    // It speaks again, and for itself.
    try await login.publish([agent.says("heartbeat")])
    try await audience.until("the alerts are over") {
      !$0.alerts("alert_resolved", "PreferredNetworkMismatch").isEmpty
        && !$0.alerts("alert_resolved", "BorderRouterOffline").isEmpty
    }
    _ = try await daemon.stop()
  }

  @Test(
    "When avahi-daemon goes away, status says so and the list stays; when it is back, it is followed"
  )
  func avahiAway() async throws {
    let kitchen = AdvertisedRouter(1, home)
    try publish("Kitchen", kitchen)
    let daemon = try await installation.start()
    try await audience.until("the router") { $0.state(kitchen.topic)?["source"] == "mdns" }
    try network.stop(.avahi)
    try await eventually("status says that avahi-daemon is away") {
      try await installation.json("status")["discovery"]?["state"] == "unavailable"
    }
    let text = try await installation.command("status")
    #expect(text.output.contains("apt-get install avahi-daemon"), "\(text.output)")
    #expect(audience.look { $0.state(kitchen.topic) }?["availability"] == "online")
    try publisher.withdraw("Kitchen")
    try network.start(.avahi)
    try await audience.until("the router is offline") {
      $0.state(kitchen.topic)?["availability"] == "offline"
    }
    _ = try await daemon.stop()
  }

  @Test("A scan finds networks without a daemon, and says what is missing where it cannot look")
  func scan() async throws {
    try publish("Kitchen", AdvertisedRouter(1, home))
    try publish("Attic", AdvertisedRouter(2, guests))
    let found = try await ThreadkeeperBinary.run(
      ["networks", "--scan", "5"], environment: network.environment())
    #expect(found.status == 0, "\(found.error)")
    for word in ["home", home.extendedPANID, "Kitchen", "guest-thread", "Attic"] {
      #expect(found.output.contains(word), "\(found.output)")
    }
    try network.stop(.avahi)
    let nothing = try await ThreadkeeperBinary.run(
      ["networks", "--scan", "1"], environment: network.environment())
    #expect(nothing.status == 69)
    #expect(nothing.error.contains("avahi-daemon does not answer"), "\(nothing.error)")
  }

  @Test("With discovery off nobody is looked for")
  func off() async throws {
    try publish("Kitchen", AdvertisedRouter(1, home))
    let installation = try Installation(
      broker, more: "discovery: {mdns: off}", variables: network.environment())
    let daemon = try await installation.start()
    #expect(try await installation.json("status")["discovery"]?["state"] == "off")
    #expect(try await installation.json("routers") == [])
    _ = try await daemon.stop()
  }
}

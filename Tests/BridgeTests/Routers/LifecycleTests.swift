// SPDX-License-Identifier: Apache-2.0

import Broker
import TestKit
import Testing
import ThreadDataset

@testable import Bridge

@Suite("The life of a border router")
struct LifecycleTests {
  let bridge: TestBridge

  init() throws { bridge = try TestBridge() }

  @Test("An announcement with a dataset stores the credentials and publishes it")
  func announce() throws {
    try bridge.announce(
      Agent.living, .home, at: 1,
      [
        "name": "Living room", "vendor": "Acme", "model": "BR-1", "access_point": "ap-3",
        "ext_address": "0011223344556677",
      ])
    let router = try #require(try bridge.router(Agent.living))
    #expect(router.isPresent && router.isOnline)
    #expect(router.user == "anna")
    #expect(router.name == "Living room")
    #expect(router.vendor == "Acme")
    #expect(router.model == "BR-1")
    #expect(router.accessPoint == "ap-3")
    #expect(router.extendedAddress == [0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77])
    #expect(router.credential == .stored)
    #expect(router.networkName == "home")
    #expect(router.channel == 15)
    #expect(router.panID == 0x1234)
    #expect(router.activeSeconds == 1)
    #expect(router.preferred == "match")
    #expect(router.firstSeen == bridge.clock.now())
    #expect(router.datasetChangedAt == bridge.clock.now())
    let credential = try #require(try bridge.credential(Agent.living))
    #expect(credential.dataset == (try SampleNetwork.home.dataset(at: 1)))
    #expect(credential.team == "anna")
    #expect(try bridge.takeNames() == ["router_announced", "dataset_stored", "preferred_changed"])
    #expect(try bridge.home().routers == 1)
    #expect(try bridge.network(.home)?.routers == 1)
    #expect(try bridge.network(.home)?.online == 1)
    #expect(try bridge.network(.home)?.name == "home")
  }

  @Test("A router is read back from its row as it was written")
  func row() throws {
    try bridge.announce(
      Agent.garage, .home, at: (1 << 48) - 1,
      ["name": "a", "vendor": "b", "model": "c", "access_point": "d", "seq": UInt64.max, "id": "x"])
    try bridge.say(.ssid, Agent.garage, ["ssid": "e", "previous_ssid": "f"])
    try bridge.say(.heartbeat, Agent.garage, ["id": "y\nz"])
    let read = try #require(try bridge.router(Agent.garage))
    // Typed: otherwise both are compared as AnyHashable, and Swift 6.3 reads beyond the optional's room on the stack.
    #expect(read.activeSeconds == UInt64(1 << 48) - 1)
    #expect(read.order.high == .max)
    #expect(read.order.identifiers == ["y\nz"])
    #expect(read.ssid == "e" && read.previousSSID == "f")
    try bridge.database.write { try RouterLedger.update(read, $0) }
    #expect(try bridge.router(Agent.garage) == read)
  }

  @Test("The same announcement again changes and publishes nothing, and is a sign of life")
  func announceAgain() throws {
    try bridge.announce(Agent.living, .home, at: 1, ["name": "Living room"])
    let before = try #require(try bridge.router(Agent.living))
    _ = try bridge.takeEvents()
    bridge.clock.advance(seconds: 20)
    for _ in 0..<3 { try bridge.announce(Agent.living, .home, at: 1, ["name": "Living room"]) }
    #expect(try bridge.takeEvents().isEmpty)
    var after = try #require(try bridge.router(Agent.living))
    #expect(after.lastSeen == bridge.clock.now())
    after.lastSeen = before.lastSeen
    #expect(after == before)
  }

  @Test("An announcement with less leaves alone what it does not name")
  func partialAnnounce() throws {
    try bridge.announce(Agent.living, .home, at: 1, ["name": "Living room", "vendor": "Acme"])
    try bridge.say(.announce, Agent.living, ["model": "BR-2"])
    let router = try #require(try bridge.router(Agent.living))
    #expect(router.name == "Living room")
    #expect(router.vendor == "Acme")
    #expect(router.model == "BR-2")
    #expect(router.credential == .stored)
    #expect(router.networkName == "home")
  }

  @Test("Without a dataset the router is there and its credentials are missing, until they come")
  func announceWithoutDataset() throws {
    try bridge.say(.announce, Agent.living)
    #expect(try bridge.router(Agent.living)?.credential == .missing)
    #expect(try bridge.router(Agent.living)?.preferred == "none")
    #expect(try bridge.takeNames() == ["router_announced"])
    #expect(try bridge.home().routers == 1)
    try bridge.say(
      .dataset, Agent.living, ["dataset": try SampleNetwork.home.dataset(at: 1).hex])
    #expect(try bridge.router(Agent.living)?.credential == .stored)
    #expect(try bridge.takeNames() == ["dataset_stored", "preferred_changed"])
    #expect(try bridge.home().routers == 1)
    #expect(try bridge.network(.home)?.routers == 1)
  }

  @Test("A newer dataset takes the place of the stored one and says what changed")
  func update() throws {
    try bridge.announce(Agent.living, .home, at: 1)
    _ = try bridge.takeEvents()
    bridge.clock.advance(seconds: 5)
    let moved = SampleNetwork.home.with { $0.channel = 20 }
    try bridge.say(.dataset, Agent.living, ["dataset": try moved.dataset(at: 2).hex])
    let event = try #require(
      try bridge.takeEvents().first { $0.types.contains(.datasetUpdated) })
    #expect(event.types == [.datasetUpdated, .preferredChanged])
    #expect(event.detail.differs == ["channel"])
    #expect(event.detail.networkName == "home")
    #expect(try bridge.router(Agent.living)?.channel == 20)
    #expect(try bridge.router(Agent.living)?.datasetChangedAt == bridge.clock.now())
    #expect(try bridge.network(.home)?.channel == 20)
    #expect(try bridge.network(.home)?.activeSeconds == 2)
    #expect(try bridge.credential(Agent.living)?.dataset == (try moved.dataset(at: 2)))
  }

  @Test(
    "Leaving deletes the credentials, and the router is forgotten but for its team and its numbers")
  func leave() throws {
    try bridge.announce(Agent.living, .home, at: 1, ["seq": 7])
    try bridge.announce(Agent.attic, .home, at: 1)
    _ = try bridge.takeEvents()
    for (agent, seq) in [(Agent.living, 8), (Agent.attic, nil)] as [(String, Int?)] {
      try bridge.say(.leave, agent, seq.map { ["seq": $0] } ?? [:])
      #expect(try bridge.credential(agent) == nil)
    }
    #expect(try bridge.takeNames() == ["router_left", "router_left"])
    let gone = try #require(try bridge.router(Agent.living))
    #expect(!gone.isPresent)
    #expect(gone.network == nil && gone.name == nil)
    #expect(gone.order.high == 8)
    #expect(try bridge.router(Agent.attic)?.isPresent == false)
    #expect(try bridge.router(Agent.attic)?.team == "anna")
    #expect(try bridge.home().routers == 0)
  }

  @Test("Announce, leave and the same announcement again are three events")
  func comeBack() throws {
    for _ in 0..<3 {
      try bridge.announce(Agent.living, .home, at: 1)
      try bridge.say(.leave, Agent.living)
    }
    try bridge.announce(Agent.living, .home, at: 1)
    #expect(
      try bridge.takeNames() == ["router_announced", "dataset_stored", "preferred_changed"]
        + Array(repeating: ["router_left", "router_announced", "dataset_stored"], count: 3)
        .flatMap { $0 })
    #expect(try bridge.home().routers == 1)
    #expect(try bridge.network(.home)?.routers == 1)
  }

  @Test("Who is not there cannot leave; that is a repetition, no fault")
  func leaveTwice() throws {
    #expect(try bridge.say(.leave, Agent.living).duplicates == 1)
    try bridge.announce(Agent.living, .home, at: 1, ["seq": 1])
    try bridge.say(.leave, Agent.living, ["seq": 2])
    let counts = try bridge.say(.leave, Agent.living, ["seq": 3])
    #expect(counts.duplicates == 1)
    #expect(counts.rejected.isEmpty)
    #expect(try bridge.home().routers == 0)
  }

  @Test("A registry that has lost a router takes it up again from the store")
  func lostRow() throws {
    for fields in [[:], ["dataset": try SampleNetwork.home.dataset(at: 1).hex]] {
      let bridge = try TestBridge()
      try bridge.announce(Agent.living, .home, at: 1)
      try bridge.database.write { tx in
        try tx.execute("DELETE FROM router")
        try tx.execute("UPDATE home SET routers = 0")
        try tx.execute("UPDATE network SET routers = 0, online = 0")
      }
      try bridge.say(.announce, Agent.living, fields)
      #expect(try bridge.router(Agent.living)?.credential == .stored)
      try Recount(bridge: bridge, comment: "lost row").check()
    }
  }

  @Test("A leave deletes the credentials of a router that the registry has lost")
  func leaveWithoutRow() throws {
    try bridge.announce(Agent.living, .home, at: 1)
    try bridge.database.write { tx in _ = try tx.execute("DELETE FROM router") }
    try bridge.say(.leave, Agent.living)
    #expect(try bridge.credential(Agent.living) == nil)
  }

  @Test("A heartbeat of another login of the team leaves the numbers of both in order")
  func twoLogins() throws {
    let bridge = try TestBridge(teams: ["anna": "family", "bert": "family"])
    try bridge.announce(Agent.living, .home, at: 1, user: "anna", ["seq": 100])
    try bridge.say(.heartbeat, Agent.living, user: "bert", ["seq": 5])
    #expect(try bridge.router(Agent.living)?.user == "bert")
    #expect(try bridge.router(Agent.living)?.order.high == 5)
    #expect(try bridge.say(.heartbeat, Agent.living, user: "bert", ["seq": 5]).duplicates == 1)
  }

  @Test("Who was not listened to was not silent", arguments: [nil, 0, 299])
  func notListening(secondsOfListening: Int?) throws {
    let bridge = try TestBridge()
    try bridge.announce(Agent.living, .home, at: 1)
    try bridge.say(.heartbeat, Agent.living)
    bridge.listeningSince = secondsOfListening.map {
      bridge.clock.now().adding(seconds: 3600 - $0)
    }
    try bridge.pass(3600)
    #expect(try bridge.router(Agent.living)?.isOnline == true)
    bridge.listeningSince = bridge.clock.now().adding(seconds: -300)
    try bridge.pass()
    try bridge.pass()
    #expect(try bridge.router(Agent.living)?.isOnline == false)
  }
}

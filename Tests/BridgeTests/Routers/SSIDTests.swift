// SPDX-License-Identifier: Apache-2.0

import Broker
import TestKit
import Testing

@testable import Bridge

@Suite("SSID changes")
struct SSIDTests {
  let bridge: TestBridge

  init() throws {
    bridge = try TestBridge()
    try bridge.announce(Agent.living, .home, at: 1, ["access_point": "ap-3"])
    _ = try bridge.takeEvents()
  }

  @Test("The first SSID is remembered; there is nothing that it could have changed from")
  func first() throws {
    try bridge.say(.ssid, Agent.living, ["ssid": "cellar"])
    #expect(try bridge.router(Agent.living)?.ssid == "cellar")
    #expect(try bridge.takeNames().isEmpty)
  }

  @Test("A change is published with the check against the preferred network")
  func change() throws {
    try bridge.say(.ssid, Agent.living, ["ssid": "cellar"])
    _ = try bridge.takeEvents()
    try bridge.say(.ssid, Agent.living, ["ssid": "attic"])
    let event = try #require(try bridge.takeEvents().first)
    #expect(event.types == .ssidChanged)
    #expect(event.detail.ssid == "attic")
    #expect(event.detail.previousSSID == "cellar")
    #expect(event.detail.preferred == "match")
    #expect(try bridge.router(Agent.living)?.ssid == "attic")
  }

  @Test("Who knows the old name says so, and the first report is a change already")
  func named() throws {
    try bridge.say(.ssid, Agent.living, ["ssid": "attic", "previous_ssid": "cellar"])
    #expect(try bridge.takeNames() == ["ssid_changed"])
  }

  @Test("The same SSID again is no change")
  func again() throws {
    for _ in 0..<3 {
      try bridge.say(.ssid, Agent.living, ["ssid": "attic", "previous_ssid": "cellar"])
    }
    try bridge.say(.ssid, Agent.living, ["ssid": "attic"])
    #expect(try bridge.takeNames() == ["ssid_changed"])
  }

  @Test("On the wrong network the alert names the change as what brought it up")
  func trigger() throws {
    try bridge.announce(Agent.attic, .guest, at: 1)
    try bridge.say(.ssid, Agent.attic, ["ssid": "a", "previous_ssid": "b"])
    let event = try #require(try bridge.takeEvents().last { $0.types == .ssidChanged })
    #expect(event.detail.preferred == "mismatch")
    #expect(try bridge.alert(.preferredNetworkMismatch, Agent.attic) != nil)
  }

  @Test("The access point stands for all routers that named it")
  func accessPoint() throws {
    try bridge.announce(Agent.attic, .home, at: 1, ["access_point": "ap-3"])
    try bridge.announce(Agent.garage, .home, at: 1, ["access_point": "ap-4"])
    _ = try bridge.takeEvents()
    try bridge.say(
      .ssid, "", ["access_point": "ap-3", "ssid": "attic", "previous_ssid": "cellar"])
    #expect(try bridge.router(Agent.living)?.ssid == "attic")
    #expect(try bridge.router(Agent.attic)?.ssid == "attic")
    #expect(try bridge.router(Agent.garage)?.ssid == nil)
    #expect(try bridge.takeNames() == ["ssid_changed", "ssid_changed"])
  }

  @Test("An access point that no router named is not found, nor one whose router left")
  func unknownAccessPoint() throws {
    #expect(
      try bridge.say(.ssid, "", ["access_point": "ap-9", "ssid": "a"]).rejected == ["not_found": 1])
    try bridge.say(.leave, Agent.living)
    #expect(
      try bridge.say(.ssid, "", ["access_point": "ap-3", "ssid": "a"]).rejected == ["not_found": 1])
    #expect(
      try bridge.say(.ssid, Agent.living, ["ssid": "a"]).rejected == ["not_found": 1])
  }

  @Test("A Wi-Fi watcher with a login of its own may report, and becomes owner of nothing")
  func watcher() throws {
    try bridge.say(.ssid, Agent.living, user: "wifi", ["ssid": "a", "previous_ssid": "b"])
    #expect(try bridge.takeNames() == ["ssid_changed"])
    #expect(try bridge.router(Agent.living)?.user == "anna")
    #expect(try bridge.credential(Agent.living)?.team == "anna")
  }

  @Test(
    "One damaged credential does not keep the change from the other routers of the access point")
  func damagedNeighbour() throws {
    try bridge.announce(Agent.attic, .home, at: 1, ["access_point": "ap-3"])
    try bridge.damageCredential(of: Agent.living)
    _ = try bridge.takeEvents()
    try bridge.say(
      .ssid, "", ["access_point": "ap-3", "ssid": "attic", "previous_ssid": "cellar"])
    #expect(try bridge.router(Agent.attic)?.ssid == "attic")
  }

  @Test("By access point only routers of the sender's team are touched, whoever announced it")
  func otherTeam() throws {
    try bridge.announce(Agent.attic, .home, at: 1, user: "mallory", ["access_point": "ap-3"])
    try bridge.say(.ssid, "", user: "mallory", ["access_point": "ap-3", "ssid": "evil"])
    #expect(try bridge.router(Agent.living)?.ssid == nil)
    #expect(try bridge.router(Agent.attic)?.ssid == "evil")
    #expect(
      try bridge.say(.ssid, "", user: "eve", ["access_point": "ap-3", "ssid": "evil"]).rejected
        == ["not_found": 1])
  }

  @Test("Sixteen routers of an access point follow; with one more the event is rejected by name")
  func atMostSixteen() throws {
    func announce(_ number: Int) throws {
      try bridge.announce(
        "a1b2c3d4" + String(10_000_000 + number), .home, at: 1, ["access_point": "ap-16"])
    }
    for number in 1...16 { try announce(number) }
    #expect(try bridge.say(.ssid, "", ["access_point": "ap-16", "ssid": "a"]).rejected.isEmpty)
    #expect(try bridge.router("a1b2c3d410000016")?.ssid == "a")
    try announce(17)
    #expect(
      try bridge.say(.ssid, "", ["access_point": "ap-16", "ssid": "b"]).rejected
        == ["too_many_routers": 1])
    #expect(try bridge.router("a1b2c3d410000016")?.ssid == "a")
  }
}

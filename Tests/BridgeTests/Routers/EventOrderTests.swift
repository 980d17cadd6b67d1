// SPDX-License-Identifier: Apache-2.0

import Broker
import TestKit
import Testing

@testable import Bridge

@Suite("Repetitions and overtaken events")
struct EventOrderTests {
  let bridge: TestBridge

  init() throws {
    bridge = try TestBridge()
    try bridge.announce(Agent.living, .home, at: 1, ["seq": 10])
    _ = try bridge.takeEvents()
  }

  @Test("A repetition is counted and does nothing, in one batch or after a restart")
  func duplicates() throws {
    let again = try bridge.message(
      .announce, Agent.living, ["seq": 10, "dataset": try SampleNetwork.guest.dataset(at: 5).hex])
    let counts = try bridge.receive([again, again])
    #expect(counts.duplicates == 2)
    #expect(counts.rejected.isEmpty)
    try bridge.restart()
    #expect(try bridge.receive([again]).duplicates == 1)
    #expect(try bridge.takeEvents().isEmpty)
    #expect(try bridge.router(Agent.living)?.networkName == "home")
  }

  @Test("An event that was overtaken is refused by name: acting upon it would turn time back")
  func outOfOrder() throws {
    try bridge.say(.leave, Agent.living, ["seq": 12])
    let counts = try bridge.announce(Agent.living, .home, at: 1, ["seq": 11])
    #expect(counts.rejected == ["out_of_order": 1])
    #expect(try bridge.router(Agent.living)?.isPresent == false)
    let event = try #require(try bridge.takeEvents().last)
    #expect(event.detail.code == "out_of_order")
    #expect(event.detail.field == "seq")
  }

  @Test("A router that was removed begins with any number, as after a clock that was ahead")
  func removed() throws {
    #expect(try bridge.announce(Agent.living, .home, at: 1, ["seq": 9]).rejected.count == 1)
    _ = try bridge.remove(Agent.living)
    #expect(try bridge.announce(Agent.living, .home, at: 1, ["seq": 9]).rejected.isEmpty)
    #expect(try bridge.router(Agent.living)?.order.high == 9)
  }

  @Test("A replayed announcement after a leave does not bring the router back")
  func replayAfterLeave() throws {
    try bridge.say(.leave, Agent.living, ["seq": 11])
    try bridge.restart()
    #expect(try bridge.announce(Agent.living, .home, at: 1, ["seq": 10]).duplicates == 1)
    #expect(try bridge.announce(Agent.living, .home, at: 1, ["seq": 3]).rejected.count == 1)
    #expect(try bridge.router(Agent.living)?.isPresent == false)
    #expect(try bridge.announce(Agent.living, .home, at: 1, ["seq": 12]).rejected.isEmpty)
    #expect(try bridge.router(Agent.living)?.isPresent == true)
  }

  @Test("All kinds of events of a router share its numbers, but SSID watchers have their own")
  func allKinds() throws {
    #expect(try bridge.say(.heartbeat, Agent.living, ["seq": 10]).duplicates == 1)
    #expect(try bridge.say(.heartbeat, Agent.living, ["seq": 11]).duplicates == 0)
    #expect(try bridge.say(.offline, Agent.living, ["seq": 11]).duplicates == 1)
    #expect(try bridge.say(.offline, Agent.living, ["seq": 12]).duplicates == 0)
    #expect(try bridge.router(Agent.living)?.order.high == 12)
    let counts = try bridge.say(.ssid, Agent.living, user: "wifi", ["ssid": "a", "seq": 1])
    #expect(counts.rejected.isEmpty && counts.duplicates == 0)
    #expect(try bridge.router(Agent.living)?.order.high == 12)
  }

  @Test("Routers have numbers of their own")
  func otherRouter() throws {
    #expect(try bridge.announce(Agent.attic, .home, at: 1, ["seq": 1]).rejected.isEmpty)
    #expect(try bridge.router(Agent.attic)?.order.high == 1)
    #expect(try bridge.router(Agent.living)?.order.high == 10)
  }

  @Test("A refused event does not use up its number")
  func refusedEvent() throws {
    let bridge = try TestBridge()
    try bridge.announce(Agent.living, .home, at: 1, user: "anna", ["seq": 1])
    try bridge.announce(Agent.living, .guest, at: 1, user: "bert", ["seq": 500])
    #expect(try bridge.say(.heartbeat, Agent.living, user: "anna", ["seq": 2]).rejected.isEmpty)
    #expect(try bridge.router(Agent.living)?.order.high == 2)
  }

  @Test(
    "The last eight ids are repetitions, whatever is in them", arguments: ["e", "a\nb", "", "é"])
  func identifiers(id: String) throws {
    try bridge.say(.announce, Agent.living, ["id": id, "name": "one"])
    #expect(try bridge.say(.announce, Agent.living, ["id": id, "name": "two"]).duplicates == 1)
    #expect(try bridge.router(Agent.living)?.name == "one")
    for index in 0..<8 { try bridge.say(.heartbeat, Agent.living, ["id": "other \(index)"]) }
    #expect(try bridge.say(.announce, Agent.living, ["id": id, "name": "two"]).duplicates == 0)
    #expect(try bridge.router(Agent.living)?.name == "two")
  }

  @Test("Without numbers nothing is a repetition")
  func unnumbered() throws {
    let bridge = try TestBridge()
    for _ in 0..<3 {
      #expect(try bridge.announce(Agent.living, .home, at: 1).duplicates == 0)
    }
  }

  @Test("A random mix of numbers keeps the row and the window together")
  func randomNumbers() throws {
    var generator = SeededGenerator(seed: 5)
    var window = SequenceWindow()
    _ = window.take(.sequence(10))
    for _ in 0..<300 {
      let number = UInt64.random(in: 1...150, using: &generator)
      var next = window
      let verdict = next.take(.sequence(number))
      let counts = try bridge.say(.heartbeat, Agent.living, ["seq": number])
      #expect(counts.duplicates == (verdict == .duplicate ? 1 : 0))
      #expect(counts.rejected.isEmpty == (verdict != .outOfOrder))
      window = next
      #expect(try bridge.router(Agent.living)?.order == window)
    }
  }
}

// SPDX-License-Identifier: Apache-2.0

import Broker
import TestKit
import Testing

@testable import Bridge

@Suite("Devices of Home Assistant that the broker refuses")
struct HomeAssistantRefusalTests {
  typealias Scene = HomeAssistantScene

  private func scene(routers: Int) throws -> Scene {
    let scene = try Scene()
    for number in 0..<routers { try scene.bridge.announce(Fleet.agent(number), .home, at: 1) }
    return scene
  }

  @Test("No more are sent than were under way, none counts as announced, and the states go on")
  func refused() throws {
    let scene = try scene(routers: 300)
    scene.refuses = { $0.topic.contains("/device/") }
    let sent = try scene.publish()
    #expect((1...64).contains(sent.count))
    #expect(try scene.rows.allSatisfy { $0.form == nil && $0.due != nil })
    #expect(try scene.outbox.published == scene.bridge.database.read { try EventLedger.lastID($0) })
    // Not in a loop.
    for _ in 0..<10 { #expect(try scene.publish().isEmpty) }
  }

  @Test("They are sent on the next connection, once its list allows them")
  func nextConnection() throws {
    let scene = try scene(routers: 50)
    scene.refuses = { $0.topic.contains("/device/") }
    try scene.publish()
    scene.outbox.restart()
    #expect((1...64).contains(try scene.publish().count))
    scene.refuses = { _ in false }
    scene.forgetCounts()
    scene.outbox.restart()
    #expect(try scene.publish().count == 51)
    #expect(scene.counts.values.allSatisfy { $0 == 1 })
    #expect(scene.retained.count == 51)
  }

  @Test("A broker that has forgotten them and refuses them gets all of them when it takes them")
  func forgottenAndRefused() throws {
    let scene = try scene(routers: 100)
    try scene.publish()
    scene.refuses = { $0.topic.contains("/device/") }
    scene.outbox.restart()
    scene.outbox.republishAll()
    try scene.publish()
    #expect(!scene.outbox.isWalking)
    #expect(try scene.rows.allSatisfy { $0.due != nil })
    scene.refuses = { _ in false }
    try scene.restart()
    #expect(try scene.publish().count == 101)
  }

  @Test("What was never taken is given up with discovery off, also where the list still refuses it")
  func givenUp() throws {
    let scene = try scene(routers: 3)
    scene.refuses = { $0.topic.contains("/device/") }
    try scene.publish()
    try scene.restart { $0.homeAssistant.isOn = false }
    for _ in 0..<3 {
      try scene.publish()
      scene.outbox.restart()
    }
    #expect(try scene.rows.isEmpty)
  }

  @Test(
    "The removal below a former prefix is refused: the new devices are announced, it is kept in mind"
  )
  func formerPrefix() throws {
    let scene = try scene(routers: 3)
    try scene.publish()
    scene.refuses = { $0.topic.hasPrefix("homeassistant/") }
    try scene.restart { $0.homeAssistant.prefix = "other" }
    try scene.publish()
    #expect(scene.retained.keys.filter { $0.hasPrefix("other/") }.count == 4)
    #expect(scene.retained.keys.filter { $0.hasPrefix("homeassistant/") }.count == 4)
    for _ in 0..<5 { #expect(try scene.publish().isEmpty) }
    scene.refuses = { _ in false }
    scene.forgetCounts()
    try scene.restart()
    #expect(try scene.publish().count == 4)
    #expect(scene.retained.keys.allSatisfy { $0.hasPrefix("other/") })
  }
}

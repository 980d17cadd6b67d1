// SPDX-License-Identifier: Apache-2.0

import Broker
import SQLiteDatabase
import TestKit
import Testing

@testable import Bridge

@Suite("Devices of Home Assistant are removed")
struct HomeAssistantRemovalTests {
  typealias Scene = HomeAssistantScene

  /// With two routers that Home Assistant knows.
  private func scene() throws -> Scene {
    let scene = try Scene()
    try scene.bridge.announce(Agent.living, .home, at: 1)
    try scene.bridge.announce(Agent.attic, .home, at: 1)
    try scene.publish()
    scene.forgetCounts()
    return scene
  }

  @Test("A router that left is removed at once, and its row is gone when the broker has said so")
  func left() throws {
    let scene = try scene()
    try scene.bridge.say(.leave, Agent.living)
    let sent = try scene.publish()
    #expect(sent.map(\.topic) == [Scene.topic(Agent.living)])
    #expect(sent.first?.payload.isEmpty == true && sent.first?.retain == true)
    #expect(Set(scene.retained.keys) == [Scene.bridgeTopic, Scene.topic(Agent.attic)])
    #expect(try scene.rows.count == 2)
    #expect(try scene.publish().isEmpty)
  }

  @Test("A router that left while nothing was published is removed by the next daemon")
  func leftWithoutDaemon() throws {
    let scene = try scene()
    try scene.bridge.say(.leave, Agent.living)
    try scene.restart()
    #expect(try scene.publish().map(\.topic) == [Scene.topic(Agent.living)])
    #expect(scene.retained.count == 2)
    // Killed after the removal, before it was written: once more, and then no more.
    try scene.bridge.say(.leave, Agent.attic)
    try scene.send()
    try scene.restart()
    #expect(try scene.publish().count == 1)
    #expect(Set(scene.retained.keys) == [Scene.bridgeTopic])
    try scene.restart()
    #expect(try scene.publish().isEmpty)
  }

  @Test("A router that leaves before its device was acknowledged leaves no ghost")
  func leftUnacknowledged() throws {
    let scene = try Scene()
    try scene.bridge.announce(Agent.living, .home, at: 1)
    try scene.send()
    // The daemon is killed, and the router leaves, before anything was written of it.
    try scene.bridge.say(.leave, Agent.living)
    try scene.restart()
    try scene.publish()
    #expect(Set(scene.retained.keys) == [Scene.bridgeTopic])
  }

  @Test("A router that is back before its removal was written is announced again")
  func back() throws {
    let scene = try scene()
    try scene.bridge.say(.leave, Agent.living)
    try scene.send()
    try scene.bridge.announce(Agent.living, .home, at: 1)
    try scene.tick()
    try scene.publish()
    #expect(scene.retained.count == 3)
    #expect(try scene.rows.allSatisfy { $0.due == nil })
  }

  @Test("With discovery off all are removed at the next start, once; on again, they are back")
  func switchedOff() throws {
    let scene = try scene()
    try scene.restart { $0.homeAssistant.isOn = false }
    #expect(try scene.publish().count == 3)
    #expect(scene.retained.isEmpty)
    #expect(try scene.rows.isEmpty)
    try scene.restart()
    #expect(try scene.publish().isEmpty)
    try scene.restart { $0.homeAssistant.isOn = true }
    #expect(try scene.publish().count == 3)
    #expect(scene.retained.count == 3)
  }

  @Test("With discovery off, a router that left before is removed, too")
  func leftAndOff() throws {
    let scene = try scene()
    try scene.bridge.say(.leave, Agent.living)
    try scene.restart { $0.homeAssistant.isOn = false }
    try scene.publish()
    #expect(scene.retained.isEmpty)
  }

  @Test("Another prefix, base topic or home empties the topics of the former ones")
  func moved() throws {
    let scene = try scene()
    try scene.restart { $0.homeAssistant.prefix = "other" }
    try scene.publish()
    #expect(scene.retained.keys.allSatisfy { $0.hasPrefix("other/") })
    #expect(scene.retained.count == 3)
    try scene.restart { $0.topics = BaseTopics([.init(name: "home", base: "new/base")]) }
    try scene.publish()
    #expect(
      scene.retained.keys.allSatisfy {
        $0.hasPrefix("other/device/threadkeeper/threadkeeper_new-2fbase")
      })
    #expect(scene.retained.count == 3)
    try scene.restart { $0.topics = BaseTopics([.init(name: "cabin", base: "cabin")]) }
    try scene.publish()
    #expect(
      scene.retained.keys.map { $0 } == ["other/device/threadkeeper/threadkeeper_cabin/config"])
    // A start that is interrupted between two of these leaves nothing either.
    try scene.restart { $0.homeAssistant.prefix = "third" }
    try scene.restart { $0.homeAssistant.prefix = "fourth" }
    try scene.publish()
    #expect(
      scene.retained.keys.map { $0 } == ["fourth/device/threadkeeper/threadkeeper_cabin/config"])
  }

  @Test("A home that gets another name and keeps its base topic keeps its device")
  func renamedHome() throws {
    let scene = try scene()
    let topic = "homeassistant/device/threadkeeper/threadkeeper_threadkeeper/config"
    #expect(scene.retained[topic] != nil)
    try scene.restart { $0.topics = BaseTopics([.init(name: "casa", base: "threadkeeper")]) }
    try scene.publish()
    #expect(scene.retained.keys.map { $0 } == [topic])
  }

  @Test("Where the table of devices itself was damaged, all are announced again, and go as before")
  func repairedTable() throws {
    let scene = try scene()
    let before = scene.retained
    try DamagedPage.root(
      of: "home_assistant", in: scene.bridge.temporary.location.databasePath)
    let repair = RegistryRepair(
      configuration: scene.bridge.configuration, store: scene.bridge.store)
    #expect(try repair.run(now: scene.bridge.clock.now()) == .recreated(["home_assistant"]))
    scene.outbox.restart(after: try scene.bridge.database.read { try EventLedger.published($0) })
    scene.outbox.republishAll()
    try scene.publish()
    #expect(scene.retained == before)
    #expect(scene.counts.values.allSatisfy { $0 == 1 })
    #expect(try scene.rows.count == 3)
    try scene.bridge.say(.leave, Agent.living)
    try scene.publish()
    #expect(Set(scene.retained.keys) == [Scene.bridgeTopic, Scene.topic(Agent.attic)])
  }

  @Test("Damaged tables that are created again leave the devices that are there")
  func repaired() throws {
    let scene = try scene()
    try scene.bridge.database.write { try $0.execute("DELETE FROM router") }
    try scene.bridge.database.write {
      try HomeAssistantDevices(scene.bridge.configuration).reconcile($0)
    }
    scene.outbox.restart()
    try scene.publish()
    #expect(Set(scene.retained.keys) == [Scene.bridgeTopic])
  }
}

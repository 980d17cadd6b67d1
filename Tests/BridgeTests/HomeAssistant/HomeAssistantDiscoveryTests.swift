// SPDX-License-Identifier: Apache-2.0

import Broker
import Foundation
import SQLiteDatabase
import TestKit
import Testing

@testable import Bridge

@Suite("Devices of Home Assistant are announced")
struct HomeAssistantDiscoveryTests {
  typealias Scene = HomeAssistantScene

  @Test("The daemon first, then each router once, retained; a second walk of nothing is quiet")
  func announced() throws {
    let scene = try Scene()
    try scene.bridge.announce(Agent.living, .home, at: 1, ["name": "Living room"])
    let sent = try scene.publish()
    #expect(sent.map(\.topic) == [Scene.bridgeTopic, Scene.topic(Agent.living)])
    #expect(sent.allSatisfy { $0.retain && $0.qos == 1 })
    let device = try #require(sent.last?.object["device"] as? [String: Any])
    #expect(device["name"] as? String == "Living room")
    #expect(device["via_device"] as? String == "threadkeeper_threadkeeper")
    #expect(try scene.publish().isEmpty)
    #expect(try scene.rows.allSatisfy { $0.due == nil && $0.form != nil })
  }

  @Test("Where discovery is off nothing is announced, and no row is written")
  func off() throws {
    let scene = try Scene { $0.homeAssistant.isOn = false }
    try scene.bridge.announce(Agent.living, .home, at: 1)
    #expect(try scene.publish().isEmpty)
    #expect(try scene.rows.isEmpty)
  }

  @Test("Nothing is announced again after a restart, nor after what changes in a router's state")
  func unchanged() throws {
    let scene = try Scene()
    try scene.bridge.announce(Agent.living, .home, at: 1, ["name": "a"])
    try scene.publish()
    try scene.restart()
    #expect(try scene.publish().isEmpty)
    try scene.bridge.announce(Agent.living, .guest, at: 1, ["name": "a"])
    try scene.bridge.say(.heartbeat, Agent.living)
    try scene.bridge.say(.offline, Agent.living)
    try scene.bridge.announce(Agent.living, .home, at: 5)
    #expect(try scene.publish().isEmpty)
  }

  @Test("Another name, vendor or model is announced once, also when it changes often")
  func renamed() throws {
    let scene = try Scene()
    for number in 0..<20 {
      try scene.bridge.announce(Agent.living, .home, at: 1, ["name": "Name \(number)"])
    }
    #expect(try scene.publish().filter { $0.topic == Scene.topic(Agent.living) }.count == 1)
    try scene.bridge.announce(Agent.living, .home, at: 1, ["vendor": "ACME"])
    let sent = try scene.publish()
    #expect(sent.map(\.topic) == [Scene.topic(Agent.living)])
    #expect((sent.first?.object["device"] as? [String: Any])?["manufacturer"] as? String == "ACME")
  }

  @Test("An upgrade announces all of them again, once")
  func upgraded() throws {
    let scene = try Scene()
    try scene.bridge.announce(Agent.living, .home, at: 1)
    try scene.publish()
    try scene.restart { $0.version = "next" }
    let sent = try scene.publish()
    #expect(sent.map(\.topic) == [Scene.bridgeTopic, Scene.topic(Agent.living)])
    try scene.restart()
    #expect(try scene.publish().isEmpty)
  }

  @Test("A store that was written before discovery announces its routers at the first start")
  func olderStore() throws {
    let scene = try Scene { $0.homeAssistant.isOn = false }
    try scene.bridge.announce(Agent.living, .home, at: 1)
    try scene.publish()
    try scene.restart { $0.homeAssistant.isOn = true }
    #expect(try scene.publish().map(\.topic) == [Scene.bridgeTopic, Scene.topic(Agent.living)])
  }

  @Test(
    "500 routers: one message for each device, also when everything is published again at the start"
  )
  func many() throws {
    let scene = try Scene()
    for number in 0..<500 {
      try scene.bridge.announce(Fleet.agent(number), .home, at: 1, ["name": "Router \(number)"])
    }
    scene.outbox.republishAll()
    let sent = try scene.publish()
    #expect(sent.count == 501)
    #expect(sent.first?.topic == Scene.bridgeTopic)
    #expect(scene.counts.values.allSatisfy { $0 == 1 })
    // A broker that has forgotten everything gets each of them once more.
    scene.forgetCounts()
    scene.outbox.restart()
    scene.outbox.republishAll()
    #expect(try scene.publish().count == 501)
    #expect(scene.counts.values.allSatisfy { $0 == 1 })
    scene.forgetCounts()
    try scene.restart()
    #expect(try scene.publish().isEmpty)
  }

  @Test(
    "A broker that forgets what it has just acknowledged, before that is written, gets it again")
  func forgottenAtOnce() throws {
    let scene = try Scene()
    try scene.bridge.announce(Agent.living, .home, at: 1)
    try scene.send()
    scene.outbox.restart()
    scene.outbox.republishAll()
    #expect(try scene.publish().count == 2)
    #expect(try scene.rows.allSatisfy { $0.due == nil })
    #expect(try scene.publish().isEmpty)
  }

  @Test("The same while a transaction is about to write it, however short ago it was sent")
  func forgottenWhileWritten() throws {
    let scene = try Scene(pause: 5)
    try scene.bridge.announce(Agent.living, .home, at: 1)
    try scene.send()
    let results = scene.outbox.deviceResults
    #expect(!results.isEmpty)
    scene.outbox.restart()
    scene.outbox.republishAll()
    let sent = try scene.send().map(\.topic)
    try scene.bridge.database.write { try results.write($0) }
    scene.outbox.forget(results)
    #expect(sent == [Scene.bridgeTopic, Scene.topic(Agent.living)])
    try scene.tick()
    #expect(try scene.rows.allSatisfy { $0.due == nil })
    scene.bridge.clock.advance(seconds: 60)
    #expect(try scene.publish().isEmpty)
  }

  @Test("A walk meanwhile written in steps sends none of them twice")
  func walkInSteps() throws {
    let scene = try Scene()
    for number in 0..<70 { try scene.bridge.announce(Fleet.agent(number), .home, at: 1) }
    scene.outbox.republishAll()
    var topics: [String] = []
    while case let publications = try scene.outbox.next(7), !publications.isEmpty {
      for publication in publications {
        if publication.topic.contains("/device/") { topics.append(publication.topic) }
        scene.outbox.acknowledge(publication.token)
      }
      try scene.tick()
    }
    #expect(topics.count == 71)
    #expect(Set(topics).count == 71)
  }

  @Test("Everything again: devices, then who is there, then the states")
  func order() throws {
    let scene = try Scene()
    try scene.bridge.announce(Agent.living, .home, at: 1)
    try scene.bridge.announce(Agent.attic, .guest, at: 1)
    try scene.publish()
    let outbox = scene.outbox
    outbox.republishAll(withPresence: true)
    let topics = try outbox.drain().map(\.topic)
    func kind(_ topic: String) -> Int {
      topic.contains("/device/")
        ? 0 : topic.hasSuffix("/availability") || topic.hasSuffix("/bridge/state") ? 1 : 2
    }
    #expect(topics.map(kind) == topics.map(kind).sorted())
    #expect(topics.first == Scene.bridgeTopic)
    #expect(Set(topics).count == topics.count)
    #expect(topics.contains("threadkeeper/bridge/state"))
    #expect(topics.filter { kind($0) == 0 }.count == 3)
    #expect(topics.filter { kind($0) == 1 }.count == 3)
  }

  @Test(
    "What a lost connection did not acknowledge is sent again, the rest is not", arguments: 1...5)
  func lostConnection(taken: Int) throws {
    let scene = try Scene()
    for number in 0..<4 { try scene.bridge.announce(Fleet.agent(number), .home, at: 1) }
    let first = try scene.outbox.next(5)
    for publication in first.prefix(taken) { scene.outbox.acknowledge(publication.token) }
    scene.outbox.restart()
    let again = try scene.publish().map(\.topic)
    #expect(again == first.dropFirst(taken).map(\.topic))
  }

  @Test("A daemon that is killed before it could write announces again, and forgets nothing")
  func killed() throws {
    let scene = try Scene()
    try scene.bridge.announce(Agent.living, .home, at: 1)
    try scene.send()
    try scene.restart()
    #expect(try scene.publish().count == 2)
    try scene.restart()
    #expect(try scene.publish().isEmpty)
  }

  @Test("Several homes have devices of their own")
  func homes() throws {
    let scene = try Scene {
      $0.topics = BaseTopics([
        .init(name: "home", base: "threadkeeper"), .init(name: "cabin", base: "lets/cabin"),
      ])
    }
    try scene.bridge.announce(Agent.living, .home, at: 1)
    try scene.bridge.announce(Agent.living, .home, at: 1, base: "lets/cabin")
    let cabin = "homeassistant/device/threadkeeper/threadkeeper_lets-2fcabin"
    #expect(
      Set(try scene.publish().map(\.topic)) == [
        Scene.bridgeTopic, Scene.topic(Agent.living), "\(cabin)/config",
        "\(cabin)_\(Agent.living)/config",
      ])
  }

  @Test("A router that is only seen on the local network is a device, also while it is away")
  func seenOnly() throws {
    let scene = try Scene { $0.discoversRouters = true }
    try scene.bridge.discover(Advert())
    let topic = Scene.topic(Agent.garage)
    let device = try #require(try scene.publish().last { $0.topic == topic })
    let facts = try #require(device.object["device"] as? [String: Any])
    #expect(facts["name"] as? String == "Kitchen")
    #expect(facts["manufacturer"] as? String == "Acme")
    #expect(facts["model"] as? String == "BR-2")
    #expect(facts["via_device"] as? String == "threadkeeper_threadkeeper")
    try scene.bridge.discover()
    try scene.bridge.pass(60)
    #expect(try scene.publish().isEmpty)
    try scene.restart()
    #expect(try scene.publish().isEmpty)
    #expect(scene.retained[topic] != nil)
    // Of what nobody reports of it there is no entity.
    func entities() throws -> Set<String> {
      let payload = Data(try #require(scene.retained[topic]))
      let object = try JSONSerialization.jsonObject(with: payload) as? [String: Any]
      let components = try #require(object?["components"] as? [String: [String: Any]])
      return Set(components.filter { $0.value["unique_id"] != nil }.keys)
    }
    #expect(try entities() == ["connectivity", "mismatch", "network_name", "ext_pan_id"])
    // A login announces it, and it is the same device, with all entities.
    try scene.bridge.announce(Agent.garage, .home, at: 1)
    try scene.publish()
    #expect(try entities().count == 8)
    #expect(scene.retained.keys.filter { $0.contains(Agent.garage) } == [topic])
  }

  @Test("With discovery on the local network off, the devices of those that were only seen go")
  func seenNoMore() throws {
    let scene = try Scene { $0.discoversRouters = true }
    try scene.bridge.discover(Advert())
    try scene.publish()
    try scene.restart { $0.discoversRouters = false }
    try scene.publish()
    #expect(Set(scene.retained.keys) == [Scene.bridgeTopic])
  }

  @Test("No device holds a secret")
  func secrecy() throws {
    let scene = try Scene()
    try scene.bridge.announce(Agent.living, .home, at: 1)
    for publication in try scene.publish() {
      let text = String(decoding: publication.payload, as: UTF8.self)
      #expect(!text.contains(SampleNetwork.home.networkKey.prefix(8)))
      #expect(!text.contains(SampleNetwork.home.pskc.prefix(8)))
      #expect(!text.contains(SampleNetwork.home.extendedPANID))
    }
  }
}

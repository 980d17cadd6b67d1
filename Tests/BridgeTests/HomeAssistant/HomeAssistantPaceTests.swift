// SPDX-License-Identifier: Apache-2.0

import Broker
import TestKit
import Testing

@testable import Bridge

@Suite("How often and in which order devices of Home Assistant are published")
struct HomeAssistantPaceTests {
  typealias Scene = HomeAssistantScene
  private static let living = Scene.topic(Agent.living)

  private func name(_ scene: Scene) throws -> String? {
    let payload = try #require(scene.retained[Self.living])
    let device = Publication(topic: "", payload: payload).object["device"] as? [String: Any]
    return device?["name"] as? String
  }

  @Test("A name that changes every second is published every five, and at last as it is")
  func flapping() throws {
    let scene = try Scene(pause: 5)
    for second in 0..<20 {
      try scene.bridge.announce(Agent.living, .home, at: 1, ["name": "Name \(second)"])
      try scene.publish()
      scene.bridge.clock.advance(seconds: 1)
    }
    #expect(scene.counts[Self.living] == 4)
    scene.bridge.clock.advance(seconds: 5)
    try scene.publish()
    #expect(try name(scene) == "Name 19")
    #expect(scene.counts[Self.living] == 5)
    scene.bridge.clock.advance(seconds: 60)
    #expect(try scene.publish().isEmpty)
  }

  @Test("A router that leaves and comes back again and again is published every five seconds, too")
  func leavingAgain() throws {
    let scene = try Scene(pause: 5)
    for _ in 0..<10 {
      try scene.bridge.announce(Agent.living, .home, at: 1)
      try scene.publish()
      scene.bridge.clock.advance(seconds: 1)
      try scene.bridge.say(.leave, Agent.living)
      try scene.publish()
      scene.bridge.clock.advance(seconds: 1)
    }
    #expect(try #require(scene.counts[Self.living]) <= 5)
    scene.bridge.clock.advance(seconds: 5)
    try scene.publish()
    #expect(scene.retained.keys.map { $0 } == [Scene.bridgeTopic])
    #expect(try scene.rows.count == 1)
  }

  @Test("Others do not wait for one that is held back, nor does a clock that was set back hold it")
  func others() throws {
    let scene = try Scene(pause: 5)
    try scene.bridge.announce(Agent.living, .home, at: 1, ["name": "a"])
    try scene.publish()
    try scene.bridge.announce(Agent.living, .home, at: 1, ["name": "b"])
    try scene.bridge.announce(Agent.attic, .home, at: 1)
    #expect(try scene.publish().map(\.topic) == [Scene.topic(Agent.attic)])
    scene.bridge.clock.jump(seconds: -3_600)
    try scene.publish()
    #expect(try name(scene) == "b")
  }

  @Test("A device goes after the event that its router left, for which it has an entity")
  func eventFirst() throws {
    for limit in [1, 2, 20] {
      let scene = try Scene()
      for agent in [Agent.living, Agent.attic] { try scene.bridge.announce(agent, .home, at: 1) }
      try scene.publish()
      for agent in [Agent.living, Agent.attic] { try scene.bridge.say(.leave, agent) }
      let sent = try scene.outbox.drain(limit)
      for agent in [Agent.living, Agent.attic] {
        let event = try #require(
          sent.firstIndex {
            $0.topic == "threadkeeper/router/\(agent)/event"
              && $0.object["event_type"] as? String == "router_left"
          })
        let removal = try #require(
          sent.firstIndex { $0.topic == Scene.topic(agent) && $0.payload.isEmpty })
        #expect(event < removal)
      }
    }
  }

  @Test(
    "Behind many that are refused, what is to be removed has its turn, a part of them at a time")
  func refused() throws {
    let scene = try Scene()
    try scene.bridge.announce(Agent.living, .home, at: 1)
    try scene.publish()
    for number in 0..<600 { try scene.bridge.announce(Fleet.agent(number), .home, at: 1) }
    scene.refuses = { $0.topic.contains("/device/") && !$0.payload.isEmpty }
    try scene.publish()
    try scene.bridge.say(.leave, Agent.living)
    var sent: [Publication] = []
    for _ in 0..<4 { sent += try scene.publish() }
    #expect(sent.map(\.topic) == [Self.living])
    #expect(scene.retained[Self.living] == nil)
  }
}

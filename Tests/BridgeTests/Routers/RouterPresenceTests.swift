// SPDX-License-Identifier: Apache-2.0

import Broker
import TestKit
import Testing
import ThreadDataset

@testable import Bridge

@Suite("Whether a border router is there")
struct RouterPresenceTests {
  let bridge: TestBridge

  init() throws { bridge = try TestBridge() }

  @Test("Being out of reach is not leaving")
  func presence() throws {
    try bridge.announce(Agent.living, .home, at: 1)
    _ = try bridge.takeEvents()
    try bridge.say(.offline, Agent.living)
    #expect(try bridge.router(Agent.living)?.isOnline == false)
    #expect(try bridge.network(.home)?.online == 0)
    #expect(try bridge.network(.home)?.routers == 1)
    #expect(try bridge.credential(Agent.living) != nil)
    #expect(try bridge.takeNames().isEmpty)
    try bridge.say(.offline, Agent.living)
    #expect(try bridge.takeEvents().isEmpty)
    try bridge.say(.heartbeat, Agent.living)
    #expect(try bridge.router(Agent.living)?.isOnline == true)
    #expect(try bridge.network(.home)?.online == 1)
    let back = try bridge.takeEvents().filter { !$0.types.isEmpty }
    #expect(back.map(\.types) == [.routerOnline], "it reports that it is back")
    #expect(back.first?.detail.message?.hasSuffix(" is back") == true)
    try bridge.say(.heartbeat, Agent.living)
    #expect(try bridge.takeNames().isEmpty)
  }

  @Test("An announcement brings a router back into reach")
  func announceIsPresence() throws {
    try bridge.announce(Agent.living, .home, at: 1)
    try bridge.say(.offline, Agent.living)
    try bridge.say(.announce, Agent.living)
    #expect(try bridge.router(Agent.living)?.isOnline == true)
    #expect(try bridge.network(.home)?.online == 1)
  }

  @Test("A router that sends heartbeats is out of reach when it falls silent, another one is not")
  func silence() throws {
    try bridge.announce(Agent.living, .home, at: 1)
    try bridge.announce(Agent.attic, .home, at: 1)
    try bridge.say(.heartbeat, Agent.living)
    try bridge.pass(300)
    #expect(try bridge.router(Agent.living)?.isOnline == true)
    for _ in 0..<2 { try bridge.pass(1) }
    #expect(try bridge.router(Agent.living)?.isOnline == false)
    #expect(try bridge.router(Agent.attic)?.isOnline == true)
    #expect(try bridge.network(.home)?.online == 1)
    try bridge.say(.heartbeat, Agent.living)
    for _ in 0..<4 {
      for _ in 0..<2 { try bridge.pass(100) }
      try bridge.say(.heartbeat, Agent.living)
    }
    #expect(try bridge.router(Agent.living)?.isOnline == true)
  }

  @Test("With a limit of 0 no router counts as silent")
  func noSilence() throws {
    bridge.configuration.offlineAfter = 0
    try bridge.announce(Agent.living, .home, at: 1)
    try bridge.say(.heartbeat, Agent.living)
    for _ in 0..<3 { try bridge.pass(1_000_000) }
    #expect(try bridge.router(Agent.living)?.isOnline == true)
  }

  @Test(
    "A router that has not announced itself is asked to",
    arguments: [InboundEventKind.heartbeat, .offline])
  func unknownRouter(kind: InboundEventKind) throws {
    #expect(try bridge.say(kind, Agent.living).rejected == ["not_found": 1])
    try bridge.announce(Agent.living, .home, at: 1, ["seq": 1])
    try bridge.say(.leave, Agent.living, ["seq": 2])
    #expect(try bridge.say(kind, Agent.living, ["seq": 3]).rejected == ["not_found": 1])
  }
}

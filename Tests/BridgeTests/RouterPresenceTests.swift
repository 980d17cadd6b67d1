// SPDX-License-Identifier: Apache-2.0

import BridgeProtocol
import TestKit
import Testing
import ThreadDataset

@testable import Bridge

@Suite("Whether a border router is there")
struct RouterPresenceTests {
  let keeper: Keeper

  init() throws { keeper = try Keeper() }

  @Test("Being out of reach is not leaving")
  func presence() throws {
    try keeper.announce(Agent.living, .home, at: 1)
    _ = try keeper.takeEvents()
    try keeper.say(.offline, Agent.living)
    #expect(try keeper.router(Agent.living)?.isOnline == false)
    #expect(try keeper.network(.home)?.online == 0)
    #expect(try keeper.network(.home)?.routers == 1)
    #expect(try keeper.credential(Agent.living) != nil)
    #expect(try keeper.takeNames().isEmpty)
    try keeper.say(.offline, Agent.living)
    #expect(try keeper.takeEvents().isEmpty)
    try keeper.say(.heartbeat, Agent.living)
    #expect(try keeper.router(Agent.living)?.isOnline == true)
    #expect(try keeper.network(.home)?.online == 1)
  }

  @Test("An announcement brings a router back into reach")
  func announceIsPresence() throws {
    try keeper.announce(Agent.living, .home, at: 1)
    try keeper.say(.offline, Agent.living)
    try keeper.say(.announce, Agent.living)
    #expect(try keeper.router(Agent.living)?.isOnline == true)
    #expect(try keeper.network(.home)?.online == 1)
  }

  @Test("A router that sends heartbeats is out of reach when it falls silent, another one is not")
  func silence() throws {
    try keeper.announce(Agent.living, .home, at: 1)
    try keeper.announce(Agent.attic, .home, at: 1)
    try keeper.say(.heartbeat, Agent.living)
    try keeper.pass(300)
    #expect(try keeper.router(Agent.living)?.isOnline == true)
    for _ in 0..<2 { try keeper.pass(1) }
    #expect(try keeper.router(Agent.living)?.isOnline == false)
    #expect(try keeper.router(Agent.attic)?.isOnline == true)
    #expect(try keeper.network(.home)?.online == 1)
    try keeper.say(.heartbeat, Agent.living)
    for _ in 0..<4 {
      for _ in 0..<2 { try keeper.pass(100) }
      try keeper.say(.heartbeat, Agent.living)
    }
    #expect(try keeper.router(Agent.living)?.isOnline == true)
  }

  @Test("With a limit of 0 nobody is taken for silent")
  func noSilence() throws {
    keeper.configuration.offlineAfter = 0
    try keeper.announce(Agent.living, .home, at: 1)
    try keeper.say(.heartbeat, Agent.living)
    for _ in 0..<3 { try keeper.pass(1_000_000) }
    #expect(try keeper.router(Agent.living)?.isOnline == true)
  }

  @Test(
    "Who has not announced itself is told to do so",
    arguments: [InboundEventKind.heartbeat, .offline])
  func unknownRouter(kind: InboundEventKind) throws {
    #expect(try keeper.say(kind, Agent.living).rejected == ["not_found": 1])
    try keeper.announce(Agent.living, .home, at: 1, ["seq": 1])
    try keeper.say(.leave, Agent.living, ["seq": 2])
    #expect(try keeper.say(kind, Agent.living, ["seq": 3]).rejected == ["not_found": 1])
  }
}

// SPDX-License-Identifier: Apache-2.0

import Broker
import TestKit
import Testing

@testable import Bridge

@Suite("What follows from the removal of an id")
struct OwnershipEffectsTests {
  let bridge: TestBridge

  init() throws {
    bridge = try TestBridge()
    try bridge.announce(Agent.attic, .home, at: 5, user: "hub")
  }

  @Test("A removed id loses its owner only after its router is off the list")
  func removal() throws {
    _ = try bridge.transaction { transaction in
      let home = try transaction.context.home(named: "home").record
      let (removed, effects) = try transaction.context.ownership.remove(
        agent(Agent.attic), in: home)
      #expect(removed.hadCredentials)
      guard effects.count == 3, case .checkKeys(let checked) = effects[0],
        case .unlist(let router, _) = effects[1], case .delete(let id) = effects[2]
      else {
        Issue.record("\(effects)")
        return
      }
      #expect(checked == home.id && router.agent == id.agent && id.team == "hub")
      #expect(try transaction.context.store.team(of: id.agent, in: "home", transaction.tx) == "hub")
      try transaction.apply(effects)
      #expect(try transaction.context.store.team(of: id.agent, in: "home", transaction.tx) == nil)
    }
    #expect(try bridge.router(Agent.attic) == nil)
  }
}

// SPDX-License-Identifier: Apache-2.0

import BridgeProtocol
import TestKit
import Testing

@testable import Bridge

@Suite("What follows from a change of ownership")
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
      let (change, effects) = try transaction.context.ownership.remove(agent(Agent.attic), in: home)
      #expect(change.wasListed && change.hadCredentials)
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

  @Test("A released router stays listed, and its adoption ends with the change of its row")
  func release() throws {
    _ = try bridge.transaction { transaction in
      let home = try transaction.context.home(named: "home").record
      let (_, effects) = try transaction.context.ownership.release(agent(Agent.attic), in: home)
      guard effects.count == 2, case .router(let change) = effects[1] else {
        Issue.record("\(effects)")
        return
      }
      #expect(change.endsAdoption && change.trigger == "released")
      #expect(change.router.credential == .missing && change.router.network == nil)
      try transaction.apply(effects)
    }
    #expect(try bridge.router(Agent.attic)?.isPresent == true)
  }

  @Test("A transfer to the owner has no effects")
  func transferToOwner() throws {
    _ = try bridge.transaction { transaction in
      let home = try transaction.context.home(named: "home").record
      let (change, effects) = try transaction.context.ownership.transfer(
        agent(Agent.attic), to: "hub", logins: ["hub"], in: home)
      #expect(!change.isChange && effects.isEmpty)
    }
  }
}

// SPDX-License-Identifier: Apache-2.0

import Broker
import TestKit
import Testing
import ThreadDataset

@testable import Bridge

@Suite("Removal of a border agent id")
struct RemovedIDTests {
  let bridge: TestBridge

  init() throws {
    bridge = try TestBridge()
    try bridge.announce(Agent.attic, .home, at: 5, user: "hub")
    try bridge.announce(Agent.living, .guest, at: 1, user: "anna")
    _ = try bridge.takeEvents()
  }

  private func recount(_ comment: Comment) throws {
    try Recount(bridge: bridge, comment: comment).check()
  }

  @Test("A removed router is published as left, its alerts resolve, and nothing of it is stored")
  func remove() throws {
    try bridge.pass(30)
    #expect(try bridge.firing().contains("PreferredNetworkMismatch \(Agent.living)"))
    _ = try bridge.takeEvents()
    #expect(try bridge.remove(Agent.living) == RemovedID(team: "anna", hadCredentials: true))
    let left = try #require(try bridge.takeEvents().first { $0.types.contains(.routerLeft) })
    #expect(left.router == (try agent(Agent.living)) && left.detail.reason == "removed")
    #expect(try bridge.router(Agent.living) == nil)
    #expect(try bridge.owner(Agent.living) == nil)
    #expect(try bridge.credential(Agent.living) == nil)
    #expect(try bridge.network(.guest) == nil)
    #expect(try !bridge.firing().contains { $0.contains(Agent.living) })
    #expect(try !bridge.firing().contains("PlaintextCredentials anna"))
    try recount("after the removal")
    #expect(try bridge.announce(Agent.living, .guest, at: 1, user: "bert").rejected.isEmpty)
    #expect(try bridge.owner(Agent.living) == "bert")
    #expect(
      try bridge.announce(Agent.living, .guest, at: 2, user: "anna").rejected
        == ["not_authorized": 1])
    try recount("after the announcement")
  }

  @Test("The id of a router that left can be removed, also one whose numbers are remembered")
  func removeAfterLeave() throws {
    try bridge.say(.heartbeat, Agent.living, user: "anna", ["seq": 7])
    try bridge.say(.leave, Agent.living, user: "anna", ["seq": 8])
    #expect(try bridge.router(Agent.living)?.isPresent == false)
    _ = try bridge.takeEvents()
    try bridge.remove(Agent.living)
    #expect(try bridge.takeEvents().isEmpty)
    #expect(try bridge.router(Agent.living) == nil)
    #expect(try bridge.owner(Agent.living) == nil)
  }

  @Test("Removal of the last member leaves the preferred network as it is")
  func removeLastMember() throws {
    let preferred = try bridge.preferred()
    try bridge.remove(Agent.attic)
    #expect(try bridge.preferred() == preferred)
    let left = try #require(try bridge.takeEvents().first { $0.types.contains(.routerLeft) })
    #expect(left.detail.message?.contains("stays preferred") == true)
    try recount("after the removal")
  }

  @Test("An unknown id is refused")
  func unknown() throws {
    #expect(throws: OwnershipFailure.unknownID) { try bridge.remove(Agent.garage) }
    try bridge.say(.announce, Agent.garage, user: "anna")
    #expect(try bridge.remove(Agent.garage).team == nil)
  }

  @Test("A damaged dataset is removed like any other")
  func damagedDataset() throws {
    try bridge.damageCredential(of: Agent.living)
    #expect(try bridge.remove(Agent.living).team == "anna")
    #expect(try bridge.owner(Agent.living) == nil)
    #expect(try bridge.announce(Agent.living, .guest, at: 1, user: "carol").rejected.isEmpty)
  }

  @Test("Where the owner cannot be read, a removal makes room")
  func damagedOwner() throws {
    try bridge.damageCredential(of: Agent.living, .metadata)
    #expect(try bridge.remove(Agent.living).isDamaged)
    #expect(try bridge.announce(Agent.living, .guest, at: 1, user: "bert").rejected.isEmpty)
    #expect(try bridge.owner(Agent.living) == "bert")
    try recount("after the announcement")
  }

  @Test("Where there are several homes, the command in a rejection names the home")
  func severalHomes() throws {
    let bridge = try TestBridge(homes: [
      .init(name: "home", base: "threadkeeper"), .init(name: "cabin", base: "cabin"),
    ])
    try bridge.announce(Agent.living, .home, at: 1, user: "anna", base: "cabin")
    _ = try bridge.takeEvents()
    try bridge.announce(Agent.living, .home, at: 2, user: "bert", base: "cabin")
    let message = try #require(try bridge.takeEvents().first?.detail.message)
    #expect(message.contains("`threadkeeper routers remove \(Agent.living) --home cabin`"))
    #expect(throws: OwnershipFailure.unknownID) { try bridge.remove(Agent.living) }
    try bridge.remove(Agent.living, home: "cabin")
  }

  @Test("A removal is in the audit, with the team and who made it")
  func audit() throws {
    try bridge.remove(Agent.living)
    var lines: [String] = []
    try bridge.temporary.keychain.forEachAuditRecord { record in
      guard record.actor == "test" else { return }
      lines += record.lines.filter { $0.action == .routerRemoved }.map(\.subject)
    }
    #expect(lines == ["\(Agent.living) home home from anna"])
  }

  @Test("A refused login is answered with the command that frees the id, ready to be pasted")
  func advice() throws {
    try bridge.announce(Agent.living, .guest, at: 2, user: "bert")
    let message = try #require(try bridge.takeEvents().first?.detail.message)
    #expect(message.contains("`threadkeeper routers remove \(Agent.living)`"))
    #expect(!message.contains("anna"))
  }
}

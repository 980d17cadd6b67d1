// SPDX-License-Identifier: Apache-2.0

import BridgeProtocol
import TestKit
import Testing
import ThreadDataset

@testable import Bridge

@Suite("Transfer, release and removal of a border agent id")
struct OwnershipChangeTests {
  let bridge: TestBridge

  init() throws {
    bridge = try TestBridge(teams: ["anton": "family", "alma": "family"])
    try bridge.announce(Agent.attic, .home, at: 5, user: "hub")
    try bridge.announce(Agent.living, .guest, at: 1, user: "anna")
    _ = try bridge.takeEvents()
  }

  private func recount(_ comment: Comment) throws {
    try Recount(bridge: bridge, comment: comment).check()
  }

  @Test("After a transfer the new team's login is accepted, and the previous one's is refused")
  func transfer() throws {
    let change = try bridge.transfer(Agent.living, to: "bert")
    #expect(change.previousTeam == "anna" && change.team == "bert" && change.hadCredentials)
    #expect(change.isChange && !change.isTeamKnown)
    #expect(try bridge.router(Agent.living)?.user == "bert")
    try recount("after the transfer")
    #expect(try bridge.say(.heartbeat, Agent.living, user: "bert").rejected.isEmpty)
    #expect(try bridge.announce(Agent.living, .guest, at: 2, user: "bert").rejected.isEmpty)
    #expect(
      try bridge.announce(Agent.living, .guest, at: 3, user: "anna").rejected
        == ["not_authorized": 1])
    #expect(try bridge.credential(Agent.living)?.team == "bert")
    #expect(
      try bridge.credential(Agent.living)?.dataset == (try SampleNetwork.guest.dataset(at: 2)))
    try recount("after the announcement")
  }

  @Test("A transferred id stays with its new team when the router leaves, and after a restart")
  func transferThenLeave() throws {
    try bridge.say(.leave, Agent.living, user: "anna")
    try bridge.transfer(Agent.living, to: "bert")
    #expect(try bridge.owner(Agent.living) == "bert")
    try bridge.restart()
    #expect(
      try bridge.announce(Agent.living, .guest, at: 2, user: "anna").rejected
        == ["not_authorized": 1])
    #expect(try bridge.announce(Agent.living, .guest, at: 2, user: "bert").rejected.isEmpty)
    try bridge.say(.leave, Agent.living, user: "bert")
    #expect(try bridge.owner(Agent.living) == "bert")
  }

  @Test("A transfer to the owner changes nothing")
  func transferToOwner() throws {
    #expect(try !bridge.transfer(Agent.living, to: "anna").isChange)
    #expect(try bridge.takeEvents().isEmpty)
  }

  @Test("An id that no team owns yet can be reserved for a team")
  func transferOfUnowned() throws {
    try bridge.say(.announce, Agent.garage, user: "anna")
    let change = try bridge.transfer(Agent.garage, to: "bert")
    #expect(change.previousTeam == nil && !change.hadCredentials)
    #expect(
      try bridge.announce(Agent.garage, .home, at: 5, user: "anna").rejected
        == ["not_authorized": 1])
    #expect(try bridge.announce(Agent.garage, .home, at: 5, user: "bert").rejected.isEmpty)
  }

  @Test("The login stays when it speaks for the new team, else it is the new team's first one")
  func loginAfterTransfer() throws {
    try bridge.announce(Agent.garage, .home, at: 5, user: "anton")
    try bridge.transfer(Agent.garage, to: "family", logins: ["alma", "anton"])
    #expect(try bridge.router(Agent.garage)?.user == "anton")
    try bridge.transfer(Agent.living, to: "family", logins: ["alma", "anton"])
    #expect(try bridge.router(Agent.living)?.user == "alma")
    #expect(try bridge.say(.heartbeat, Agent.living, user: "anton").rejected.isEmpty)
  }

  @Test("A released id is listed without credentials, and the next team that announces it owns it")
  func release() throws {
    let change = try bridge.release(Agent.living)
    #expect(change.previousTeam == "anna" && change.team == nil && change.hadCredentials)
    #expect(try bridge.owner(Agent.living) == nil)
    let router = try #require(try bridge.router(Agent.living))
    #expect(router.isPresent && router.credential == .missing && router.network == nil)
    try recount("after the release")
    #expect(try bridge.announce(Agent.living, .guest, at: 1, user: "bert").rejected.isEmpty)
    #expect(try bridge.owner(Agent.living) == "bert")
    #expect(
      try bridge.announce(Agent.living, .guest, at: 2, user: "anna").rejected
        == ["not_authorized": 1])
    try recount("after the announcement")
  }

  @Test("An id of a router that left can be released")
  func releaseAfterLeave() throws {
    try bridge.say(.leave, Agent.living, user: "anna")
    #expect(try !bridge.release(Agent.living).hadCredentials)
    #expect(try bridge.announce(Agent.living, .guest, at: 1, user: "bert").rejected.isEmpty)
  }

  @Test("A removed router is published as left, its alerts resolve, and nothing of it is stored")
  func remove() throws {
    try bridge.pass(30)
    #expect(try bridge.firing().contains("PreferredNetworkMismatch \(Agent.living)"))
    _ = try bridge.takeEvents()
    let change = try bridge.remove(Agent.living)
    #expect(change.wasListed && change.hadCredentials)
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

  @Test("An unknown id is refused, and so is the release of one that no team owns")
  func unknown() throws {
    #expect(throws: OwnershipFailure.unknownID) { try bridge.transfer(Agent.garage, to: "bert") }
    #expect(throws: OwnershipFailure.unknownID) { try bridge.release(Agent.garage) }
    #expect(throws: OwnershipFailure.unknownID) { try bridge.remove(Agent.garage) }
    try bridge.say(.announce, Agent.garage, user: "anna")
    #expect(throws: OwnershipFailure.unownedID) { try bridge.release(Agent.garage) }
    #expect(try bridge.remove(Agent.garage).previousTeam == nil)
    try bridge.release(Agent.living)
    #expect(throws: OwnershipFailure.unownedID) { try bridge.release(Agent.living) }
  }

  @Test("A damaged dataset is transferred unopened, and released or removed like any other")
  func damagedDataset() throws {
    try bridge.damageCredential(of: Agent.living)
    #expect(try bridge.transfer(Agent.living, to: "bert").previousTeam == "anna")
    #expect(try bridge.owner(Agent.living) == "bert")
    try bridge.release(Agent.living)
    #expect(try bridge.announce(Agent.living, .guest, at: 1, user: "carol").rejected.isEmpty)
    try bridge.damageCredential(of: Agent.living)
    try bridge.remove(Agent.living)
    #expect(try bridge.owner(Agent.living) == nil)
  }

  @Test("Where the owner cannot be read, a transfer is refused, and a release makes room")
  func damagedOwner() throws {
    try bridge.damageCredential(of: Agent.living, .metadata)
    #expect(throws: OwnershipFailure.damaged) { try bridge.transfer(Agent.living, to: "bert") }
    #expect(try bridge.release(Agent.living).isDamaged)
    #expect(try bridge.announce(Agent.living, .guest, at: 1, user: "bert").rejected.isEmpty)
    #expect(try bridge.owner(Agent.living) == "bert")
    try recount("after the announcement")
  }

  @Test("Where there are several homes, the commands in a rejection name the home")
  func severalHomes() throws {
    let bridge = try TestBridge(homes: [
      .init(name: "home", base: "threadkeeper"), .init(name: "cabin", base: "cabin"),
    ])
    try bridge.announce(Agent.living, .home, at: 1, user: "anna", base: "cabin")
    _ = try bridge.takeEvents()
    try bridge.announce(Agent.living, .home, at: 2, user: "bert", base: "cabin")
    let message = try #require(try bridge.takeEvents().first?.detail.message)
    #expect(message.contains("transfer \(Agent.living) bert --home cabin`"))
    try bridge.transfer(Agent.living, to: "bert", home: "cabin")
    #expect(throws: OwnershipFailure.unknownID) { try bridge.release(Agent.living) }
  }

  @Test("Each change is in the audit, with the teams and who made it")
  func audit() throws {
    try bridge.transfer(Agent.living, to: "bert")
    try bridge.release(Agent.living)
    try bridge.remove(Agent.living)
    var lines: [String] = []
    try bridge.temporary.keychain.forEachAuditRecord { record in
      guard record.actor == "test" else { return }
      lines += record.lines.filter { $0.action.rawValue >= 50 }.map { "\($0.action) \($0.subject)" }
    }
    #expect(
      lines == [
        "routerTransferred \(Agent.living) home home from anna to bert",
        "routerReleased \(Agent.living) home home from bert",
        "routerRemoved \(Agent.living) home home from nobody",
      ])
  }

  @Test("A refused login is answered with the commands that give it the id, ready to be pasted")
  func advice() throws {
    try bridge.announce(Agent.living, .guest, at: 2, user: "bert")
    let message = try #require(try bridge.takeEvents().first?.detail.message)
    #expect(message.contains("`threadkeeper routers transfer \(Agent.living) bert`"))
    #expect(message.contains("`threadkeeper routers release \(Agent.living)`"))
    #expect(!message.contains("into one team") && !message.contains("anna"))
    // A login must not put a command of its own into what is pasted.
    try bridge.announce(Agent.living, .guest, at: 2, user: "x; reboot")
    let other = try #require(try bridge.takeEvents().first?.detail.message)
    #expect(other.contains("`threadkeeper routers transfer \(Agent.living) TEAM`"))
    #expect(!other.contains("reboot"))
  }
}

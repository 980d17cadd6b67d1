// SPDX-License-Identifier: Apache-2.0

import BridgeProtocol
import TestKit
import Testing
import ThreadDataset

@testable import Bridge

@Suite("Transfer, release and removal of a border agent id")
struct OwnershipChangeTests {
  let keeper: Keeper

  init() throws {
    keeper = try Keeper(teams: ["anton": "family", "alma": "family"])
    try keeper.announce(Agent.attic, .home, at: 5, user: "hub")
    try keeper.announce(Agent.living, .guest, at: 1, user: "anna")
    _ = try keeper.takeEvents()
  }

  private func recount(_ comment: Comment) throws {
    try Recount(keeper: keeper, comment: comment).check()
  }

  @Test("After a transfer the new team's login is accepted, and the previous one's is refused")
  func transfer() throws {
    let change = try keeper.transfer(Agent.living, to: "bert")
    #expect(change.previousTeam == "anna" && change.team == "bert" && change.hadCredentials)
    #expect(change.isChange && !change.isTeamKnown)
    #expect(try keeper.router(Agent.living)?.user == "bert")
    try recount("after the transfer")
    #expect(try keeper.say(.heartbeat, Agent.living, user: "bert").rejected.isEmpty)
    #expect(try keeper.announce(Agent.living, .guest, at: 2, user: "bert").rejected.isEmpty)
    #expect(
      try keeper.announce(Agent.living, .guest, at: 3, user: "anna").rejected
        == ["not_authorized": 1])
    #expect(try keeper.credential(Agent.living)?.team == "bert")
    #expect(
      try keeper.credential(Agent.living)?.dataset == (try SampleNetwork.guest.dataset(at: 2)))
    try recount("after the announcement")
  }

  @Test("A transferred id stays with its new team when the router leaves, and after a restart")
  func transferThenLeave() throws {
    try keeper.say(.leave, Agent.living, user: "anna")
    try keeper.transfer(Agent.living, to: "bert")
    #expect(try keeper.owner(Agent.living) == "bert")
    try keeper.restart()
    #expect(
      try keeper.announce(Agent.living, .guest, at: 2, user: "anna").rejected
        == ["not_authorized": 1])
    #expect(try keeper.announce(Agent.living, .guest, at: 2, user: "bert").rejected.isEmpty)
    try keeper.say(.leave, Agent.living, user: "bert")
    #expect(try keeper.owner(Agent.living) == "bert")
  }

  @Test("A transfer to the owner changes nothing")
  func transferToOwner() throws {
    #expect(try !keeper.transfer(Agent.living, to: "anna").isChange)
    #expect(try keeper.takeEvents().isEmpty)
  }

  @Test("An id that nobody owns yet can be reserved for a team")
  func transferOfUnowned() throws {
    try keeper.say(.announce, Agent.garage, user: "anna")
    let change = try keeper.transfer(Agent.garage, to: "bert")
    #expect(change.previousTeam == nil && !change.hadCredentials)
    #expect(
      try keeper.announce(Agent.garage, .home, at: 5, user: "anna").rejected
        == ["not_authorized": 1])
    #expect(try keeper.announce(Agent.garage, .home, at: 5, user: "bert").rejected.isEmpty)
  }

  @Test("The login stays when it speaks for the new team, else it is the new team's first one")
  func loginAfterTransfer() throws {
    try keeper.announce(Agent.garage, .home, at: 5, user: "anton")
    try keeper.transfer(Agent.garage, to: "family", logins: ["alma", "anton"])
    #expect(try keeper.router(Agent.garage)?.user == "anton")
    try keeper.transfer(Agent.living, to: "family", logins: ["alma", "anton"])
    #expect(try keeper.router(Agent.living)?.user == "alma")
    #expect(try keeper.say(.heartbeat, Agent.living, user: "anton").rejected.isEmpty)
  }

  @Test("A released id is listed without credentials, and the next team that announces it owns it")
  func release() throws {
    let change = try keeper.release(Agent.living)
    #expect(change.previousTeam == "anna" && change.team == nil && change.hadCredentials)
    #expect(try keeper.owner(Agent.living) == nil)
    let router = try #require(try keeper.router(Agent.living))
    #expect(router.isPresent && router.credential == .missing && router.network == nil)
    try recount("after the release")
    #expect(try keeper.announce(Agent.living, .guest, at: 1, user: "bert").rejected.isEmpty)
    #expect(try keeper.owner(Agent.living) == "bert")
    #expect(
      try keeper.announce(Agent.living, .guest, at: 2, user: "anna").rejected
        == ["not_authorized": 1])
    try recount("after the announcement")
  }

  @Test("An id of a router that left can be released")
  func releaseAfterLeave() throws {
    try keeper.say(.leave, Agent.living, user: "anna")
    #expect(try !keeper.release(Agent.living).hadCredentials)
    #expect(try keeper.announce(Agent.living, .guest, at: 1, user: "bert").rejected.isEmpty)
  }

  @Test("A removed router is published as left, its alerts resolve, and nothing of it is stored")
  func remove() throws {
    try keeper.pass(30)
    #expect(try keeper.firing().contains("PreferredNetworkMismatch \(Agent.living)"))
    _ = try keeper.takeEvents()
    let change = try keeper.remove(Agent.living)
    #expect(change.wasListed && change.hadCredentials)
    let left = try #require(try keeper.takeEvents().first { $0.types.contains(.routerLeft) })
    #expect(left.router == (try agent(Agent.living)) && left.detail.reason == "removed")
    #expect(try keeper.router(Agent.living) == nil)
    #expect(try keeper.owner(Agent.living) == nil)
    #expect(try keeper.credential(Agent.living) == nil)
    #expect(try keeper.network(.guest) == nil)
    #expect(try !keeper.firing().contains { $0.contains(Agent.living) })
    #expect(try !keeper.firing().contains("PlaintextCredentials anna"))
    try recount("after the removal")
    #expect(try keeper.announce(Agent.living, .guest, at: 1, user: "bert").rejected.isEmpty)
    #expect(try keeper.owner(Agent.living) == "bert")
  }

  @Test("The id of a router that left can be removed, also one whose numbers are remembered")
  func removeAfterLeave() throws {
    try keeper.say(.heartbeat, Agent.living, user: "anna", ["seq": 7])
    try keeper.say(.leave, Agent.living, user: "anna", ["seq": 8])
    #expect(try keeper.router(Agent.living)?.isPresent == false)
    _ = try keeper.takeEvents()
    try keeper.remove(Agent.living)
    #expect(try keeper.takeEvents().isEmpty)
    #expect(try keeper.router(Agent.living) == nil)
    #expect(try keeper.owner(Agent.living) == nil)
  }

  @Test("Removal of the last member leaves the preferred network as it is")
  func removeLastMember() throws {
    let preferred = try keeper.preferred()
    try keeper.remove(Agent.attic)
    #expect(try keeper.preferred() == preferred)
    let left = try #require(try keeper.takeEvents().first { $0.types.contains(.routerLeft) })
    #expect(left.detail.message?.contains("stays preferred") == true)
    try recount("after the removal")
  }

  @Test("An unknown id is refused, and so is the release of one that nobody owns")
  func unknown() throws {
    #expect(throws: OwnershipFailure.unknownID) { try keeper.transfer(Agent.garage, to: "bert") }
    #expect(throws: OwnershipFailure.unknownID) { try keeper.release(Agent.garage) }
    #expect(throws: OwnershipFailure.unknownID) { try keeper.remove(Agent.garage) }
    try keeper.say(.announce, Agent.garage, user: "anna")
    #expect(throws: OwnershipFailure.unownedID) { try keeper.release(Agent.garage) }
    #expect(try keeper.remove(Agent.garage).previousTeam == nil)
    try keeper.release(Agent.living)
    #expect(throws: OwnershipFailure.unownedID) { try keeper.release(Agent.living) }
  }

  @Test("A damaged dataset is transferred unopened, and released or removed like any other")
  func damagedDataset() throws {
    try keeper.damageCredential(of: Agent.living)
    #expect(try keeper.transfer(Agent.living, to: "bert").previousTeam == "anna")
    #expect(try keeper.owner(Agent.living) == "bert")
    try keeper.release(Agent.living)
    #expect(try keeper.announce(Agent.living, .guest, at: 1, user: "carol").rejected.isEmpty)
    try keeper.damageCredential(of: Agent.living)
    try keeper.remove(Agent.living)
    #expect(try keeper.owner(Agent.living) == nil)
  }

  @Test("Where the owner cannot be read, a transfer is refused, and a release makes room")
  func damagedOwner() throws {
    try keeper.damageCredential(of: Agent.living, .metadata)
    #expect(throws: OwnershipFailure.damaged) { try keeper.transfer(Agent.living, to: "bert") }
    #expect(try keeper.release(Agent.living).isDamaged)
    #expect(try keeper.announce(Agent.living, .guest, at: 1, user: "bert").rejected.isEmpty)
    #expect(try keeper.owner(Agent.living) == "bert")
    try recount("after the announcement")
  }

  @Test("Where there are several homes, the commands in a rejection name the home")
  func severalHomes() throws {
    let keeper = try Keeper(homes: [
      .init(name: "home", base: "threadkeeper"), .init(name: "cabin", base: "cabin"),
    ])
    try keeper.announce(Agent.living, .home, at: 1, user: "anna", base: "cabin")
    _ = try keeper.takeEvents()
    try keeper.announce(Agent.living, .home, at: 2, user: "bert", base: "cabin")
    let message = try #require(try keeper.takeEvents().first?.detail.message)
    #expect(message.contains("transfer \(Agent.living) bert --home cabin`"))
    try keeper.transfer(Agent.living, to: "bert", home: "cabin")
    #expect(throws: OwnershipFailure.unknownID) { try keeper.release(Agent.living) }
  }

  @Test("Each change is in the audit, with the teams and who made it")
  func audit() throws {
    try keeper.transfer(Agent.living, to: "bert")
    try keeper.release(Agent.living)
    try keeper.remove(Agent.living)
    var lines: [String] = []
    try keeper.temporary.keychain.forEachAuditRecord { record in
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

  @Test("A refused login is told the commands that give it the id, ready to be pasted")
  func advice() throws {
    try keeper.announce(Agent.living, .guest, at: 2, user: "bert")
    let message = try #require(try keeper.takeEvents().first?.detail.message)
    #expect(message.contains("`threadkeeper routers transfer \(Agent.living) bert`"))
    #expect(message.contains("`threadkeeper routers release \(Agent.living)`"))
    #expect(!message.contains("into one team") && !message.contains("anna"))
    // A login must not put a command of its own into what is pasted.
    try keeper.announce(Agent.living, .guest, at: 2, user: "x; reboot")
    let other = try #require(try keeper.takeEvents().first?.detail.message)
    #expect(other.contains("`threadkeeper routers transfer \(Agent.living) TEAM`"))
    #expect(!other.contains("reboot"))
  }
}

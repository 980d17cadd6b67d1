// SPDX-License-Identifier: Apache-2.0

import BridgeProtocol
import TestKit
import Testing
import ThreadCredentialStore
import ThreadDataset

@testable import Bridge

@Suite("New keys of the preferred network, and damaged credentials that name it")
struct DamagedMemberTests {
  let keeper: Keeper
  let home = SampleNetwork.home
  let rekeyed = SampleNetwork.home.with { $0.networkKey = "000102030405060708090a0b0c0d0e0f" }

  init() throws {
    keeper = try Keeper()
    try keeper.announce(Agent.living, home, at: 1)
  }

  private var dispute: AlertRecord? {
    get throws { try keeper.alert(.preferredKeyDisputed) }
  }

  @Test(
    "A damaged credential of the only other member does not let a new key pass unconfirmed",
    arguments: Keeper.DamagedColumn.allCases)
  func onlyOther(column: Keeper.DamagedColumn) throws {
    try keeper.announce(Agent.attic, home, at: 1, ["name": "Attic"])
    try keeper.damageCredential(of: Agent.attic, column)
    try keeper.announce(Agent.living, rekeyed, at: 2)
    #expect(try keeper.preferred() == home.dataset(at: 1))
    let facts = try #require(try dispute).facts
    #expect(
      facts.summary.hasSuffix(
        "; the credentials stored for \(column == .secret ? "Attic" : "an unknown border router") "
          + "are damaged, so their keys are not known"))
    // A restart, and saying it again, change nothing.
    try keeper.restart()
    try keeper.announce(Agent.living, rekeyed, at: 2)
    try keeper.pass(30)
    #expect(try keeper.preferred() == home.dataset(at: 1) && dispute?.phase == .firing)
  }

  @Test(
    "A request of the broker meets the same dispute", arguments: Keeper.DamagedColumn.allCases)
  func request(column: Keeper.DamagedColumn) throws {
    try keeper.announce(Agent.attic, home, at: 1)
    try keeper.damageCredential(of: Agent.attic, column)
    _ = try keeper.storeCredentials(Agent.living, rekeyed, at: 2)
    #expect(try keeper.credential(Agent.living)?.dataset == rekeyed.dataset(at: 2))
    #expect(try keeper.preferred() == home.dataset(at: 1) && dispute != nil)
  }

  @Test(
    "A damaged credential of another or an unknown team asks for a second team's word",
    arguments: Keeper.DamagedColumn.allCases)
  func teams(column: Keeper.DamagedColumn) throws {
    try keeper.announce(Agent.attic, home, at: 1)
    try keeper.announce(Agent.garage, home, at: 1, user: "bert")
    try keeper.damageCredential(of: Agent.garage, column)
    try keeper.announce(Agent.living, rekeyed, at: 2)
    try keeper.announce(Agent.attic, rekeyed, at: 2)
    #expect(try keeper.preferred() == home.dataset(at: 1) && dispute?.phase == .held)
  }

  @Test("A damaged credential of the same team leaves a second member's word as it is")
  func sameTeam() throws {
    try keeper.announce(Agent.attic, home, at: 1)
    try keeper.announce(Agent.garage, home, at: 1)
    try keeper.damageCredential(of: Agent.garage)
    try keeper.announce(Agent.living, rekeyed, at: 2)
    try keeper.announce(Agent.attic, rekeyed, at: 2)
    #expect(try keeper.preferred() == rekeyed.dataset(at: 2) && dispute == nil)
  }

  @Test("Damaged credentials of another network are no hindrance")
  func otherNetwork() throws {
    for column in Keeper.DamagedColumn.allCases {
      let agent = column == .secret ? Agent.attic : Agent.garage
      try keeper.announce(agent, .guest, at: 1, user: "bert")
      try keeper.damageCredential(of: agent, column)
    }
    try keeper.announce(Agent.living, rekeyed, at: 2)
    #expect(try keeper.preferred() == rekeyed.dataset(at: 2) && dispute == nil)
  }

  @Test("The dispute ends when the damaged credential is deleted: the claimant is the only member")
  func deleted() throws {
    try keeper.announce(Agent.attic, home, at: 1)
    try keeper.damageCredential(of: Agent.attic)
    try keeper.announce(Agent.living, rekeyed, at: 2)
    #expect(try keeper.removeCredential(of: Agent.attic))
    #expect(try keeper.preferred() == rekeyed.dataset(at: 2) && dispute == nil)
  }
}

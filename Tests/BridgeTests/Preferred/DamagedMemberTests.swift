// SPDX-License-Identifier: Apache-2.0

import Broker
import TestKit
import Testing
import ThreadCredentialStore
import ThreadDataset

@testable import Bridge

@Suite("New keys of the preferred network, and damaged credentials that name it")
struct DamagedMemberTests {
  let bridge: TestBridge
  let home = SampleNetwork.home
  let rekeyed = SampleNetwork.home.with { $0.networkKey = "000102030405060708090a0b0c0d0e0f" }

  init() throws {
    bridge = try TestBridge()
    try bridge.announce(Agent.living, home, at: 1)
  }

  private var dispute: AlertRecord? {
    get throws { try bridge.alert(.preferredKeyDisputed) }
  }

  @Test(
    "A damaged credential of the only other member does not let a new key pass unconfirmed",
    arguments: TestBridge.DamagedColumn.allCases)
  func onlyOther(column: TestBridge.DamagedColumn) throws {
    try bridge.announce(Agent.attic, home, at: 1, ["name": "Attic"])
    try bridge.damageCredential(of: Agent.attic, column)
    try bridge.announce(Agent.living, rekeyed, at: 2)
    #expect(try bridge.preferred() == home.dataset(at: 1))
    let facts = try #require(try dispute).facts
    #expect(
      facts.summary.hasSuffix(
        "; the credentials stored for \(column == .secret ? "\"Attic\"" : "an unknown border router") "
          + "are damaged, so their keys are not known"))
    // A restart, and saying it again, change nothing.
    try bridge.restart()
    try bridge.announce(Agent.living, rekeyed, at: 2)
    try bridge.pass(30)
    #expect(try bridge.preferred() == home.dataset(at: 1) && dispute?.phase == .firing)
  }

  @Test(
    "A request of the broker meets the same dispute", arguments: TestBridge.DamagedColumn.allCases)
  func request(column: TestBridge.DamagedColumn) throws {
    try bridge.announce(Agent.attic, home, at: 1)
    try bridge.damageCredential(of: Agent.attic, column)
    _ = try bridge.storeCredentials(Agent.living, rekeyed, at: 2)
    #expect(try bridge.credential(Agent.living)?.dataset == rekeyed.dataset(at: 2))
    #expect(try bridge.preferred() == home.dataset(at: 1) && dispute != nil)
  }

  @Test(
    "A damaged credential of another or an unknown team asks for a second team's word",
    arguments: TestBridge.DamagedColumn.allCases)
  func teams(column: TestBridge.DamagedColumn) throws {
    try bridge.announce(Agent.attic, home, at: 1)
    try bridge.announce(Agent.garage, home, at: 1, user: "bert")
    try bridge.damageCredential(of: Agent.garage, column)
    try bridge.announce(Agent.living, rekeyed, at: 2)
    try bridge.announce(Agent.attic, rekeyed, at: 2)
    #expect(try bridge.preferred() == home.dataset(at: 1) && dispute?.phase == .held)
  }

  @Test("A damaged credential of the same team leaves a second member's word as it is")
  func sameTeam() throws {
    try bridge.announce(Agent.attic, home, at: 1)
    try bridge.announce(Agent.garage, home, at: 1)
    try bridge.damageCredential(of: Agent.garage)
    try bridge.announce(Agent.living, rekeyed, at: 2)
    try bridge.announce(Agent.attic, rekeyed, at: 2)
    #expect(try bridge.preferred() == rekeyed.dataset(at: 2) && dispute == nil)
  }

  @Test("Damaged credentials of another network are no hindrance")
  func otherNetwork() throws {
    for column in TestBridge.DamagedColumn.allCases {
      let agent = column == .secret ? Agent.attic : Agent.garage
      try bridge.announce(agent, .guest, at: 1, user: "bert")
      try bridge.damageCredential(of: agent, column)
    }
    try bridge.announce(Agent.living, rekeyed, at: 2)
    #expect(try bridge.preferred() == rekeyed.dataset(at: 2) && dispute == nil)
  }

  @Test("The dispute ends when the damaged credential is deleted: the claimant is the only member")
  func deleted() throws {
    try bridge.announce(Agent.attic, home, at: 1)
    try bridge.damageCredential(of: Agent.attic)
    try bridge.announce(Agent.living, rekeyed, at: 2)
    #expect(try bridge.removeCredential(of: Agent.attic))
    #expect(try bridge.preferred() == rekeyed.dataset(at: 2) && dispute == nil)
  }
}

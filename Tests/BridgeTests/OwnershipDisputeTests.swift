// SPDX-License-Identifier: Apache-2.0

import BridgeProtocol
import TestKit
import Testing
import ThreadDataset

@testable import Bridge

/// Two routers of one team report new keys, which a router of another team keeps in dispute.
@Suite("An open dispute of keys, when a border agent id changes hands or goes")
struct OwnershipDisputeTests {
  enum Change: CaseIterable, Sendable {
    case transfer, release, remove
  }

  let keeper: Keeper
  let home = SampleNetwork.home
  let rekeyed = SampleNetwork.home.with { $0.networkKey = "000102030405060708090a0b0c0d0e0f" }

  init() throws {
    keeper = try Keeper()
    for agent in [Agent.living, Agent.attic] { try keeper.announce(agent, home, at: 1) }
  }

  private var dispute: AlertRecord? {
    get throws { try keeper.alert(.preferredKeyDisputed) }
  }

  private func claim() throws {
    for agent in [Agent.living, Agent.attic] { try keeper.announce(agent, rekeyed, at: 2) }
    #expect(try keeper.preferred() == home.dataset(at: 1) && dispute?.phase == .held)
  }

  private func apply(_ change: Change) throws {
    switch change {
    case .transfer: try keeper.transfer(Agent.garage, to: "anna")
    case .release: try keeper.release(Agent.garage)
    case .remove: try keeper.remove(Agent.garage)
    }
  }

  @Test(
    "It is looked at again, also where no router has announced itself under the id",
    arguments: Change.allCases, [true, false])
  func changed(change: Change, isListed: Bool) throws {
    if isListed {
      try keeper.announce(Agent.garage, home, at: 1, user: "bert")
    } else {
      _ = try keeper.storeCredentials(Agent.garage, home, at: 1, user: "bert")
      #expect(try keeper.router(Agent.garage)?.isPresent != true)
    }
    #expect(try keeper.credential(Agent.garage)?.followsPreferred == true)
    try claim()
    try apply(change)
    #expect(try keeper.preferred() == rekeyed.dataset(at: 2) && dispute == nil)
    for agent in [Agent.living, Agent.attic] {
      #expect(try keeper.router(agent)?.preferred == "match")
    }
  }

  @Test(
    "It is looked at again after damaged credentials were released or removed",
    arguments: [Change.release, .remove], Keeper.DamagedColumn.allCases)
  func damaged(change: Change, column: Keeper.DamagedColumn) throws {
    _ = try keeper.storeCredentials(Agent.garage, home, at: 1, user: "bert")
    try keeper.damageCredential(of: Agent.garage, column)
    try claim()
    try apply(change)
    #expect(try keeper.preferred() == rekeyed.dataset(at: 2) && dispute == nil)
  }
}

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

  let bridge: TestBridge
  let home = SampleNetwork.home
  let rekeyed = SampleNetwork.home.with { $0.networkKey = "000102030405060708090a0b0c0d0e0f" }

  init() throws {
    bridge = try TestBridge()
    for agent in [Agent.living, Agent.attic] { try bridge.announce(agent, home, at: 1) }
  }

  private var dispute: AlertRecord? {
    get throws { try bridge.alert(.preferredKeyDisputed) }
  }

  private func claim() throws {
    for agent in [Agent.living, Agent.attic] { try bridge.announce(agent, rekeyed, at: 2) }
    #expect(try bridge.preferred() == home.dataset(at: 1) && dispute?.phase == .held)
  }

  private func apply(_ change: Change) throws {
    switch change {
    case .transfer: try bridge.transfer(Agent.garage, to: "anna")
    case .release: try bridge.release(Agent.garage)
    case .remove: try bridge.remove(Agent.garage)
    }
  }

  @Test(
    "It is looked at again, also where no router has announced itself under the id",
    arguments: Change.allCases, [true, false])
  func changed(change: Change, isListed: Bool) throws {
    if isListed {
      try bridge.announce(Agent.garage, home, at: 1, user: "bert")
    } else {
      _ = try bridge.storeCredentials(Agent.garage, home, at: 1, user: "bert")
      #expect(try bridge.router(Agent.garage)?.isPresent != true)
    }
    #expect(try bridge.credential(Agent.garage)?.followsPreferred == true)
    try claim()
    try apply(change)
    #expect(try bridge.preferred() == rekeyed.dataset(at: 2) && dispute == nil)
    for agent in [Agent.living, Agent.attic] {
      #expect(try bridge.router(agent)?.preferred == "match")
    }
  }

  @Test(
    "It is looked at again after damaged credentials were released or removed",
    arguments: [Change.release, .remove], TestBridge.DamagedColumn.allCases)
  func damaged(change: Change, column: TestBridge.DamagedColumn) throws {
    _ = try bridge.storeCredentials(Agent.garage, home, at: 1, user: "bert")
    try bridge.damageCredential(of: Agent.garage, column)
    try claim()
    try apply(change)
    #expect(try bridge.preferred() == rekeyed.dataset(at: 2) && dispute == nil)
  }
}

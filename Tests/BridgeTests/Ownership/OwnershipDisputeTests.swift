// SPDX-License-Identifier: Apache-2.0

import Broker
import TestKit
import Testing
import ThreadDataset

@testable import Bridge

/// Two routers of one team report new keys, which a router of another team keeps in dispute.
@Suite("An open dispute of keys, when a border agent id is removed")
struct OwnershipDisputeTests {
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

  @Test(
    "It is looked at again, also where no router has announced itself under the id",
    arguments: [true, false])
  func changed(isListed: Bool) throws {
    if isListed {
      try bridge.announce(Agent.garage, home, at: 1, user: "bert")
    } else {
      _ = try bridge.storeCredentials(Agent.garage, home, at: 1, user: "bert")
      #expect(try bridge.router(Agent.garage)?.isPresent != true)
    }
    #expect(try bridge.credential(Agent.garage)?.followsPreferred == true)
    try claim()
    try bridge.remove(Agent.garage)
    #expect(try bridge.preferred() == rekeyed.dataset(at: 2) && dispute == nil)
    for agent in [Agent.living, Agent.attic] {
      #expect(try bridge.router(agent)?.preferred == "match")
    }
  }

  @Test(
    "It is looked at again after damaged credentials were removed",
    arguments: TestBridge.DamagedColumn.allCases)
  func damaged(column: TestBridge.DamagedColumn) throws {
    _ = try bridge.storeCredentials(Agent.garage, home, at: 1, user: "bert")
    try bridge.damageCredential(of: Agent.garage, column)
    try claim()
    try bridge.remove(Agent.garage)
    #expect(try bridge.preferred() == rekeyed.dataset(at: 2) && dispute == nil)
  }
}

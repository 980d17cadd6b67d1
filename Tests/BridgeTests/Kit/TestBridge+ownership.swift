// SPDX-License-Identifier: Apache-2.0

import ThreadDataset

@testable import Bridge

extension TestBridge {
  var ownership: OwnershipService { OwnershipService(runner()) }

  @discardableResult
  func transfer(
    _ agent: String, to team: String, logins: [String]? = nil, home: String = "home"
  ) throws -> OwnershipChange {
    try ownership.transfer(
      BridgeTests.agent(agent), in: home, to: team, logins: logins ?? [team], by: "test")
  }

  @discardableResult
  func release(_ agent: String, home: String = "home") throws -> OwnershipChange {
    try ownership.release(BridgeTests.agent(agent), in: home, by: "test")
  }

  @discardableResult
  func remove(_ agent: String, home: String = "home") throws -> OwnershipChange {
    try ownership.remove(BridgeTests.agent(agent), in: home, by: "test")
  }

  func owner(_ agent: String, home: String = "home") throws -> String? {
    try database.read { try store.owner(of: BridgeTests.agent(agent), in: home, $0) }
  }
}

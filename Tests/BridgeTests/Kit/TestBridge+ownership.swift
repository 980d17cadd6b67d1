// SPDX-License-Identifier: Apache-2.0

import ThreadDataset

@testable import Bridge

extension TestBridge {
  var ownership: OwnershipService { OwnershipService(runner()) }

  @discardableResult
  func remove(_ agent: String, home: String = "home") throws -> RemovedID {
    try ownership.remove(BridgeTests.agent(agent), in: home, by: "test")
  }

  func owner(_ agent: String, home: String = "home") throws -> String? {
    try database.read { try store.owner(of: BridgeTests.agent(agent), in: home, $0) }
  }
}

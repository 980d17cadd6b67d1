// SPDX-License-Identifier: Apache-2.0

import Broker
import KeychainCore
import TestKit
import Testing
import ThreadCredentialStore
import ThreadDataset

@testable import Bridge

@Suite("A damaged file is not taken for one damaged item")
struct DamagedFileTests {
  let bridge: TestBridge

  init() throws {
    bridge = try TestBridge()
    try bridge.announce(Agent.living, .home, at: 1)
    try DamagedPage.root(of: "items", in: bridge.temporary.location.databasePath)
  }

  private func expectDamagedFile(
    _ sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> Void
  ) throws {
    let error = try #require(throws: KeychainError.self, sourceLocation: sourceLocation) {
      try body()
    }
    #expect(error.isFileDamaged && StoreFailure.stopsAll(error), sourceLocation: sourceLocation)
  }

  @Test("The preferred network is neither there nor missing, and is not replaced or forgotten")
  func preferred() throws {
    try expectDamagedFile {
      _ = try bridge.database.read { try bridge.store.hasPreferredNetwork(in: "home", $0) }
    }
    try expectDamagedFile {
      _ = try bridge.database.write {
        try bridge.store.replacePreferredNetwork(
          of: "home", to: SampleNetwork.guest.dataset(at: 1), $0)
      }
    }
    try expectDamagedFile {
      _ = try bridge.database.write { try bridge.store.forgetPreferredNetwork(of: "home", $0) }
    }
  }

  @Test("The owner of a border agent id is not removed")
  func ownership() throws {
    try expectDamagedFile { try bridge.remove(Agent.living) }
  }
}

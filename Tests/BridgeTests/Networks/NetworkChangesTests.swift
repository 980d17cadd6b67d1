// SPDX-License-Identifier: Apache-2.0

import TestKit
import Testing
import ThreadDataset

@testable import Bridge

@Suite("Networks of a batch")
struct NetworkChangesTests {
  let bridge: TestBridge
  let dataset: OperationalDataset
  let network: ExtendedPANID

  init() throws {
    bridge = try TestBridge()
    dataset = try SampleNetwork.guest.dataset(at: 3)
    network = try #require(dataset.extendedPANID)
  }

  private func effects(
    of changes: NetworkChanges, preferred: OperationalDataset? = nil
  ) throws -> [(network: NetworkRecord, isGone: Bool)] {
    try bridge.database.read { tx in
      try changes.effects(preferred: { _ in preferred }, tx).map {
        guard case .network(let network, home: 1, let isGone) = $0 else {
          throw LedgerError(table: "network", column: "home")
        }
        return (network, isGone)
      }
    }
  }

  @Test("However many routers of a network report in a batch, it is written once")
  func once() throws {
    var changes = NetworkChanges()
    for isOnline in [true, false] {
      changes.note(
        home: 1, from: nil, to: NetworkContribution(network: network, isOnline: isOnline),
        dataset: dataset)
    }
    #expect(changes.routersChange(of: network, home: 1) == 2)
    let effects = try effects(of: changes)
    #expect(effects.count == 1)
    let first = try #require(effects.first)
    #expect(first.network.routers == 2 && first.network.online == 1 && !first.isGone)
    #expect(first.network.name == dataset.networkName)
  }

  @Test("A network without routers goes, unless it is the preferred one")
  func gone() throws {
    var changes = NetworkChanges()
    changes.note(
      home: 1, from: NetworkContribution(network: network, isOnline: true), to: nil, dataset: nil)
    #expect(try effects(of: changes).map(\.isGone) == [true])
    #expect(try effects(of: changes, preferred: dataset).map(\.isGone) == [false])
  }
}

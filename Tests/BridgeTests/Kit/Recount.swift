// SPDX-License-Identifier: Apache-2.0

import Broker
import SQLiteDatabase
import Testing
import ThreadCredentialStore
import ThreadDataset

@testable import Bridge

/// What must hold between the tables after any transaction, counted from the rows themselves.
struct Recount {
  let bridge: TestBridge
  let comment: Comment

  func check(sourceLocation: SourceLocation = #_sourceLocation) throws {
    for home in try bridge.database.read({ try HomeLedger.all($0) }) {
      let routers = try bridge.database.read {
        try RouterLedger.page(home: home.id, after: 0, limit: 1_000_000, $0)
      }
      #expect(home.routers == routers.count, comment, sourceLocation: sourceLocation)
      try networks(home, routers, sourceLocation)
      for router in routers { try check(router, home, sourceLocation) }
      try alerts(home, routers, sourceLocation)
    }
  }

  private func networks(
    _ home: HomeRecord, _ routers: [RouterRecord], _ sourceLocation: SourceLocation
  ) throws {
    var expected: [ExtendedPANID: (routers: Int, online: Int)] = [:]
    for router in routers {
      guard let network = router.network else { continue }
      expected[network, default: (0, 0)].routers += 1
      expected[network, default: (0, 0)].online += router.isOnline ? 1 : 0
    }
    if let preferred = home.preferred { expected[preferred, default: (0, 0)].routers += 0 }
    let stored = try bridge.database.read { try NetworkLedger.all(home: home.id, $0) }
    #expect(
      Set(stored.map(\.network)) == Set(expected.keys), comment, sourceLocation: sourceLocation)
    for network in stored {
      let counted = expected[network.network]
      #expect(network.routers == counted?.routers, comment, sourceLocation: sourceLocation)
      #expect(network.online == counted?.online, comment, sourceLocation: sourceLocation)
      let isReported = routers.contains { $0.network == network.network && $0.source == .mqtt }
      #expect(!network.name.isEmpty || !isReported, comment, sourceLocation: sourceLocation)
    }
  }

  /// The row against what is under the seal.
  private func check(
    _ router: RouterRecord, _ home: HomeRecord, _ sourceLocation: SourceLocation
  ) throws {
    let (credential, preferred) = try bridge.database.read {
      (
        try bridge.store.credential(of: router.agent, in: home.name, $0),
        try bridge.store.preferredNetwork(of: home.name, $0)
      )
    }
    if router.source == .mqtt || credential != nil {
      #expect(
        router.network == credential?.dataset.extendedPANID, comment,
        sourceLocation: sourceLocation)
    }
    #expect(
      (router.credential == .missing) == (credential == nil), comment,
      sourceLocation: sourceLocation)
    #expect(home.preferred == preferred?.extendedPANID, comment, sourceLocation: sourceLocation)
    #expect(home.preferredName == preferred?.networkName, comment, sourceLocation: sourceLocation)
    guard let credential else { return }
    #expect(
      router.activeSeconds == credential.dataset.activeTimestamp?.seconds, comment,
      sourceLocation: sourceLocation)
    // While the walk is under way, a row may still show what was true before.
    guard home.reevaluateAfter == nil else { return }
    let check = PreferredCheck(
      credential.dataset, preferred: preferred,
      current: router.source == .mdns || router.isAgentSilent ? router.currentNetwork : nil)
    #expect(router.preferred == check.name, comment, sourceLocation: sourceLocation)
    if credential.followsPreferred {
      #expect(
        credential.dataset.extendedPANID == preferred?.extendedPANID, comment,
        sourceLocation: sourceLocation)
    }
  }

  private func alerts(
    _ home: HomeRecord, _ routers: [RouterRecord], _ sourceLocation: SourceLocation
  ) throws {
    let active = try bridge.database.read { try AlertLedger.active($0) }
      .filter { $0.home == home.id && AlertName.ofRouters.contains($0.name) }
    var bits: [String: Int64] = [:]
    for alert in active { bits[alert.subject, default: 0] |= 1 << alert.name.number }
    for router in routers {
      let agent = router.agent.description
      #expect(router.alerts == bits[agent] ?? 0, comment, sourceLocation: sourceLocation)
      bits[agent] = nil
    }
    #expect(bits.isEmpty, "alerts of routers that are gone", sourceLocation: sourceLocation)
  }
}

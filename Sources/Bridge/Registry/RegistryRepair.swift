// SPDX-License-Identifier: Apache-2.0

import BridgeProtocol
import KeychainCore
import SQLiteDatabase
import ThreadCredentialStore
import ThreadDataset

/// Makes tables of the registry anew whose pages are damaged. What is sealed is never touched: where one
/// of its tables is damaged as well, only a backup helps.
struct RegistryRepair {
  enum Outcome: Equatable {
    /// The check found no damage.
    case sound
    case madeAnew([String])
    /// Tables that cannot be made anew, and other damaged ones; empty when the list of tables is damaged.
    case unrepairable([String])
  }

  /// What routers announce again, or what follows from their sealed credentials. Not the numbers of
  /// envelopes: without them, what was sealed once would count twice.
  private static let tables: Set = ["router", "network", "alert", "event"]
  /// Ids of events that are not given again: those of rows that cannot be read are not known.
  private static let skippedEvents: Int64 = 1_000_000

  let configuration: BridgeConfiguration
  let store: ThreadCredentialStore

  /// Reads all of the file. Takes as long as that, and writes in one transaction.
  func run(now: WireTime) throws -> Outcome {
    let damaged: [String]
    do {
      damaged = try store.keychain.database.damagedTables()
    } catch  where StoreFailure.isDamage(error) {
      return .unrepairable([])
    }
    guard !damaged.isEmpty else { return .sound }
    guard Self.tables.isSuperset(of: damaged) else { return .unrepairable(damaged) }
    var lost = Set(damaged)
    // Both say something about the rows of routers.
    if lost.contains("router") { lost.formUnion(["network", "alert"]) }
    let tables = lost.sorted()
    // Beside the transaction, which a damaged page would spoil. Rows that change in between are written
    // again by the next message of their router.
    let routers = try readableRouters()
    try store.keychain.database.makeAnew(tables) { tx in
      try fill(lost, routers, now: now, tx)
    }
    return .madeAnew(tables)
  }

  /// Rows of routers from the first to the first damage, and from the last.
  private func readableRouters() throws -> [RouterRecord] {
    var routers: [Int64: RouterRecord] = [:]
    let walks: [StaticString] = [
      "SELECT * FROM router ORDER BY id", "SELECT * FROM router ORDER BY id DESC",
    ]
    for walk in walks {
      do {
        try store.keychain.database.read { tx in
          try tx.forEach(walk, bound: []) { row in
            if let router = try? RouterRecord(row: row) { routers[router.id] = router }
            return true
          }
        }
      } catch let error as SQLiteError where error.kind == .corrupt {
        continue
      }
    }
    return routers.values.sorted { $0.id < $1.id }
  }

  private func fill(
    _ lost: Set<String>, _ routers: [RouterRecord], now: WireTime, _ tx: WriteTransaction
  ) throws {
    if lost.contains("event") {
      let last = try EventLedger.lastID(tx) + Self.skippedEvents
      try EventLedger.setPublished(last, tx)
    }
    try EventLedger.setOwesRepublication(true, tx)
    try tx.execute("UPDATE home SET reevaluate_after = 0")
    if lost.contains("router") {
      try tx.execute("UPDATE home SET routers = 0")
      try RouterLedger.setOwnersCursor(0, tx)
    } else if lost.contains("alert") {
      try tx.execute("UPDATE router SET alerts = 0")
    }
    _ = try TransactionRunner.apply(configuration, store, now: now, tx) { batch in
      try fill(lost, routers, batch)
    }
  }

  private func fill(
    _ lost: Set<String>, _ routers: [RouterRecord], _ batch: BatchApplier
  ) throws {
    if lost.contains("router") {
      try insert(routers, batch)
    } else if lost.contains("network") {
      for router in routers { try countNetwork(of: router, batch) }
    }
    for home in batch.servedHomes {
      home.needsLook = true
      home.needsKeyLook = true
      home.needsMoveLook = true
      if lost.contains("network") { batch.noteNetworkShown(home.record.preferred, in: home) }
    }
    if let home = batch.servedHomes.first {
      try batch.setAlert(.storeDamaged, .storeDamaged(lost.sorted()), in: home)
    }
  }

  /// Puts routers into a table that is new: those that could be read, and those of which credentials
  /// are stored.
  private func insert(_ readable: [RouterRecord], _ batch: BatchApplier) throws {
    var known: [Int64: Set<BorderAgentID>] = [:]
    for router in readable where known[router.home, default: []].insert(router.agent).inserted {
      try insert(router, batch)
    }
    for home in batch.servedHomes {
      let credentials = try store.all(in: home.record.name, of: nil, limit: nil, batch.tx)
      for credential in credentials.readable
      where known[home.record.id, default: []].insert(credential.agent).inserted {
        // Its next message names its login.
        var router = RouterRecord(
          home: home.record.id, agent: credential.agent, user: credential.team, now: batch.now)
        router.credential = .stored
        router.describe(credential.dataset, at: batch.now)
        if credential.followsPreferred { router.memberOf = credential.dataset.extendedPANID }
        try insert(router, batch)
      }
      for agent in credentials.damaged
      where known[home.record.id, default: []].insert(agent).inserted {
        let team = try? store.team(of: agent, in: home.record.name, batch.tx)
        try insert(
          RouterRecord(home: home.record.id, agent: agent, user: team ?? "", now: batch.now), batch)
      }
    }
  }

  private func insert(_ stored: RouterRecord, _ batch: BatchApplier) throws {
    guard let home = try? batch.home(stored.home) else { return }
    var router = stored
    // The walk that follows raises again what still holds.
    router.alerts = 0
    if router.isPresent {
      var record = EventRecord(time: batch.now, home: router.home)
      record.router = router.agent
      router.generation = try batch.append(record)
      batch.noteRouter(in: home, change: 1)
      try countNetwork(of: router, batch)
    }
    try RouterLedger.insert(router, batch.tx)
  }

  private func countNetwork(of router: RouterRecord, _ batch: BatchApplier) throws {
    guard router.isPresent, let home = try? batch.home(router.home) else { return }
    batch.noteNetwork(
      in: home, from: nil, to: router.contribution,
      dataset: try batch.readableDataset(of: router.agent, home: home))
  }
}

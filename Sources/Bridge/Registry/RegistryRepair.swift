// SPDX-License-Identifier: Apache-2.0

import Broker
import KeychainCore
import SQLiteDatabase
import ThreadCredentialStore
import ThreadDataset

/// Creates tables of the registry again whose pages are damaged. What is sealed is never touched: where one
/// of its tables is damaged as well, only a backup helps.
struct RegistryRepair {
  enum Outcome: Equatable {
    /// The check found no damage.
    case sound
    case recreated([String])
    /// Tables that cannot be created again, and other damaged ones; empty when the list of tables is damaged.
    case unrepairable([String])
  }

  /// What routers announce again, or what follows from their sealed credentials; and the accepted networks, whose alerts
  /// come back as infos. Not the numbers of
  /// envelopes: without them, what was sealed once would count twice.
  private static let tables: Set = [
    "router", "network", "alert", "event", "accepted_network", "home_assistant",
  ]
  /// Ids of events that are not given again: those of rows that cannot be read are not known.
  private static let skippedEvents: Int64 = 1_000_000

  let configuration: BridgeConfiguration
  let store: ThreadCredentialStore
  var parts = RequestParts()

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
    try store.keychain.database.recreate(tables) { tx in
      try fill(lost, routers, now: now, tx)
    }
    return .recreated(tables)
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
    try EventLedger.setNeedsRepublish(true, tx)
    try tx.execute("UPDATE home SET reevaluate_after = 0")
    if lost.contains("router") {
      // Routers of the local network come back as those that were there before.
      try tx.execute("UPDATE home SET routers = 0, discovered_since = NULL")
      try RouterLedger.setOwnersCursor(0, tx)
    } else if lost.contains("alert") {
      try tx.execute("UPDATE router SET alerts = 0")
    }
    _ = try TransactionRunner.apply(configuration, store, parts, now: now, tx) { transaction in
      try transaction.apply(effects(lost, routers, transaction.context))
    }
    try HomeAssistantDevices(
      configuration, HomeAssistantQuestions(configuration, store.keychain) { now }
    ).reconcile(tx)
  }

  private func effects(
    _ lost: Set<String>, _ routers: [RouterRecord], _ context: TransactionContext
  ) throws -> [Effect] {
    var effects: [Effect] = []
    if lost.contains("router") {
      effects += try known(routers, context).map { .restore($0) }
    } else if lost.contains("network") {
      effects += routers.map { .countNetwork(of: $0) }
    }
    for home in context.servedHomes.map(\.record) {
      effects.append(.checkHome(home: home.id))
      if lost.contains("network"), let preferred = home.preferred {
        effects.append(.networkShown(preferred, home: home.id))
      }
      // Of the settings, and else set at the start only.
      effects.append(
        .alert(
          .consentByHomeAssistant, configuration.homeAssistant.consentAlert, home: home.id))
    }
    if let home = context.servedHomes.first?.record.id {
      effects.append(.alert(.storeDamaged, .storeDamaged(lost.sorted()), home: home))
    }
    return effects
  }

  /// The routers for a table that is new: those that could be read, and those of which credentials are stored.
  private func known(
    _ readable: [RouterRecord], _ context: TransactionContext
  ) throws -> [RouterRecord] {
    var known: [Int64: Set<BorderAgentID>] = [:]
    var routers = readable.filter { known[$0.home, default: []].insert($0.agent).inserted }
    for home in context.servedHomes.map(\.record) {
      let credentials = try store.all(in: home.name, of: nil, limit: nil, context.tx)
      for credential in credentials.readable
      where known[home.id, default: []].insert(credential.agent).inserted {
        // Its next message names its login.
        var router = RouterRecord(
          home: home.id, agent: credential.agent, user: credential.team, now: context.now)
        router.credential = .stored
        router.describe(credential.dataset, at: context.now)
        if credential.followsPreferred { router.memberOf = credential.dataset.extendedPANID }
        routers.append(router)
      }
      for agent in credentials.damaged
      where known[home.id, default: []].insert(agent).inserted {
        let team = try? store.team(of: agent, in: home.name, context.tx)
        routers.append(
          RouterRecord(home: home.id, agent: agent, user: team ?? "", now: context.now))
      }
    }
    return routers
  }
}

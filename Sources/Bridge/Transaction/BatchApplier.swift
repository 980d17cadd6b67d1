// SPDX-License-Identifier: Apache-2.0

import BridgeProtocol
import KeychainCore
import SQLiteDatabase
import ThreadCredentialStore
import ThreadDataset

/// Applies messages, or what the clock brings, inside one transaction, and lives as long as that: see
/// `TransactionRunner`. Credentials, registry, alerts and events change together or not
/// at all.
final class BatchApplier {
  let configuration: BridgeConfiguration
  let store: ThreadCredentialStore
  let tx: WriteTransaction
  let now: WireTime
  var outcome = TransactionOutcome()
  let sealedEvents: SealedEvents

  private var homes: [String: HomeContext] = [:]
  private var homesByID: [Int64: HomeContext] = [:]
  /// What later messages of the batch build upon.
  var progress: Progress

  struct Progress {
    fileprivate var lastEvent: Int64
    fileprivate var networks = NetworkChanges()
    fileprivate var raisedMismatches: [(home: Int64, agent: BorderAgentID)] = []

    mutating func takeRaisedMismatches() -> [(home: Int64, agent: BorderAgentID)] {
      defer { raisedMismatches.removeAll() }
      return raisedMismatches
    }
  }

  init(
    configuration: BridgeConfiguration, store: ThreadCredentialStore, now: WireTime,
    _ tx: WriteTransaction
  ) throws {
    self.configuration = configuration
    self.store = store
    self.tx = tx
    self.now = now
    sealedEvents = SealedEvents(configuration, now: now, tx)
    progress = Progress(lastEvent: try EventLedger.lastID(tx))
    for record in try HomeLedger.all(tx) {
      let home = HomeContext(record)
      homes[record.name] = home
      homesByID[record.id] = home
    }
  }

  var consents: Consents { Consents(store.keychain, now: now, tx) }

  var adoptions: Adoptions {
    Adoptions(configuration: configuration, store: store, now: now, tx: tx)
  }

  var ownership: Ownership {
    Ownership(configuration: configuration, store: store, now: now, tx: tx)
  }

  var routers: Routers { Routers(configuration: configuration, store: store, now: now, tx: tx) }

  var requests: Requests {
    Requests(
      configuration: configuration, consents: consents, ownership: ownership,
      homes: homes.mapValues(\.record))
  }

  /// The homes that the settings name, for work that is not about one message.
  var servedHomes: [HomeContext] {
    configuration.topics.homes.compactMap { homes[$0.name] }
  }

  func home(named name: String) throws -> HomeContext {
    guard let home = homes[name] else { throw LedgerError(table: "home", column: "name") }
    return home
  }

  func home(_ id: Int64) throws -> HomeContext {
    guard let home = homesByID[id] else { throw LedgerError(table: "home", column: "id") }
    return home
  }

  func preferredNetwork(of home: HomeContext) throws -> OperationalDataset? {
    if let loaded = home.preferred { return loaded }
    do {
      let preferred = try store.preferredNetwork(of: home.record.name, tx)
      home.preferred = .some(preferred)
      return preferred
    } catch let error as KeychainError where error.isItemDamaged {
      throw PreferredNetworkDamaged(home: home.record.name)
    }
  }

  /// The dataset that is stored for a router; none where it is damaged, for work that is not about one
  /// message and must go on with the other routers.
  func readableDataset(of agent: BorderAgentID, home: HomeContext) throws -> OperationalDataset? {
    try readableCredential(of: agent, home: home)?.dataset
  }

  func readableCredential(of agent: BorderAgentID, home: HomeContext) throws -> ThreadCredential? {
    do {
      return try store.credential(of: agent, in: home.record.name, tx)
    } catch let error as KeychainError where error.isItemDamaged {
      return nil
    }
  }

  /// A router has been on another network for as long as its alert is held.
  func noteRaised(_ alert: AlertRecord) {
    guard alert.name == .preferredNetworkMismatch, let agent = BorderAgentID(hex: alert.subject)
    else { return }
    progress.raisedMismatches.append((alert.home, agent))
  }

  func countDuplicate() { outcome.counts.duplicates += 1 }

  /// - Returns: the id that the event got, which is the generation of the states it changes.
  @discardableResult
  func append(_ event: EventRecord) throws -> Int64 {
    progress.lastEvent += 1
    var event = event
    event.id = progress.lastEvent
    try EventLedger.insert(event, tx)
    outcome.counts.events += 1
    outcome.news.add(event)
    return progress.lastEvent
  }

  func noteNetwork(
    in home: HomeContext, from before: NetworkContribution?, to after: NetworkContribution?,
    dataset: OperationalDataset? = nil
  ) {
    progress.networks.note(home: home.record.id, from: before, to: after, dataset: dataset)
  }

  /// Routers on a network, with what this batch has changed of them so far.
  func routers(on network: ExtendedPANID, home: HomeContext) throws -> Int {
    let stored = try NetworkLedger.find(network, home: home.record.id, tx)?.routers ?? 0
    return stored + progress.networks.routersChange(of: network, home: home.record.id)
  }

  /// A router joined or left its home.
  func noteRouter(in home: HomeContext, change: Int) {
    home.routersChange += change
    home.needsLook = true
  }

  func noteNetworkShown(_ network: ExtendedPANID?, in home: HomeContext) {
    if let network { progress.networks.noteShown(network, home: home.record.id) }
  }

  private func followRaisedMismatches() throws {
    guard configuration.adoptTimeout != nil else { return }
    for (home, agent) in progress.takeRaisedMismatches() {
      guard var router = try RouterLedger.find(agent, home: home, tx), router.isPresent,
        router.adoption == nil
      else { continue }
      adoptions.mismatchRaised(&router)
      try RouterLedger.update(router, tx)
    }
  }

  /// What follows from the whole batch: the counts of networks, the alerts of homes.
  func finish() throws {
    try settlePreferred()
    try followRaisedMismatches()
    try apply(progress.networks.effects(preferred: { try preferredNetwork(of: home($0)) }, tx))
    progress.networks = NetworkChanges()
    for home in homes.values where home.needsLook {
      if home.routersChange != 0 {
        try HomeLedger.addRouters(home.routersChange, to: home.record.id, tx)
      }
      try checkPreferredExists(in: home)
    }
    if outcome.counts.forgotten > 0 {
      outcome.news.add(
        .info, "border routers that left are forgotten", ["count": "\(outcome.counts.forgotten)"])
    }
  }
}

// SPDX-License-Identifier: Apache-2.0

import BridgeProtocol
import CredentialService
import KeychainCore
import SQLiteDatabase
import ThreadCredentialStore
import ThreadDataset

/// Brings the registry in line with what an import has written, in its transaction. Routers that never
/// announced themselves to this store stay unknown until they do: of them only the credentials are here.
package struct ImportSettlement: Sendable {
  private let configuration: BridgeConfiguration
  private let store: ThreadCredentialStore
  private let clock: any Clock

  package init(
    _ configuration: BridgeConfiguration, keychain: Keychain, clock: any Clock = SystemClock()
  ) {
    self.configuration = configuration
    store = ThreadCredentialStore(keychain)
    self.clock = clock
  }

  /// The preferred networks of the homes, to be asked for before anything is written. A damaged one is left
  /// out: it cannot be kept.
  package func preferredNetworks(_ tx: ReadTransaction) throws -> [String: OperationalDataset] {
    var found: [String: OperationalDataset] = [:]
    for home in configuration.topics.homes {
      do {
        found[home.name] = try store.preferredNetwork(of: home.name, tx)
      } catch let error as KeychainError where error.isItemDamaged {
        continue
      }
    }
    return found
  }

  /// - Parameter former: the preferred networks before the import; one that it replaces is kept.
  package func settle(
    _ imported: ImportedItems, former: [String: OperationalDataset], _ tx: WriteTransaction
  ) throws {
    // No answer goes out: an import has no request, and its report says the rest.
    _ = try TransactionRunner.apply(configuration, store, now: clock.now(), tx) { batch in
      // The preferred network first: routers are checked against it.
      for record in try HomeLedger.all(tx) {
        let home = try batch.home(record.id)
        try batch.showImportedPreferred(in: home, former: former[record.name])
        try store.settleImportedHistory(of: record.name, tx)
      }
      for credential in imported.credentials {
        try batch.showImportedCredential(credential)
      }
      try RouterLedger.setOwnersCursor(0, tx)
    }
  }
}

extension BatchApplier {
  /// The mirror in the registry follows the sealed item, and every router is checked anew.
  ///
  /// A mark of membership that comes in is that of another store: a router is a member here when it has
  /// the keys of the preferred network of this store.
  fileprivate func showImportedPreferred(
    in home: HomeContext, former: OperationalDataset?
  ) throws {
    guard let preferred = try preferredNetwork(of: home) else { return }
    try store.recheckMembers(of: preferred, in: home.record.name, tx)
    var kept: String?
    if let former, !former.isSameNetwork(as: preferred) {
      kept = try store.keep(former, in: home.record.name, tx)
    }
    try preferredIsSet(
      PreferredChange(from: former, to: preferred, cause: .imported, formerID: kept), by: nil,
      in: home)
    let isNew = former.map { !$0.isSameNetwork(as: preferred) } ?? false
    guard isNew || home.record.preferred != preferred.extendedPANID else { return }
    noteNetworkShown(home.record.preferred, in: home)
    var record = EventRecord(time: now, types: .preferredChanged, home: home.record.id)
    record.network = preferred.extendedPANID
    try append(record)
  }

  fileprivate func showImportedCredential(_ credential: ImportedItems.Credential) throws {
    // A home that the settings do not name has no registry.
    guard let home = servedHomes.first(where: { $0.record.name == credential.home }),
      let stored = try RouterLedger.find(credential.agent, home: home.record.id, tx)
    else { return }
    guard stored.isPresent else {
      var router = stored
      let team = try store.team(of: stored.agent, in: home.record.name, tx)
      router.credential = team == nil ? .missing : .stored
      return try RouterLedger.update(router, tx)
    }
    guard let dataset = try readableDataset(of: credential.agent, home: home) else {
      return try showRemovedCredential(of: stored, home)
    }
    var router = stored
    router.credential = .stored
    router.describe(dataset, at: now)
    var record = EventRecord(time: now, types: .datasetStored, home: home.record.id)
    record.router = router.agent
    record.network = dataset.extendedPANID
    record.detail.networkName = dataset.networkName
    try finish(
      router, stored: stored, dataset: dataset, record: record, trigger: "imported", home: home)
  }

  /// It went because the import says that the id is another team's.
  private func showRemovedCredential(of stored: RouterRecord, _ home: HomeContext) throws {
    // A dataset that is damaged is still there.
    guard try store.team(of: stored.agent, in: home.record.name, tx) == nil else { return }
    var router = stored
    router.credential = .missing
    router.forgetDataset()
    var record = EventRecord(time: now, home: home.record.id)
    record.router = router.agent
    try finish(
      router, stored: stored, dataset: nil, record: record, trigger: "imported", home: home)
  }
}

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

  /// - Parameters:
  ///   - imported: whose credentials were written.
  ///   - former: the preferred networks before the import; one that it replaces is kept.
  package func settle(
    _ imported: [OwnedID], former: [String: OperationalDataset], _ tx: WriteTransaction
  ) throws {
    // No answer follows: an import has no request, and its report says the rest.
    _ = try TransactionRunner.apply(configuration, store, now: clock.now(), tx) { transaction in
      let context = transaction.context
      // The preferred network first: routers are checked against it.
      for record in try HomeLedger.all(tx) {
        let home = try context.home(record.id)
        try transaction.apply(showPreferred(of: home, former: former[record.name], context))
        try store.settleImportedHistory(of: record.name, tx)
      }
      for credential in imported {
        // A home that the settings do not name has no registry.
        guard let home = context.servedHomes.first(where: { $0.record.name == credential.home })
        else { continue }
        try transaction.apply(context.routers.imported(credential.agent, in: home.record))
      }
      try RouterLedger.setOwnersCursor(0, tx)
    }
  }

  /// The mirror in the registry follows the sealed item, and every router is checked again.
  ///
  /// A mark of membership that comes in is that of another store: a router is a member here when it has
  /// the keys of the preferred network of this store.
  private func showPreferred(
    of home: HomeContext, former: OperationalDataset?, _ context: TransactionContext
  ) throws -> [Effect] {
    let record = home.record
    guard let preferred = try context.preferredNetwork(of: home) else { return [] }
    try store.recheckMembers(of: preferred, in: record.name, context.tx)
    var kept: String?
    if let former, !former.isSameNetwork(as: preferred), !former.isCovered(by: preferred) {
      kept = try store.keep(former, in: record.name, context.tx)
    }
    let change = PreferredChange(from: former, to: preferred, cause: .imported, formerID: kept)
    var effects: [Effect] = [.preferred(change, by: nil, home: record.id)]
    let isNew = former.map { !$0.isSameNetwork(as: preferred) } ?? false
    guard isNew || record.preferred != preferred.extendedPANID else { return effects }
    if let shown = record.preferred { effects.append(.networkShown(shown, home: record.id)) }
    var event = EventRecord(time: context.now, types: .preferredChanged, home: record.id)
    event.network = preferred.extendedPANID
    effects.append(.event(event))
    return effects
  }
}

// SPDX-License-Identifier: Apache-2.0

import Broker
import CredentialService
import KeychainCore
import Logging
import SQLiteDatabase
import ThreadCredentialStore
import ThreadDataset

/// Brings the bridge's tables in line with the settings before the first message.
enum BridgeStart {
  /// A base topic that a home no longer uses.
  struct RetiredBase: Sendable {
    let home: String
    let base: String
  }

  /// As `prepare`; where tables of the registry are damaged they are created again first.
  ///
  /// - Throws: `KeychainError` when the store can only be restored.
  static func prepareRepairing(
    _ configuration: BridgeConfiguration, store: ThreadCredentialStore, now: WireTime,
    logger: Logger
  ) throws -> [RetiredBase] {
    do {
      return try prepare(configuration, store: store, now: now)
    } catch  where StoreFailure.isDamage(error) {
      switch try RegistryRepair(configuration: configuration, store: store).run(now: now) {
      case .sound: throw error
      case .unrepairable(let tables):
        throw KeychainError(
          .decode, StoreFailure.damaged(tables, path: store.keychain.location.directory),
          isFileDamaged: true)
      case .recreated(let tables):
        logger.critical(
          "damaged tables of the store were recreated",
          metadata: ["tables": "\(tables.joined(separator: ", "))"])
      }
      return try prepare(configuration, store: store, now: now)
    }
  }

  /// - Returns: the base topics to be emptied.
  static func prepare(
    _ configuration: BridgeConfiguration, store: ThreadCredentialStore, now: WireTime
  ) throws -> [RetiredBase] {
    let database = store.keychain.database
    // A store that was put back or tampered with is not to be written, nor believed.
    if case .readOnly = store.keychain.condition { return [] }
    try BridgeSchema.create(in: database)
    return try database.write { tx in
      let stored = try HomeLedger.all(tx)
      for home in configuration.topics.homes {
        guard let record = stored.first(where: { $0.name == home.name }) else {
          try HomeLedger.insert(home, tx)
          continue
        }
        try HomeLedger.setReevaluation(after: 0, of: record.id, tx)
      }
      // A program may have stored or deleted credentials while no daemon ran.
      try RouterLedger.setOwnersCursor(0, tx)
      // No request has been received yet, so no answer follows.
      _ = try TransactionRunner.apply(configuration, store, now: now, tx) { transaction in
        for home in transaction.context.servedHomes {
          try transaction.apply(catchUp(home, transaction.context))
          try transaction.apply([
            .alert(
              .consentByHomeAssistant, configuration.homeAssistant.consentAlert,
              home: home.record.id)
          ])
        }
        try transaction.apply(transaction.context.alerts.endOrphans())
        try endDiscovery(configuration, transaction)
      }
      try HomeAssistantDevices(
        configuration, HomeAssistantQuestions(configuration, store.keychain) { now }
      ).reconcile(tx)
      return retiredBases(stored, configuration)
    }
  }

  /// Routers that were only seen go from the homes that the local network does not belong to.
  private static func endDiscovery(
    _ configuration: BridgeConfiguration, _ transaction: BridgeTransaction
  ) throws {
    let context = transaction.context
    for home in context.homes.values {
      if configuration.discoversRouters, home === context.servedHomes.first { continue }
      do {
        _ = try context.preferredNetwork(of: home)
      } catch is PreferredNetworkDamaged {
        // No router can be checked against it. The next start tries again.
        continue
      }
      try DiscoveryApplier(transaction: transaction, home: home).end()
    }
  }

  /// A program may have changed the preferred network while no daemon ran. Routers are checked from the first one
  /// after a start.
  private static func catchUp(_ home: HomeContext, _ context: TransactionContext) throws -> [Effect]
  {
    let (dataset, record): (OperationalDataset?, HomeRecord)
    do {
      (dataset, record) = try (context.preferredNetwork(of: home), home.record)
    } catch is PreferredNetworkDamaged {
      return []
    }
    guard
      dataset?.extendedPANID != record.preferred || dataset?.networkName != record.preferredName
    else { return [] }
    let former = try context.store.formerNetworks(of: record.name, context.tx).first {
      $0.network != nil && $0.network == record.preferred
    }
    var effects: [Effect] = [
      .preferred(
        PreferredChange(from: former?.dataset, to: dataset, cause: .owner, formerID: former?.id),
        by: nil, home: record.id)
    ]
    if let preferred = record.preferred {
      effects.append(.networkShown(preferred, home: record.id))
    }
    guard former != nil, dataset?.extendedPANID != record.preferred else { return effects }
    var event = EventRecord(time: context.now, types: .preferredChanged, home: record.id)
    event.network = dataset?.extendedPANID
    event.detail.networkName = dataset?.networkName
    event.detail.previousExtendedPANID = record.preferred?.description
    return effects + [.event(event)]
  }

  /// Base topics that a home has no more, also because the home itself is no more in the settings.
  private static func retiredBases(
    _ stored: [HomeRecord], _ configuration: BridgeConfiguration
  ) -> [RetiredBase] {
    stored.compactMap { record in
      guard !record.baseTopic.isEmpty,
        record.baseTopic != configuration.topics.base(of: record.name)
      else { return nil }
      return RetiredBase(home: record.name, base: record.baseTopic)
    }
  }

  /// Notes the current base topics, once the broker holds nothing below the old ones.
  static func settleBases(_ configuration: BridgeConfiguration, _ tx: WriteTransaction) throws {
    for record in try HomeLedger.all(tx) {
      let base = configuration.topics.base(of: record.name)
      if record.baseTopic != base { try HomeLedger.setBaseTopic(base, of: record.id, tx) }
    }
  }
}

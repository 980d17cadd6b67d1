// SPDX-License-Identifier: Apache-2.0

import BridgeProtocol
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

  /// As `prepare`; where tables of the registry are damaged they are made anew first.
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
      case .madeAnew(let tables):
        logger.critical(
          "damaged tables of the store were made anew",
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
    try database.migrate(BridgeSchema.component, BridgeSchema.migrations)
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
      // Nobody waits for anything yet.
      _ = try TransactionRunner.apply(configuration, store, now: now, tx) { batch in
        try catchUp(batch)
        try dropOrphans(batch)
      }
      return retiredBases(stored, configuration)
    }
  }

  /// A program may have changed the preferred network while no daemon ran. Routers are looked at by
  /// the walk that begins now.
  private static func catchUp(_ batch: BatchApplier) throws {
    for home in batch.servedHomes {
      let dataset: OperationalDataset?
      do {
        dataset = try batch.preferredNetwork(of: home)
      } catch is PreferredNetworkDamaged {
        continue
      }
      guard
        dataset?.extendedPANID != home.record.preferred
          || dataset?.networkName != home.record.preferredName
      else { continue }
      let former = try batch.store.formerNetworks(of: home.record.name, batch.tx).first {
        $0.network != nil && $0.network == home.record.preferred
      }
      try batch.preferredIsSet(
        PreferredChange(
          from: former?.dataset, to: dataset, cause: .owner, formerID: former?.id),
        by: nil, in: home)
      batch.noteNetworkShown(home.record.preferred, in: home)
      guard former != nil, dataset?.extendedPANID != home.record.preferred else { continue }
      var record = EventRecord(time: batch.now, types: .preferredChanged, home: home.record.id)
      record.network = dataset?.extendedPANID
      record.detail.networkName = dataset?.networkName
      record.detail.previousExtendedPANID = home.record.preferred?.description
      try batch.append(record)
    }
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

  /// Notes the base topics of now, once the broker holds nothing below the old ones.
  static func settleBases(_ configuration: BridgeConfiguration, _ tx: WriteTransaction) throws {
    for record in try HomeLedger.all(tx) {
      let base = configuration.topics.base(of: record.name)
      if record.baseTopic != base { try HomeLedger.setBaseTopic(base, of: record.id, tx) }
    }
  }

  /// Alerts about routers that are gone, or about users that speak for none, would fire for ever.
  private static func dropOrphans(_ batch: BatchApplier) throws {
    for alert in try AlertLedger.active(batch.tx) where try isOrphan(alert, batch) {
      try batch.end(alert)
    }
  }

  private static func isOrphan(_ alert: AlertRecord, _ batch: BatchApplier) throws -> Bool {
    if alert.name == .plaintextCredentials {
      return try !RouterLedger.hasRouters(of: alert.subject, home: alert.home, batch.tx)
    }
    guard AlertName.ofRouters.contains(alert.name), let agent = BorderAgentID(hex: alert.subject)
    else { return false }
    return try RouterLedger.find(agent, home: alert.home, batch.tx)?.isPresent != true
  }
}

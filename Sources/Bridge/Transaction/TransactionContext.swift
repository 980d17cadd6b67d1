// SPDX-License-Identifier: Apache-2.0

import Broker
import KeychainCore
import SQLiteDatabase
import ThreadCredentialStore
import ThreadDataset

/// What every part of one transaction may look up: the settings, the store, the time, and the homes, whose preferred
/// networks are read once.
final class TransactionContext {
  let configuration: BridgeConfiguration
  let store: ThreadCredentialStore
  private let parts: RequestParts
  let now: WireTime
  let tx: WriteTransaction
  /// By their names; also those that the settings do not name any more.
  let homes: [String: HomeContext]
  private let homesByID: [Int64: HomeContext]

  init(
    _ configuration: BridgeConfiguration, _ store: ThreadCredentialStore, _ parts: RequestParts,
    now: WireTime, _ tx: WriteTransaction
  ) throws {
    self.configuration = configuration
    self.store = store
    self.parts = parts
    self.now = now
    self.tx = tx
    let homes = try HomeLedger.all(tx).map { HomeContext($0) }
    self.homes = Dictionary(homes.map { ($0.record.name, $0) }) { $1 }
    homesByID = Dictionary(homes.map { ($0.record.id, $0) }) { $1 }
  }

  // The components with much in them are made once.
  private(set) lazy var adoptions = Adoptions(
    configuration: configuration, store: store, keys: parts.sealer, now: now, tx: tx)
  private(set) lazy var ownership = Ownership(
    configuration: configuration, store: store, now: now, tx: tx)
  private(set) lazy var routers = Routers(
    configuration: configuration, store: store, now: now, tx: tx)

  /// The homes that the settings name, for work that is not about one message.
  var servedHomes: [HomeContext] { configuration.topics.homes.compactMap { homes[$0.name] } }

  func home(named name: String) throws -> HomeContext {
    guard let home = homes[name] else { throw LedgerError(table: "home", column: "name") }
    return home
  }

  func home(_ id: Int64) throws -> HomeContext {
    guard let home = homesByID[id] else { throw LedgerError(table: "home", column: "id") }
    return home
  }

  /// - Throws: `PreferredNetworkDamaged`.
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

  /// The same; nil also where none of its credentials are here: it is preferred by its Extended PAN ID alone.
  func preferredCredentials(of home: HomeContext) throws -> OperationalDataset? {
    try preferredNetwork(of: home).flatMap { $0.hasCredentials ? $0 : nil }
  }

  /// What a command needs to name this home: ` --home NAME`; empty where there is one only.
  func homeOption(_ home: HomeContext) -> String {
    configuration.topics.homes.count > 1 ? " --home \(home.record.name)" : ""
  }
}

/// The components. Each reads its rows, decides, writes, and returns what follows.
extension TransactionContext {
  var alerts: Alerts { Alerts(tx: tx, now: now, hold: configuration.alertsHold) }

  var consents: Consents { Consents(store.keychain, now: now, tx) }

  var homeAssistantQuestions: HomeAssistantQuestions {
    HomeAssistantQuestions(configuration, store.keychain) { [now] in now }
  }

  var preferredNetworks: PreferredNetworks { PreferredNetworks(context: self) }

  var requests: Requests {
    Requests(
      configuration: configuration, parts: parts, consents: consents, ownership: ownership,
      homes: homes.mapValues(\.record))
  }
}

// SPDX-License-Identifier: Apache-2.0

import Broker
import SQLiteDatabase
import ThreadDataset

/// Collects what a batch changes of networks, so that a network is written once however many routers
/// of it had something to say.
struct NetworkChanges {
  private struct Key: Hashable {
    let home: Int64
    let network: ExtendedPANID
  }

  private struct Change {
    var routers = 0
    var online = 0
    var dataset: OperationalDataset?
    /// As a router calls it, for where there is no dataset.
    var name: String?

    /// The newest of the batch, whichever came first.
    mutating func show(_ other: OperationalDataset) {
      if let mine = dataset?.activeTimestamp, let others = other.activeTimestamp, mine > others {
        return
      }
      dataset = other
    }
  }

  private var changes: [Key: Change] = [:]

  /// - Parameter name: of the network that the router is on now, as the router calls it, where that is news.
  mutating func note(
    home: Int64, from before: NetworkContribution?, to after: NetworkContribution?,
    dataset: OperationalDataset?, name: String? = nil
  ) {
    guard before != after || dataset != nil || name != nil else { return }
    if let before {
      changes[Key(home: home, network: before.network), default: Change()].routers -= 1
      changes[Key(home: home, network: before.network), default: Change()].online -=
        before.isOnline ? 1 : 0
    }
    if let after {
      let key = Key(home: home, network: after.network)
      changes[key, default: Change()].routers += 1
      changes[key, default: Change()].online += after.isOnline ? 1 : 0
      if let name, !name.isEmpty { changes[key, default: Change()].name = name }
      if let dataset, dataset.extendedPANID == after.network {
        changes[key, default: Change()].show(dataset)
      }
    }
  }

  /// The network looks different although its counts are the same.
  mutating func noteShown(_ network: ExtendedPANID, home: Int64) {
    changes[Key(home: home, network: network), default: Change()].routers += 0
  }

  /// Routers that came to a network less those that went.
  func routersChange(of network: ExtendedPANID, home: Int64) -> Int {
    changes[Key(home: home, network: network)]?.routers ?? 0
  }

  /// What has become of the networks.
  ///
  /// - Parameter preferred: the preferred network of a home.
  func effects(
    preferred: (Int64) throws -> OperationalDataset?, _ tx: ReadTransaction
  ) throws -> [Effect] {
    try changes.map { key, change in
      var record =
        try NetworkLedger.find(key.network, home: key.home, tx)
        ?? NetworkRecord(
          network: key.network, name: "", channel: nil, panID: nil, activeSeconds: nil, routers: 0,
          online: 0, generation: 0)
      record.routers = max(0, record.routers + change.routers)
      record.online = max(0, record.online + change.online)
      let preferred = try preferred(key.home)
      let isPreferred = preferred?.extendedPANID == key.network
      if isPreferred, let preferred, preferred.hasCredentials {
        // Anybody can name an Extended PAN ID that is on the air: of the preferred network only its own
        // dataset is shown.
        record.show(preferred)
      } else if let dataset = change.dataset {
        record.describe(dataset)
      } else if let name = change.name, record.activeSeconds == nil {
        // No router of it has ever reported a dataset.
        record.name = name
      }
      if isPreferred, record.name.isEmpty { record.name = preferred?.networkName ?? "" }
      return .network(record, home: key.home, isGone: record.routers == 0 && !isPreferred)
    }
  }
}

extension NetworkRecord {
  /// Shows the newest dataset that a router of this network has.
  fileprivate mutating func describe(_ dataset: OperationalDataset) {
    let seconds = dataset.activeTimestamp?.seconds ?? 0
    if let activeSeconds, !name.isEmpty, seconds < activeSeconds { return }
    show(dataset)
  }

  fileprivate mutating func show(_ dataset: OperationalDataset) {
    name = dataset.networkName ?? ""
    channel = dataset.channel.map { Int($0.number) }
    panID = dataset.panID.map(Int.init)
    activeSeconds = dataset.activeTimestamp?.seconds ?? 0
  }
}

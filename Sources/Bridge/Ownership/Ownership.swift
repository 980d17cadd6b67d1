// SPDX-License-Identifier: Apache-2.0

import Broker
import KeychainCore
import SQLiteDatabase
import ThreadCredentialStore
import ThreadDataset

/// Which team a border agent id belongs to, within one transaction: removal of an id, and room for one more
/// (`Ownership+room.swift`). What follows is returned.
final class Ownership {
  let configuration: BridgeConfiguration
  let store: ThreadCredentialStore
  let now: WireTime
  let tx: WriteTransaction

  init(
    configuration: BridgeConfiguration, store: ThreadCredentialStore, now: WireTime,
    tx: WriteTransaction
  ) {
    self.configuration = configuration
    self.store = store
    self.now = now
    self.tx = tx
  }

  /// An id whose router is off the list, of which nothing is to stay.
  struct Removal {
    let agent: BorderAgentID
    let home: HomeRecord
    let team: String?
    /// Its row, as it was before.
    let stored: RouterRecord?
  }

  /// Deletes all that is stored of a border agent id: credentials, owner, and its row with topics and alerts.
  ///
  /// - Throws: `OwnershipFailure`.
  func remove(
    _ agent: BorderAgentID, in home: HomeRecord
  ) throws -> (removed: RemovedID, effects: [Effect]) {
    let stored = try RouterLedger.find(agent, home: home.id, tx)
    var removed = RemovedID()
    do {
      let team = try store.team(of: agent, in: home.name, tx)
      removed.hadCredentials = team != nil
      removed.team = try team ?? store.formerOwner(of: agent, in: home.name, tx)
    } catch let error as KeychainError where error.isItemDamaged {
      removed.isDamaged = true
    }
    guard stored != nil || removed.team != nil || removed.isDamaged else {
      throw OwnershipFailure.unknownID
    }
    var effects: [Effect] = [.checkKeys(home: home.id)]
    if let stored, stored.isPresent {
      var event = EventRecord(time: now, home: home.id)
      event.detail.reason = "removed"
      effects.append(.unlist(stored, event))
    }
    effects.append(
      .delete(Removal(agent: agent, home: home, team: removed.team, stored: stored)))
    return (removed, effects)
  }

  /// What is left of a removed id once its router is off the list, which ends its adoption first.
  func delete(_ id: Removal) throws -> [Effect] {
    try store.deleteOwner(of: id.agent, in: id.home.name, tx)
    // A listed router's adoption ends with its row, which withdraws the question.
    if id.stored?.isPresent != true {
      try store.deleteAdoption(of: id.agent, in: id.home.name, tx)
    }
    try store.keychain.note(
      .routerRemoved, "\(id.agent) home \(id.home.name) from \(id.team ?? "nobody")", in: tx)
    guard let stored = id.stored else { return [] }
    try RouterLedger.delete(stored, tx)
    return [.routerGone(ofUser: stored.user, home: id.home.id)]
  }
}

/// What was stored under a border agent id that is removed.
package struct RemovedID: Sendable, Hashable {
  /// The team that owned it; nil where none did.
  package var team: String?
  package var hadCredentials = false
  /// Whether the owner could not be read, because what is stored of it is damaged.
  package var isDamaged = false
}

/// Why nothing can be done about a border agent id.
package enum OwnershipFailure: Error, Hashable, Sendable {
  /// Nothing is stored or listed under the id.
  case unknownID
}

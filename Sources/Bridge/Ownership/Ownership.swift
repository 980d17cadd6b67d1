// SPDX-License-Identifier: Apache-2.0

import BridgeProtocol
import KeychainCore
import SQLiteDatabase
import ThreadCredentialStore
import ThreadDataset

/// Which team a border agent id belongs to, within one transaction: transfer, release and removal of an id, and room
/// for one more (`Ownership+room.swift`). What follows is returned.
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

  /// Gives a border agent id, and the credentials stored under it, to a team.
  ///
  /// - Parameter logins: the broker's users in the team.
  /// - Throws: `OwnershipFailure`.
  func transfer(
    _ agent: BorderAgentID, to team: String, logins: [String], in home: HomeRecord
  ) throws -> (change: OwnershipChange, effects: [Effect]) {
    let stored = try RouterLedger.find(agent, home: home.id, tx)
    var change = try ownership(of: agent, stored, in: home.name)
    guard !change.isDamaged else { throw OwnershipFailure.damaged }
    guard stored != nil || change.previousTeam != nil else { throw OwnershipFailure.unknownID }
    change.team = team
    change.isTeamKnown =
      try logins.isEmpty
      || logins.contains { try RouterLedger.hasSpoken($0, tx) }
    guard change.previousTeam?.hasBytes(of: team) != true else { return (change, []) }
    try store.setOwner(of: agent, in: home.name, to: team, tx)
    try note(.routerTransferred, agent, in: home, from: change.previousTeam, to: team)
    guard let stored else {
      try RouterLedger.insert(
        RouterRecord(
          absent: agent, home: home.id, user: logins.first ?? "", team: team,
          credential: change.hadCredentials ? .stored : .missing, since: now), tx)
      return (change, [.checkKeys(home: home.id)])
    }
    var router = stored
    router.team = team
    if !BrokerUser.isSame(configuration.team(router.user), team) {
      // Credentials of an adoption are sealed to this login: never to one of the previous team.
      router.user = logins.first ?? team
      router.order = SequenceWindow()
    }
    guard stored.isPresent else {
      try RouterLedger.update(router, tx)
      return (change, [.checkKeys(home: home.id)])
    }
    return (
      change,
      [
        .checkKeys(home: home.id),
        .router(
          RouterChange(
            router, stored: stored, trigger: "transferred", endsAdoption: true, now: now)),
        .routerGone(ofUser: stored.user, home: home.id),
      ]
    )
  }

  /// Deletes the credentials of a border agent id and its owner. The router stays listed.
  ///
  /// - Throws: `OwnershipFailure`.
  func release(
    _ agent: BorderAgentID, in home: HomeRecord
  ) throws -> (change: OwnershipChange, effects: [Effect]) {
    let stored = try RouterLedger.find(agent, home: home.id, tx)
    let change = try ownership(of: agent, stored, in: home.name)
    guard change.previousTeam != nil || change.isDamaged else {
      throw stored == nil ? OwnershipFailure.unknownID : .unownedID
    }
    try deleteOwner(of: agent, stored, in: home.name)
    try note(.routerReleased, agent, in: home, from: change.previousTeam)
    guard let stored else { return (change, [.checkKeys(home: home.id)]) }
    var router = stored
    router.credential = .missing
    guard stored.isPresent else {
      try RouterLedger.update(router, tx)
      return (change, [.checkKeys(home: home.id)])
    }
    router.forgetDataset()
    return (
      change,
      [
        .checkKeys(home: home.id),
        .router(
          RouterChange(router, stored: stored, trigger: "released", endsAdoption: true, now: now)),
      ]
    )
  }

  /// Deletes all that is stored of a border agent id: credentials, owner, and its row with topics and alerts.
  ///
  /// - Throws: `OwnershipFailure`.
  func remove(
    _ agent: BorderAgentID, in home: HomeRecord
  ) throws -> (change: OwnershipChange, effects: [Effect]) {
    let stored = try RouterLedger.find(agent, home: home.id, tx)
    let change = try ownership(of: agent, stored, in: home.name)
    guard stored != nil || change.previousTeam != nil || change.isDamaged else {
      throw OwnershipFailure.unknownID
    }
    var effects: [Effect] = [.checkKeys(home: home.id)]
    if let stored, stored.isPresent {
      var event = EventRecord(time: now, home: home.id)
      event.detail.reason = "removed"
      effects.append(.unlist(stored, event))
    }
    effects.append(
      .delete(Removal(agent: agent, home: home, team: change.previousTeam, stored: stored)))
    return (change, effects)
  }

  /// What is left of a removed id once its router is off the list, which ends its adoption first.
  func delete(_ id: Removal) throws -> [Effect] {
    try deleteOwner(of: id.agent, id.stored, in: id.home.name)
    try note(.routerRemoved, id.agent, in: id.home, from: id.team)
    guard let stored = id.stored else { return [] }
    try RouterLedger.delete(stored, tx)
    return [.routerGone(ofUser: stored.user, home: id.home.id)]
  }

  private func deleteOwner(
    of agent: BorderAgentID, _ stored: RouterRecord?, in home: String
  ) throws {
    try store.deleteOwner(of: agent, in: home, tx)
    // A listed router's adoption ends with its row, which withdraws the question.
    if stored?.isPresent != true { try store.deleteAdoption(of: agent, in: home, tx) }
  }

  private func note(
    _ action: AuditAction, _ agent: BorderAgentID, in home: HomeRecord, from previous: String?,
    to team: String? = nil
  ) throws {
    let target = team.map { " to \($0)" } ?? ""
    try store.keychain.note(
      action, "\(agent) home \(home.name) from \(previous ?? "nobody")\(target)", in: tx)
  }

  /// How it is before the change.
  private func ownership(
    of agent: BorderAgentID, _ stored: RouterRecord?, in home: String
  ) throws -> OwnershipChange {
    var change = OwnershipChange(
      hadCredentials: false, wasListed: stored?.isPresent == true)
    do {
      let team = try store.team(of: agent, in: home, tx)
      change.hadCredentials = team != nil
      change.previousTeam = try team ?? store.formerOwner(of: agent, in: home, tx)
    } catch let error as KeychainError where error.isItemDamaged {
      change.isDamaged = true
    }
    return change
  }
}

// SPDX-License-Identifier: Apache-2.0

import BridgeProtocol
import KeychainCore
import ThreadCredentialStore
import ThreadDataset

/// Transfer, release and removal of a border agent id.
extension BatchApplier {
  /// Gives a border agent id, and the credentials stored under it, to a team.
  ///
  /// - Parameter logins: the broker's users that speak for the team.
  /// - Throws: `OwnershipFailure`.
  func transfer(
    _ agent: BorderAgentID, to team: String, logins: [String], home: HomeContext
  ) throws -> OwnershipChange {
    let stored = try RouterLedger.find(agent, home: home.record.id, tx)
    var change = try ownership(of: agent, stored, home: home)
    guard !change.isDamaged else { throw OwnershipFailure.damaged }
    guard stored != nil || change.previousTeam != nil else { throw OwnershipFailure.unknownID }
    change.team = team
    change.isTeamKnown =
      try logins.isEmpty
      || logins.contains { try RouterLedger.hasSpoken($0, tx) }
    guard change.previousTeam?.hasBytes(of: team) != true else { return change }
    try store.setOwner(of: agent, in: home.record.name, to: team, tx)
    try store.keychain.note(
      .routerTransferred,
      "\(agent) home \(home.record.name) from \(change.previousTeam ?? "nobody") to \(team)",
      in: tx)
    guard let stored else {
      try noteAbsent(
        agent, nil, team: team, user: logins.first ?? "",
        credential: change.hadCredentials ? .stored : .missing, home: home)
      return change
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
      return change
    }
    try apply(adoptions.end(&router, in: home.record.name))
    try finishUnchangedDataset(router, stored: stored, trigger: "transferred", home: home)
    try plaintextEnded(of: stored.user, home: home)
    return change
  }

  /// Deletes the credentials of a border agent id and its owner. The router stays listed.
  ///
  /// - Throws: `OwnershipFailure`.
  func release(_ agent: BorderAgentID, home: HomeContext) throws -> OwnershipChange {
    let stored = try RouterLedger.find(agent, home: home.record.id, tx)
    let change = try ownership(of: agent, stored, home: home)
    guard change.previousTeam != nil || change.isDamaged else {
      throw stored == nil ? OwnershipFailure.unknownID : .unownedID
    }
    try deleteOwner(of: agent, stored, home: home)
    try store.keychain.note(
      .routerReleased,
      "\(agent) home \(home.record.name) from \(change.previousTeam ?? "nobody")", in: tx)
    guard let stored else { return change }
    var router = stored
    guard stored.isPresent else {
      router.credential = .missing
      try RouterLedger.update(router, tx)
      return change
    }
    try apply(adoptions.end(&router, in: home.record.name))
    router.credential = .missing
    router.forgetDataset()
    try finishUnchangedDataset(router, stored: stored, trigger: "released", home: home)
    return change
  }

  /// Deletes all that is stored of a border agent id: credentials, owner, and its row with topics and alerts.
  ///
  /// - Throws: `OwnershipFailure`.
  func remove(_ agent: BorderAgentID, home: HomeContext) throws -> OwnershipChange {
    let stored = try RouterLedger.find(agent, home: home.record.id, tx)
    let change = try ownership(of: agent, stored, home: home)
    guard stored != nil || change.previousTeam != nil || change.isDamaged else {
      throw OwnershipFailure.unknownID
    }
    if let stored, stored.isPresent {
      var record = EventRecord(time: now, home: home.record.id)
      record.detail.reason = "removed"
      try unlist(stored, record, home: home)
    }
    try deleteOwner(of: agent, stored, home: home)
    try store.keychain.note(
      .routerRemoved,
      "\(agent) home \(home.record.name) from \(change.previousTeam ?? "nobody")", in: tx)
    guard let stored else { return change }
    try RouterLedger.delete(stored, tx)
    try plaintextEnded(of: stored.user, home: home)
    return change
  }

  private func deleteOwner(
    of agent: BorderAgentID, _ stored: RouterRecord?, home: HomeContext
  ) throws {
    try store.deleteOwner(of: agent, in: home.record.name, tx)
    // A listed router's adoption ends with its row, which withdraws the question.
    if stored?.isPresent != true {
      try store.deleteAdoption(of: agent, in: home.record.name, tx)
    }
  }

  /// How it is before the change.
  private func ownership(
    of agent: BorderAgentID, _ stored: RouterRecord?, home: HomeContext
  ) throws -> OwnershipChange {
    var change = OwnershipChange(
      hadCredentials: false, wasListed: stored?.isPresent == true)
    do {
      let name = home.record.name
      let team = try store.team(of: agent, in: name, tx)
      change.hadCredentials = team != nil
      change.previousTeam = try team ?? store.formerOwner(of: agent, in: name, tx)
    } catch let error as KeychainError where error.isItemDamaged {
      change.isDamaged = true
    }
    return change
  }
}

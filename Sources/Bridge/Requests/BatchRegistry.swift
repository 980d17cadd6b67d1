// SPDX-License-Identifier: Apache-2.0

import BridgeProtocol
import CredentialService
import ThreadCredentialStore
import ThreadDataset
import ThreadRequests

/// Brings registry, events and alerts in line with what a request has changed, as an event does.
struct BatchRegistry: CredentialRegistry {
  let batch: BatchApplier

  func isActive(_ agent: BorderAgentID, in home: String) throws -> Bool {
    let router = try RouterLedger.find(agent, home: batch.home(named: home).record.id, batch.tx)
    return router.map { $0.isPresent && $0.isOnline } ?? false
  }

  func makeRoom(for agent: BorderAgentID, context: RequestContext) throws {
    let home = try batch.home(named: context.home)
    let stored = try RouterLedger.find(agent, home: home.record.id, batch.tx)
    if let effects = try batch.ownership.makeRoom(for: context.team, stored, in: home.record) {
      return try batch.apply(effects)
    }
    throw AnswerFailure(
      .tooManyRouters, field: "border_agent_id",
      "this team has \(batch.configuration.routersPerTeam) border agent ids already (setting "
        + "`limits.routers_per_team`)",
      help: "delete credentials of routers that are gone with `threadkeeper credentials delete`")
  }

  func stored(
    _ dataset: OperationalDataset, _ change: DatasetDecision, of agent: BorderAgentID,
    preferred: PreferredChange?, context: RequestContext
  ) throws {
    let home = try batch.home(named: context.home)
    var record = record(context, home)
    record.router = agent
    switch change {
    case .store: record.types.insert(.datasetStored)
    case .update(let names), .move(_, let names):
      record.types.insert(.datasetUpdated)
      record.detail.differs = names.map(\.rawValue)
      if case .move(let previous, _) = change {
        record.detail.previousExtendedPANID = previous?.description
      }
    case .keep, .ignoreOlder, .conflict: break
    }
    if let preferred {
      try batch.preferredIsSet(preferred, by: batch.displayName(of: agent, home: home), in: home)
      record.types.insert(.preferredChanged)
    }
    if !record.types.isEmpty { record.describe(dataset) }
    try batch.noteKeys(dataset, home: home)
    let row = try RouterLedger.find(agent, home: home.record.id, batch.tx)
    guard let stored = row, stored.isPresent else {
      // No router has announced itself under this id: there is nothing else that could change.
      try RouterLedger.saveAbsent(
        agent, row, home: home.record.id, user: record.user ?? row?.user ?? "", team: context.team,
        credential: .stored, now: batch.now, batch.tx)
      if !record.types.isEmpty { try batch.append(record) }
      return
    }
    var router = stored
    router.team = context.team
    router.credential = .stored
    if change.isStored || router.network == nil { router.describe(dataset, at: batch.now) }
    try batch.finish(
      router, stored: stored, dataset: dataset, record: record, trigger: "request", home: home)
  }

  func deleted(_ agent: BorderAgentID, context: RequestContext) throws {
    let home = try batch.home(named: context.home)
    home.hasChangedRouters = true
    guard let stored = try RouterLedger.find(agent, home: home.record.id, batch.tx) else { return }
    guard stored.isPresent else {
      // Its owner is kept for as long as that of a router that left now.
      return try RouterLedger.saveAbsent(
        agent, stored, home: home.record.id, user: stored.user, team: stored.team ?? context.team,
        credential: .missing, now: batch.now, batch.tx)
    }
    var router = stored
    router.credential = .missing
    router.forgetDataset()
    var record = record(context, home)
    record.router = agent
    try batch.finish(
      router, stored: stored, dataset: nil, record: record, trigger: "deleted", home: home)
  }

  func preferredSet(_ change: PreferredChange, context: RequestContext) throws {
    let home = try batch.home(named: context.home)
    try batch.preferredIsSet(change, by: context.actor, in: home)
    guard change.from != change.to else { return }
    var record = record(context, home)
    record.types = .preferredChanged
    if let to = change.to { record.describe(to) }
    if let from = change.from, from.extendedPANID != change.to?.extendedPANID {
      record.detail.previousExtendedPANID = from.extendedPANID?.description
    }
    try batch.append(record)
  }

  private func record(_ context: RequestContext, _ home: HomeContext) -> EventRecord {
    var record = EventRecord(time: batch.now, home: home.record.id)
    if case .mqttUser(let user) = context.requester { record.user = user }
    return record
  }
}

extension EventRecord {
  fileprivate mutating func describe(_ dataset: OperationalDataset) {
    detail.networkName = dataset.networkName
    network = dataset.extendedPANID
  }
}

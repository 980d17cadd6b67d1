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
    guard let stored = try present(agent, home) else {
      // No router has announced itself under this id: there is nothing else that could change.
      if !record.types.isEmpty { try batch.append(record) }
      return
    }
    var router = stored
    router.credential = .stored
    if change.isStored || router.network == nil { router.describe(dataset, at: batch.now) }
    try batch.finish(
      router, stored: stored, dataset: dataset, record: record, trigger: "request", home: home)
  }

  func deleted(_ agent: BorderAgentID, context: RequestContext) throws {
    let home = try batch.home(named: context.home)
    home.hasChangedRouters = true
    guard let stored = try present(agent, home) else { return }
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

  private func present(_ agent: BorderAgentID, _ home: HomeContext) throws -> RouterRecord? {
    let router = try RouterLedger.find(agent, home: home.record.id, batch.tx)
    return router?.isPresent == true ? router : nil
  }
}

extension EventRecord {
  fileprivate mutating func describe(_ dataset: OperationalDataset) {
    detail.networkName = dataset.networkName
    network = dataset.extendedPANID
  }
}

// SPDX-License-Identifier: Apache-2.0

import Broker
import ThreadCredentialStore
import ThreadDataset

/// The preferred networks of the homes, within one transaction: what a change of one means for its home, disputes
/// about its keys, and whether the home has moved. What changes is noted, and decided once, at the end. What follows
/// is returned.
struct PreferredNetworks {
  let context: TransactionContext

  private var disputes: KeyDisputes {
    KeyDisputes(store: context.store, now: context.now, tx: context.tx)
  }

  /// The store has another preferred network, or none; every router is then checked again.
  ///
  /// - Parameter who: the router that reports it, or the person who chose it.
  func changed(
    _ change: PreferredChange, by who: String?, in home: HomeContext
  ) throws -> [Effect] {
    let id = home.record.id
    try HomeLedger.setPreferred(change.to, of: id, context.tx)
    home.preferred = .some(change.to)
    home.changes.isPreferredNew = true
    home.changes.needsHomeCheck = true
    home.changes.needsKeyCheck = true
    var effects: [Effect] = [change.from, change.to].compactMap { $0?.extendedPANID }
      .map { .networkShown($0, home: id) }
    if let to = change.to, let from = change.from, !to.essentialDifferences(from: from).isEmpty {
      var second: String?
      if case .confirmed(let agent) = change.cause {
        second = try RouterLedger.shownName(of: agent, home: id, context.tx)
      }
      let notice = PreferredNotice(
        from: from, to: to, cause: change.cause, who: who, second: second,
        disagreeing: try change.cause.isReported
          ? disagreeing(with: to, former: from, in: home) : [], formerID: change.formerID,
        homeOption: context.homeOption(home))
      effects.append(.alert(.preferredNetworkChanged, notice.facts, home: id))
    }
    return effects
  }

  /// Routers with keys of the preferred network or of the former one that have other parameters than it has.
  private func disagreeing(
    with preferred: OperationalDataset, former: OperationalDataset?, in home: HomeContext
  ) throws -> [String] {
    guard let network = preferred.extendedPANID else { return [] }
    return try context.store.all(in: home.record.name, on: network, context.tx).readable
      .filter { credential in
        !credential.dataset.essentialDifferences(from: preferred).isEmpty
          && [preferred, former].contains {
            $0.map(credential.dataset.hasKeys(of:)) == true
          }
      }
      .map { try RouterLedger.shownName(of: $0.agent, home: home.record.id, context.tx) }
  }

  /// The alert about a change is a warning until all routers of the network have followed.
  func settleChange(in home: HomeContext) throws -> [Effect] {
    guard home.changes.hasChangedRouters,
      let alert = try context.alerts.active(.preferredNetworkChanged, in: home.record),
      let preferred = try context.preferredNetwork(of: home)
    else { return [] }
    var facts = alert.heldFacts ?? alert.facts
    guard facts.reason == AlertName.disagreement else { return [] }
    let former = try context.store.formerNetworks(of: home.record.name, context.tx).first?.dataset
    guard try disagreeing(with: preferred, former: former, in: home).isEmpty else { return [] }
    facts.reason = nil
    facts.summary =
      "the preferred network \(preferred.shownName ?? "") was changed, and all its border routers "
      + "have followed"
    return [.alert(.preferredNetworkChanged, facts, home: home.record.id)]
  }

  /// Whether a dispute about the keys may have begun or ended.
  func needsDisputeCheck(in home: HomeContext) throws -> Bool {
    try home.changes.needsKeyCheck
      || home.changes.hasChangedRouters
        && context.alerts.active(.preferredKeyDisputed, in: home.record) != nil
  }

  func settleDispute(in home: HomeContext) throws -> [Effect] {
    try disputes.settle(
      in: home.record, preferred: context.preferredNetwork(of: home),
      homeOption: context.homeOption(home))
  }

  /// When a home moves, or is split again, each router is checked again: its own alert ends or comes back.
  func settleMove(of home: HomeContext) throws -> [Effect] {
    let changes = home.changes
    guard changes.isPreferredNew || changes.hasChangedRouters || changes.needsMoveCheck else {
      return []
    }
    if changes.isPreferredNew || changes.needsMoveCheck {
      try HomeWatch(context: context, home: home).findMove(with: nil)
    }
    let movedTo = home.changes.movedTo
    if movedTo != home.record.movedTo {
      try HomeLedger.setMoved(to: movedTo, of: home.record.id, context.tx)
    }
    guard movedTo != nil || home.record.movedTo != nil else { return [] }
    let facts = try movedTo.flatMap {
      try HomeMoves(tx: context.tx).facts(
        of: home.record, movedTo: $0, preferred: context.preferredNetwork(of: home),
        homeOption: context.homeOption(home))
    }
    return [.alert(.homeMoved, facts, home: home.record.id)]
  }

  /// A home with routers needs a preferred network to check them against.
  func checkExists(in home: HomeContext) throws -> [Effect] {
    let isMissing =
      try context.preferredNetwork(of: home) == nil
      && home.record.routers + home.changes.routers > 0
    var wanted: AlertFacts?
    if isMissing {
      let most = AlertFacts.networksNamed
      wanted = .noPreferredNetwork(
        isForgotten: try context.store.isPreferredForgotten(in: home.record.name, context.tx),
        seen: try NetworkLedger.seen(home: home.record.id, limit: most, context.tx)
          .map { (id: $0.network.description, name: $0.name) },
        count: try NetworkLedger.countSeen(home: home.record.id, context.tx),
        homeOption: context.homeOption(home))
    }
    return [.alert(.noPreferredNetwork, wanted, home: home.record.id)]
  }
}

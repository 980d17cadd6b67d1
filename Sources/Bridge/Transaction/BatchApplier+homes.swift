// SPDX-License-Identifier: Apache-2.0

import BridgeProtocol
import ThreadCredentialStore
import ThreadDataset

/// What concerns a whole home: its preferred network, disputes about its keys, and where it is. What changes of it within
/// a batch is noted, and looked at once at the end.
extension BatchApplier {
  private var disputes: KeyDisputes { KeyDisputes(store: store, now: now, tx: tx) }

  /// The store has another preferred network, or none; every router is then checked again.
  ///
  /// - Parameter who: the router that reports it, or the person who chose it.
  func preferredIsSet(_ change: PreferredChange, by who: String?, in home: HomeContext) throws {
    noteNetworkShown(change.from?.extendedPANID, in: home)
    try HomeLedger.setPreferred(change.to, of: home.record.id, tx)
    home.preferred = .some(change.to)
    home.isPreferredNew = true
    home.needsLook = true
    home.needsKeyLook = true
    noteNetworkShown(change.to?.extendedPANID, in: home)
    guard let to = change.to else { return }
    guard let from = change.from, !to.isSameNetwork(as: from) else { return }
    var second: String?
    if case .confirmed(let agent) = change.cause { second = try displayName(of: agent, home: home) }
    let notice = PreferredNotice(
      from: from, to: to, cause: change.cause, who: who, second: second,
      formerID: change.formerID, homeOption: homeOption(home))
    try setAlert(.preferredNetworkChanged, notice.facts, in: home)
  }

  /// What follows from the batch for the preferred networks. The first routers of a home are checked in the
  /// transaction that changes what they are checked against; the clock comes to the others.
  func settlePreferred() throws {
    for home in servedHomes where home.isPreferredNew { try recheckRouters(in: home, after: 0) }
    for home in servedHomes { try settleDispute(in: home) }
    for home in servedHomes { try settleMove(of: home) }
    for home in servedHomes where home.needsWalk { try recheckRouters(in: home, after: 0) }
  }

  /// Where a dispute about the keys may have begun or ended.
  private func settleDispute(in home: HomeContext) throws {
    guard
      try home.needsKeyLook
        || home.hasChangedRouters
          && alerts.isActive(.preferredKeyDisputed, in: home.record)
    else { return }
    let before = try preferredNetwork(of: home)
    try apply(
      disputes.settle(in: home.record, preferred: before, homeOption: homeOption(home)))
    if try preferredNetwork(of: home) != before { try recheckRouters(in: home, after: 0) }
  }

  /// When a home moves, or is split again, each router is checked again: its own alert goes or comes back.
  private func settleMove(of home: HomeContext) throws {
    guard home.isPreferredNew || home.hasChangedRouters || home.needsMoveLook else { return }
    if home.isPreferredNew || home.needsMoveLook { try lookAtMove(of: home, with: nil) }
    if home.movedTo != home.record.movedTo {
      try HomeLedger.setMoved(to: home.movedTo, of: home.record.id, tx)
    }
    guard home.movedTo != nil || home.record.movedTo != nil else { return }
    let facts = try home.movedTo.flatMap {
      try HomeMoves(tx: tx).facts(
        of: home.record, movedTo: $0, preferred: preferredNetwork(of: home),
        homeOption: homeOption(home))
    }
    try setAlert(.homeMoved, facts, in: home)
  }

  private func lookAtMove(of home: HomeContext, with router: RouterRecord?) throws {
    let destination = try HomeMoves(tx: tx).destination(
      of: home.record, preferred: preferredNetwork(of: home)?.extendedPANID, with: router)
    guard destination != home.movedTo else { return }
    home.movedTo = destination
    home.needsWalk = true
  }

  /// Takes note of a router that is about to be written, for the alerts of its home.
  func noteChange(
    of router: RouterRecord, stored: RouterRecord?, _ dataset: OperationalDataset?,
    home: HomeContext
  ) throws {
    home.hasChangedRouters = true
    try noteKeys(dataset, home: home)
    if HomeMoves.concerns(router, stored: stored) { try lookAtMove(of: home, with: router) }
  }

  /// Takes note of credentials that name the preferred network and have other keys.
  func noteKeys(_ dataset: OperationalDataset?, home: HomeContext) throws {
    guard let dataset, let preferred = try preferredNetwork(of: home),
      dataset.extendedPANID == preferred.extendedPANID, !dataset.hasKeys(of: preferred)
    else { return }
    home.needsKeyLook = true
  }

  /// Whether an alert of the home says why a router differs from the preferred network.
  func isToldOfHome(
    _ router: RouterRecord, _ dataset: OperationalDataset?, home: HomeContext
  ) throws -> Bool {
    let preferred = try preferredNetwork(of: home)
    if let network = router.network, network == home.movedTo, let id = preferred?.extendedPANID,
      router.memberOf == id
    {
      return true
    }
    return try disputes.isClaim(router, dataset, preferred: preferred, in: home.record.name)
  }

  /// How people call a border router.
  func displayName(of agent: BorderAgentID, home: HomeContext) throws -> String {
    try RouterLedger.find(agent, home: home.record.id, tx)?.displayName ?? agent.description
  }

  /// What a command needs to name this home; empty where there is one only.
  func homeOption(_ home: HomeContext) -> String {
    configuration.topics.homes.count > 1 ? " --home \(home.record.name)" : ""
  }
}

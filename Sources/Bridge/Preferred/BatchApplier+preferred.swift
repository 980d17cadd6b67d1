// SPDX-License-Identifier: Apache-2.0

import BridgeProtocol
import CredentialService
import ThreadCredentialStore
import ThreadDataset

/// What follows when the preferred network of a home changes.
extension BatchApplier {
  /// Makes what a router reports the preferred network.
  ///
  /// - Parameter reporter: how people call the router.
  func replacePreferred(
    with dataset: OperationalDataset, _ cause: PreferredCause, by reporter: String,
    in home: HomeContext
  ) throws {
    let before = try preferredNetwork(of: home)
    let former = try store.replacePreferredNetwork(
      of: home.record.name, to: dataset, keepsFormer: false, tx)
    try preferredIsSet(
      PreferredChange(from: before, to: dataset, cause: cause, formerID: former), by: reporter,
      in: home)
  }

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
    try lookAtKeyDisputes()
    try lookAtMoves()
    for home in servedHomes where home.needsWalk { try recheckRouters(in: home, after: 0) }
  }

  /// Takes note of a router that is about to be written, for the alerts of its home.
  func noteChange(
    of router: RouterRecord, stored: RouterRecord?, _ dataset: OperationalDataset?,
    home: HomeContext
  ) throws {
    home.hasChangedRouters = true
    try noteKeys(dataset, home: home)
    try lookAtMove(with: router, stored: stored, home: home)
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
    try isPartOfMove(router, home: home) || claimsKeys(router, dataset, home: home)
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

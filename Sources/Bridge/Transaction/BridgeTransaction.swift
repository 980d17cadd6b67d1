// SPDX-License-Identifier: Apache-2.0

import Broker
import SQLiteDatabase
import ThreadCredentialStore

/// One transaction of the bridge, as `TransactionRunner` hands it to what runs in it: what can be looked up, the
/// components, and the one place where what follows is applied. Credentials, registry, alerts and events change
/// together or not at all.
final class BridgeTransaction {
  let context: TransactionContext
  let progress: TransactionProgress
  let messages: MessageApplier
  private let effects: EffectApplier

  init(
    _ configuration: BridgeConfiguration, _ store: ThreadCredentialStore, _ parts: RequestParts,
    now: WireTime, _ tx: WriteTransaction
  ) throws {
    context = try TransactionContext(configuration, store, parts, now: now, tx)
    progress = try TransactionProgress(tx)
    effects = EffectApplier(context: context, progress: progress)
    messages = MessageApplier(context, progress, effects)
  }

  var tx: WriteTransaction { context.tx }
  var now: WireTime { context.now }

  func apply(_ effects: [Effect]) throws { try self.effects.apply(effects) }

  /// What follows from all of it together: checks of routers and homes, the counts of networks.
  func finish() throws {
    try finishPreferredNetworks()
    if context.configuration.adoptTimeout != nil {
      for (home, agent) in progress.takeRaisedMismatches() {
        try context.adoptions.mismatchRaised(of: agent, home: home)
      }
    }
    try apply(
      progress.takeNetworks().effects(
        preferred: { try context.preferredNetwork(of: context.home($0)) }, tx))
    for home in context.homes.values where home.changes.needsHomeCheck {
      if home.changes.routers != 0 {
        try HomeLedger.addRouters(home.changes.routers, to: home.record.id, tx)
      }
      try apply(context.preferredNetworks.checkExists(in: home))
    }
    let forgotten = progress.outcome.counts.forgotten
    if forgotten > 0 {
      progress.outcome.news.add(
        .info, "border routers that left are forgotten", ["count": "\(forgotten)"])
    }
  }

  /// The first routers of a home are checked in the transaction that changes what they are checked against; the clock
  /// checks the others.
  private func finishPreferredNetworks() throws {
    let homes = context.servedHomes
    for home in homes where home.changes.isPreferredNew { try recheckRouters(in: home) }
    for home in homes where try context.preferredNetworks.needsDisputeCheck(in: home) {
      let before = try context.preferredNetwork(of: home)
      try apply(context.preferredNetworks.settleDispute(in: home))
      if try context.preferredNetwork(of: home) != before { try recheckRouters(in: home) }
    }
    for home in homes { try apply(context.preferredNetworks.settleChange(in: home)) }
    for home in homes { try apply(context.preferredNetworks.settleMove(of: home)) }
    for home in homes where home.changes.needsRouterChecks { try recheckRouters(in: home) }
  }

  private func recheckRouters(in home: HomeContext) throws {
    try apply([.recheckRouters(home: home.record.id, after: 0)])
  }
}

// SPDX-License-Identifier: Apache-2.0

import Broker
import KeychainCore
import SQLiteDatabase
import ThreadCredentialStore
import ThreadDataset

/// What time brings: alerts that have been held long enough, routers that fell silent, routers to check
/// again. It goes the way of a message: components decide inside a transaction, and what follows is applied.
struct TickApplier {
  /// Alerts raised or forgotten in one tick.
  private static let alertsAtOnce = 200
  /// Rows looked at in one tick, so that intake never waits for a walk.
  private static let presenceStep = 5_000
  private static let adoptionStep = 200
  /// Routers forgotten in one tick.
  private static let forgottenAtOnce = 50
  /// Items looked at in one tick.
  private static let itemsAtOnce = 500

  let transaction: BridgeTransaction
  /// Since when everything that routers publish has been received; nil while it is not.
  let listeningSince: WireTime?
  /// The number of the connection that publishes; nil while there is none.
  var connection: Int64?
  var deliveries = AdoptionDeliveries()

  private var context: TransactionContext { transaction.context }

  func apply(_ cursors: inout TickCursors) throws {
    let alerts = context.alerts
    try followJump(&cursors.clock)
    // Before alerts are raised: a split that is over is none.
    for home in context.servedHomes {
      try transaction.apply(NetworkSplits(context: context, home: home).check())
    }
    try transaction.apply(alerts.raiseDue(limit: Self.alertsAtOnce))
    try transaction.apply(alerts.forgetResolved(limit: Self.alertsAtOnce))
    try transaction.apply(alerts.endNotices(limit: Self.alertsAtOnce))
    try noticeSilence(cursor: &cursors.presence)
    try context.ownership.listOwnedIDs(limit: Self.itemsAtOnce)
    try forgetLeftRouters()
    try transaction.apply(context.consents.expire())
    try transaction.apply(context.servedHomes.map { .checkButtons(home: $0.record.id) })
    try recheckRouters()
    try continueAdoptions(cursor: &cursors.adoptions)
  }

  /// A hold lasts as long as it should, whether the clock was set forward or back. What is said to have happened later
  /// than now happened now: otherwise it would not be over before the clock is there again.
  private func followJump(_ clock: inout ClockJumps) throws {
    guard let jump = clock.pendingShift else { return }
    try AlertLedger.moveHolds(by: jump, notLaterThan: context.now, context.tx)
    try AlertLedger.changeNotLater(than: context.now, context.tx)
    try RouterLedger.seeNotLater(than: context.now, context.tx)
    try HomeLedger.discoverNotLater(than: context.now, context.tx)
    clock.shifted()
  }

  private func continueAdoptions(cursor: inout Int64) throws {
    let routers = try RouterLedger.adopting(
      after: cursor, limit: Self.adoptionStep, context.tx)
    let link = Adoptions.Link(
      connection: connection, listeningSince: listeningSince, deliveries: deliveries)
    var round = Adoptions.Round()
    for router in routers {
      guard let home = context.servedHomes.first(where: { $0.record.id == router.home }) else {
        continue
      }
      try transaction.apply(
        context.adoptions.tick(
          router, preferred: { try context.preferredCredentials(of: home) }, link, &round,
          in: home.record.name))
    }
    cursor = routers.count < Self.adoptionStep ? 0 : routers.last?.id ?? 0
  }

  private func noticeSilence(cursor: inout Int64) throws {
    let limit = context.configuration.offlineAfter
    // A daemon that was away, or a broker that was, has received nothing: that is no silence of the routers.
    guard limit > 0, let listeningSince,
      listeningSince.adding(seconds: limit) <= context.now
    else { return }
    let deadline = context.now.adding(seconds: -limit)
    let (silent, last) = try RouterLedger.silent(
      after: cursor, limit: Self.presenceStep, before: deadline, context.tx)
    cursor = last ?? 0
    for stored in silent {
      try transaction.apply([.router(context.routers.silence(of: stored))])
    }
  }

  /// Forgets routers that left 30 days ago.
  private func forgetLeftRouters() throws {
    let deadline = context.now.adding(seconds: -Ownership.retention)
    let left = try RouterLedger.left(before: deadline, limit: Self.forgottenAtOnce, context.tx)
    for router in left {
      let home = try context.home(router.home).record.name
      let effects = try context.ownership.forget(router, in: home, of: nil, leftBefore: deadline)
      try transaction.apply(effects ?? [])
    }
  }

  /// The preferred network changed, or the daemon started: what is true of every router now?
  private func recheckRouters() throws {
    for home in context.servedHomes where !home.changes.isPreferredNew {
      guard let cursor = home.record.reevaluateAfter else { continue }
      try transaction.apply([.recheckRouters(home: home.record.id, after: cursor)])
    }
  }
}

// SPDX-License-Identifier: Apache-2.0

import BridgeProtocol
import KeychainCore
import SQLiteDatabase
import ThreadCredentialStore
import ThreadDataset

/// What time brings: alerts that have been held long enough, routers that fell silent, routers to check
/// anew. It goes the way of a message: a decision, inside a transaction.
struct TickApplier {
  /// Alerts raised or forgotten in one tick.
  private static let alertsAtOnce = 200
  /// Rows looked at in one tick, so that intake never waits for a walk.
  private static let presenceStep = 5_000
  private static let adoptionStep = 200

  let batch: BatchApplier
  /// Since when everything that routers say has been heard; nil while it is not.
  let listeningSince: WireTime?
  /// The number of the connection that speaks; nil while there is none.
  var connection: Int64?
  var deliveries = AdoptionDeliveries()

  func apply(_ cursors: inout TickCursors) throws {
    try batch.raiseDueAlerts(limit: Self.alertsAtOnce)
    try forgetResolvedAlerts()
    try batch.endNotices(limit: Self.alertsAtOnce)
    try noticeSilence(cursor: &cursors.presence)
    try listOwnedIDs()
    try forgetLeftRouters()
    try batch.apply(batch.consents.expire())
    for home in batch.servedHomes { try reevaluate(home) }
    try passAdoptions(cursor: &cursors.adoptions)
  }

  private func passAdoptions(cursor: inout Int64) throws {
    let routers = try RouterLedger.adopting(
      after: cursor, limit: Self.adoptionStep, batch.tx)
    let link = Adoptions.Link(
      connection: connection, listeningSince: listeningSince, deliveries: deliveries)
    var round = Adoptions.Round()
    for router in routers {
      guard let home = batch.servedHomes.first(where: { $0.record.id == router.home }) else {
        continue
      }
      try batch.apply(
        batch.adoptions.pass(
          router, preferred: { try batch.preferredNetwork(of: home) }, link, &round,
          in: home.record.name))
    }
    cursor = routers.count < Self.adoptionStep ? 0 : routers.last?.id ?? 0
  }

  private func forgetResolvedAlerts() throws {
    let deadline = batch.now.adding(seconds: -AlertState.resolvedRetention)
    let gone = try AlertLedger.resolved(before: deadline, limit: Self.alertsAtOnce, batch.tx)
    for alert in gone {
      try AlertLedger.delete(alert.fingerprint, batch.tx)
      var event = EventRecord(time: batch.now, home: alert.home)
      event.alert = alert.fingerprint
      try batch.append(event)
    }
  }

  private func noticeSilence(cursor: inout Int64) throws {
    let limit = batch.configuration.offlineAfter
    // A daemon that was away, or a broker that was, has heard nobody: that is no silence of theirs.
    guard limit > 0, let listeningSince,
      listeningSince.adding(seconds: limit) <= batch.now
    else { return }
    let (silent, last) = try RouterLedger.silent(
      after: cursor, limit: Self.presenceStep, before: batch.now.adding(seconds: -limit), batch.tx)
    cursor = last ?? 0
    for stored in silent {
      try batch.apply([.router(batch.routers.silence(of: stored))])
    }
  }

  /// The preferred network changed, or the daemon started: what is true of every router now?
  private func reevaluate(_ home: HomeContext) throws {
    guard let cursor = home.record.reevaluateAfter, !home.isPreferredNew else { return }
    try batch.recheckRouters(in: home, after: cursor)
  }
}

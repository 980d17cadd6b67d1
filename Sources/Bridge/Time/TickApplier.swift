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
      var router = stored
      router.takeOffline(.silent, now: batch.now)
      try batch.finishUnchangedDataset(
        router, stored: stored, trigger: "silence", home: batch.home(stored.home))
    }
  }

  /// The preferred network changed, or the daemon started: what is true of every router now?
  private func reevaluate(_ home: HomeContext) throws {
    guard let cursor = home.record.reevaluateAfter, !home.isPreferredNew else { return }
    try batch.recheckRouters(in: home, after: cursor)
  }
}

extension BatchApplier {
  /// Routers that are checked in one transaction.
  private static let recheckStep = 200

  /// Checks the next routers of a home against the preferred network as it is now.
  func recheckRouters(in home: HomeContext, after cursor: Int64) throws {
    let routers = try RouterLedger.page(
      home: home.record.id, after: cursor, limit: Self.recheckStep, tx)
    for router in routers { try reevaluate(router, home: home) }
    let isDone = routers.count < Self.recheckStep
    try HomeLedger.setReevaluation(after: isDone ? nil : routers.last?.id, of: home.record.id, tx)
  }

  /// Checks one router against the preferred network as it is now.
  func reevaluate(_ stored: RouterRecord, home: HomeContext) throws {
    let preferred = try preferredNetwork(of: home)
    let credential = try readableCredential(of: stored.agent, home: home)
    if let credential {
      let follows = Membership.follows(
        wasMember: credential.followsPreferred, dataset: credential.dataset, preferred: preferred)
      if follows != credential.followsPreferred {
        try store.update(credential, followsPreferred: follows, tx)
      }
    }
    if let changed = try caughtUp(stored, credential, home: home) {
      var record = EventRecord(time: now, home: home.record.id)
      record.router = stored.agent
      return try finish(
        changed, stored: stored, dataset: credential?.dataset, record: record,
        trigger: "preferred_changed", home: home)
    }
    var router = stored
    let dataset = credential?.dataset
    let check = PreferredCheck(dataset, of: router, preferred: preferred)
    router.preferred = check.name
    if check == .match, router.memberOf != preferred?.extendedPANID {
      router.memberOf = preferred?.extendedPANID
      home.needsMoveLook = true
    }
    try checkAdoption(of: &router, check, dataset, isSSIDNew: false, home: home)
    if router.preferred != stored.preferred || router.adoption != stored.adoption {
      var record = EventRecord(time: now, home: home.record.id)
      record.router = router.agent
      router.generation = try append(record)
    }
    let wanted = RouterAlertConditions(
      router: router, check: check, dataset: dataset, preferred: preferred,
      trigger: "preferred_changed",
      addressee: try adoptions.addressee(ofFailed: router, in: home.record.name),
      currentName: try currentNetworkName(of: router, home: home),
      isToldOfHome: try isToldOfHome(router, dataset, home: home)
    ).wanted
    try setAlerts(wanted, of: &router, home: home)
    if router != stored { try RouterLedger.update(router, tx) }
  }

  /// The router as the store has it, when a program has changed that while no daemon ran; nil when it
  /// is as the registry says, or damaged.
  private func caughtUp(
    _ stored: RouterRecord, _ credential: ThreadCredential?, home: HomeContext
  ) throws -> RouterRecord? {
    var router = stored
    if let dataset = credential?.dataset {
      guard
        dataset.extendedPANID != stored.network || dataset.networkName != stored.networkName
          || dataset.activeTimestamp?.seconds != stored.activeSeconds
          || dataset.channel.map({ Int($0.number) }) != stored.channel
          || dataset.panID.map(Int.init) != stored.panID
      else { return nil }
      router.credential = .stored
      router.describe(dataset, at: now)
      return router
    }
    guard stored.network != nil, try !holdsCredential(stored.agent, home: home) else { return nil }
    router.credential = .missing
    router.forgetDataset()
    return router
  }

  /// Whether credentials are stored for a router, also damaged ones.
  private func holdsCredential(_ agent: BorderAgentID, home: HomeContext) throws -> Bool {
    do {
      return try store.team(of: agent, in: home.record.name, tx) != nil
    } catch let error as KeychainError where error.isItemDamaged {
      return true
    }
  }
}

// SPDX-License-Identifier: Apache-2.0

import Broker
import ThreadCredentialStore
import ThreadDataset

/// Routers that are checked again, or written again, though none of them has sent anything.
extension RouterWriter {
  /// Routers that are checked in one transaction.
  private static let recheckStep = 200

  /// The next routers of a home to be checked against the preferred network. How far the checks are is noted.
  func nextToRecheck(in home: HomeContext, after cursor: Int64) throws -> [RouterRecord] {
    let page = try RouterLedger.page(
      home: home.record.id, after: cursor, limit: Self.recheckStep, context.tx)
    let isDone = page.count < Self.recheckStep
    try HomeLedger.setReevaluation(
      after: isDone ? nil : page.last?.id, of: home.record.id, context.tx)
    return page
  }

  /// Checks one router against the current preferred network.
  func recheck(_ stored: RouterRecord, home: HomeContext) throws -> [Effect] {
    let preferred = try context.preferredNetwork(of: home)
    let credential = try context.store.readableCredential(
      of: stored.agent, in: home.record.name, context.tx)
    if let credential {
      let follows = Membership.follows(
        wasMember: credential.followsPreferred, dataset: credential.dataset, preferred: preferred)
      if follows != credential.followsPreferred {
        try context.store.update(credential, followsPreferred: follows, context.tx)
      }
    }
    if let changed = try context.routers.caughtUp(stored, credential, in: home.record.name) {
      return try write(changed)
    }
    var router = stored
    let dataset = credential?.dataset
    let check = PreferredCheck(dataset, of: router, preferred: preferred)
    router.preferred = try published(check, of: router, home: home)
    if check == .match || check == .stale([]), router.memberOf != preferred?.extendedPANID {
      router.noteMember(of: preferred?.extendedPANID, stored: stored)
      home.changes.needsMoveCheck = true
    }
    var effects = try checkAdoption(of: &router, check, dataset, isSSIDNew: false, home: home)
    if router.preferred != stored.preferred || router.adoption != stored.adoption {
      var record = EventRecord(time: context.now, home: home.record.id)
      record.router = router.agent
      router.generation = try progress.append(record)
    }
    effects += try setAlerts(
      of: &router, check, dataset, trigger: "preferred_changed", home: home)
    if router != stored { try RouterLedger.update(router, context.tx) }
    return effects
  }

  /// Puts a router into a table that was created again.
  func restore(_ stored: RouterRecord) throws {
    guard let home = try? context.home(stored.home) else { return }
    var router = stored
    // The checks that follow raise again what still holds.
    router.alerts = 0
    if router.isPresent {
      var record = EventRecord(time: context.now, home: router.home)
      record.router = router.agent
      router.generation = try progress.append(record)
      home.changes.count(routers: 1)
      try countNetwork(of: router)
    }
    try RouterLedger.insert(router, context.tx)
  }

  /// Counts a router for its network, whose table was created again.
  func countNetwork(of router: RouterRecord) throws {
    guard router.isPresent, let home = try? context.home(router.home) else { return }
    progress.networks.note(
      home: home.record.id, from: nil, to: router.contribution,
      dataset: try readableDataset(of: router, home: home), name: router.networkName)
  }
}

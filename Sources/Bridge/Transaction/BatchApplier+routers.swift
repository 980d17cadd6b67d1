// SPDX-License-Identifier: Apache-2.0

import BridgeProtocol
import KeychainCore
import ThreadCredentialStore
import ThreadDataset

/// The end that all changes of a router have in common: what is true of it now is decided again, whoever has changed it.
extension BatchApplier {
  /// Checks against the preferred network, counts, alerts, and writes the row.
  func write(_ change: RouterChange) throws {
    let (stored, record) = (change.stored, change.event)
    let home = try home(change.router.home)
    var router = change.router
    if change.endsAdoption { try apply(adoptions.end(&router, in: home.record.name)) }
    let dataset: OperationalDataset? =
      switch change.dataset {
      case .known(let dataset): dataset
      case .unchanged: try readableDataset(of: router.agent, home: home)
      }
    let preferred = try preferredNetwork(of: home)
    let check = PreferredCheck(dataset, of: router, preferred: preferred)
    router.preferred = check.name
    if check == .match { router.memberOf = preferred?.extendedPANID }
    try checkAdoption(
      of: &router, check, dataset, isSSIDNew: record.types.contains(.ssidChanged), home: home)
    if let stored, record.types.isEmpty, router.showsTheSame(as: stored) {
      try RouterLedger.touch(router, tx)
      return
    }
    router.generation = try append(record)
    noteNetwork(
      in: home, from: stored?.contribution, to: router.contribution,
      dataset: router.datasetChangedAt == now ? dataset : nil)
    try noteChange(of: router, stored: stored, dataset, home: home)
    try setAlerts(of: &router, check, dataset, trigger: change.trigger, home: home)
    if stored == nil {
      try RouterLedger.insert(router, tx)
    } else {
      try RouterLedger.update(router, tx)
    }
  }

  /// Takes a router off the list: its topics are emptied, its alerts resolve, its adoption ends. Its row is
  /// the component's.
  ///
  /// - Parameter record: what is published as `router_left`, with all that is known beside the router.
  func unlist(_ listed: RouterRecord, _ left: EventRecord) throws {
    var (router, record) = (listed, left)
    let home = try home(router.home)
    record.types.insert(.routerLeft)
    record.router = router.agent
    record.network = router.network
    record.detail.networkName = router.networkName
    try apply(adoptions.end(&router, in: home.record.name))
    noteNetwork(in: home, from: router.contribution, to: nil)
    if try isLastOfPreferred(router, home: home) {
      record.detail.message =
        "the last border router of the preferred network left; it stays preferred"
    }
    try append(record)
    try setAlerts([:], of: &router, home: home)
    home.hasChangedRouters = true
    home.needsMoveLook = true
    noteRouter(in: home, change: -1)
  }

  private func isLastOfPreferred(_ router: RouterRecord, home: HomeContext) throws -> Bool {
    guard let network = router.network,
      try preferredNetwork(of: home)?.extendedPANID == network
    else { return false }
    return try routers(on: network, home: home) == 0
  }

  private func checkAdoption(
    of router: inout RouterRecord, _ check: PreferredCheck, _ dataset: OperationalDataset?,
    isSSIDNew: Bool, home: HomeContext
  ) throws {
    let unchecked = router
    try apply(
      adoptions.check(
        &router, check, reported: dataset, preferred: preferredNetwork(of: home),
        isRaised: alerts.isFiring(.preferredNetworkMismatch, of: unchecked, in: home.record),
        isSSIDNew: isSSIDNew, in: home.record.name))
  }

  private func setAlerts(
    of router: inout RouterRecord, _ check: PreferredCheck, _ dataset: OperationalDataset?,
    trigger: String, home: HomeContext
  ) throws {
    let wanted = RouterAlertConditions(
      router: router, check: check, dataset: dataset, preferred: try preferredNetwork(of: home),
      trigger: trigger,
      addressee: try adoptions.addressee(ofFailed: router, in: home.record.name),
      currentName: try currentNetworkName(of: router, home: home),
      isToldOfHome: try isToldOfHome(router, dataset, home: home)
    ).wanted
    try setAlerts(wanted, of: &router, home: home)
  }

  /// The name of the network that a router is on without being configured for it, where a router of that
  /// network has told the name.
  private func currentNetworkName(of router: RouterRecord, home: HomeContext) throws -> String? {
    guard router.isElsewhere, let network = router.currentNetwork else { return nil }
    let name = try NetworkLedger.find(network, home: home.record.id, tx)?.name
    return name?.isEmpty == false ? name : nil
  }

  // MARK: Checked again

  /// Routers that are checked in one transaction.
  private static let recheckStep = 200

  /// Checks the next routers of a home against the preferred network as it is now.
  func recheckRouters(in home: HomeContext, after cursor: Int64) throws {
    let page = try RouterLedger.page(
      home: home.record.id, after: cursor, limit: Self.recheckStep, tx)
    for router in page { try recheck(router, home: home) }
    let isDone = page.count < Self.recheckStep
    try HomeLedger.setReevaluation(after: isDone ? nil : page.last?.id, of: home.record.id, tx)
  }

  /// Checks one router against the preferred network as it is now.
  private func recheck(_ stored: RouterRecord, home: HomeContext) throws {
    let preferred = try preferredNetwork(of: home)
    let credential = try readableCredential(of: stored.agent, home: home)
    if let credential {
      let follows = Membership.follows(
        wasMember: credential.followsPreferred, dataset: credential.dataset, preferred: preferred)
      if follows != credential.followsPreferred {
        try store.update(credential, followsPreferred: follows, tx)
      }
    }
    if let changed = try routers.caughtUp(stored, credential, in: home.record.name) {
      return try write(changed)
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
    try setAlerts(of: &router, check, dataset, trigger: "preferred_changed", home: home)
    if router != stored { try RouterLedger.update(router, tx) }
  }
}

// SPDX-License-Identifier: Apache-2.0

import Broker
import ThreadCredentialStore
import ThreadDataset

/// The end that all changes of a router have in common: what is true of it now is decided again, whatever has changed
/// it.
struct RouterWriter {
  let context: TransactionContext
  let progress: TransactionProgress

  /// Checks against the preferred network, counts, decides about its alerts, and writes the row.
  func write(_ change: RouterChange) throws -> [Effect] {
    let home = try context.home(change.router.home)
    var router = change.router
    var effects: [Effect] = []
    let dataset: OperationalDataset? =
      switch change.dataset {
      case .known(let dataset): dataset
      case .unchanged: try readableDataset(of: router, home: home)
      }
    let preferred = try context.preferredNetwork(of: home)
    let check = PreferredCheck(dataset, of: router, preferred: preferred)
    router.preferred = try published(check, of: router, home: home)
    if check == .match || check == .stale([]) {
      router.noteMember(of: preferred?.extendedPANID, stored: change.stored)
    }
    effects += try checkAdoption(
      of: &router, check, dataset, isSSIDNew: change.event.types.contains(.ssidChanged), home: home)
    let stored = change.stored
    if let stored, change.event.types.isEmpty, router.showsTheSame(as: stored) {
      try RouterLedger.touch(router, context.tx)
      return effects
    }
    var event = change.event
    event.routerName = router.displayName
    if let stored, stored.isPresent, !stored.isOnline, router.isOnline {
      if event.types.isEmpty { event.detail.message = "\(router.shownName) is back" }
      event.types.insert(.routerOnline)
    }
    router.generation = try progress.append(event)
    let isNameNew =
      router.networkName != stored?.networkName || router.contribution != stored?.contribution
    if isNameNew { home.changes.needsHomeCheck = true }
    progress.networks.note(
      home: home.record.id, from: stored?.contribution, to: router.contribution,
      dataset: router.datasetChangedAt == context.now ? dataset : nil,
      name: isNameNew ? router.networkName : nil)
    try HomeWatch(context: context, home: home).note(router, stored: stored, dataset)
    effects += try setAlerts(of: &router, check, dataset, trigger: change.trigger, home: home)
    if stored == nil {
      try RouterLedger.insert(router, context.tx)
    } else {
      try RouterLedger.update(router, context.tx)
    }
    try announce(router, stored: stored, home: home)
    return effects
  }

  /// A device that Home Assistant does not know so is announced to it.
  func announce(_ router: RouterRecord, stored: RouterRecord?, home: HomeContext) throws {
    guard let place = context.configuration.homeAssistantPlace(of: home.record.name),
      router.needsAnnouncement(after: stored)
    else { return }
    try HomeAssistantLedger.setDue(
      place.routerTopic(router.agent), of: router.agent, home: home.record.id,
      from: router.generation, context.tx)
  }

  /// Takes a router off the list: its topics are emptied, its alerts resolve, its adoption ends. Its row is
  /// the component's.
  ///
  /// - Parameter record: what is published as `router_left`, with all that is known beside the router.
  func unlist(_ listed: RouterRecord, _ left: EventRecord) throws -> [Effect] {
    var (router, record) = (listed, left)
    let home = try context.home(router.home)
    record.types.insert(.routerLeft)
    record.router = router.agent
    record.routerName = router.displayName
    record.network = router.network
    record.detail.networkName = router.networkName
    var effects = try context.adoptions.end(&router, in: home.record.name)
    progress.networks.note(
      home: home.record.id, from: router.contribution, to: nil, dataset: nil)
    if try isLastOfPreferred(router, home: home) {
      record.detail.message =
        "the last border router of the preferred network left; it stays preferred"
    }
    let event = try progress.append(record)
    try HomeAssistantLedger.setDue(router.agent, home: router.home, from: event, context.tx)
    effects += try context.alerts.set([:], of: &router, in: home.record)
    home.changes.hasChangedRouters = true
    home.changes.needsMoveCheck = true
    home.changes.count(routers: -1)
    return effects
  }

  private func isLastOfPreferred(_ router: RouterRecord, home: HomeContext) throws -> Bool {
    guard let network = router.network,
      try context.preferredNetwork(of: home)?.extendedPANID == network
    else { return false }
    let stored = try NetworkLedger.find(network, home: home.record.id, context.tx)?.routers ?? 0
    // With what this transaction has changed so far.
    return stored + progress.networks.routersChange(of: network, home: home.record.id) == 0
  }

  func readableDataset(of router: RouterRecord, home: HomeContext) throws -> OperationalDataset? {
    try context.store.readableCredential(
      of: router.agent, in: home.record.name, context.tx)?.dataset
  }

  func checkAdoption(
    of router: inout RouterRecord, _ check: PreferredCheck, _ dataset: OperationalDataset?,
    isSSIDNew: Bool, home: HomeContext
  ) throws -> [Effect] {
    // No login has announced it, so there is none that could be sent something.
    guard router.source == .mqtt || router.adoption != nil else { return [] }
    return try context.adoptions.check(
      &router, check, reported: dataset, preferred: context.preferredCredentials(of: home),
      isRaised: {
        try context.alerts.isFiring(.preferredNetworkMismatch, of: $0, in: home.record)
      },
      isSSIDNew: isSSIDNew, in: home.record.name)
  }

  func setAlerts(
    of router: inout RouterRecord, _ check: PreferredCheck, _ dataset: OperationalDataset?,
    trigger: String, home: HomeContext
  ) throws -> [Effect] {
    let wanted = RouterAlertConditions(
      router: router, check: check, dataset: dataset,
      preferred: try context.preferredNetwork(of: home), trigger: trigger,
      addressee: try context.adoptions.addressee(ofFailed: router, in: home.record.name),
      currentName: try currentNetworkName(of: router, home: home),
      isExplainedByHome: try HomeWatch(context: context, home: home).explains(router, dataset),
      isNetworkAccepted: try isOnAcceptedNetwork(router, check, home: home),
      homeOption: context.homeOption(home)
    ).wanted
    return try context.alerts.set(wanted, of: &router, in: home.record)
  }

  /// `match`, `mismatch` or `none`. A router that was only seen on an accepted network is no mismatch for anybody.
  func published(
    _ check: PreferredCheck, of router: RouterRecord, home: HomeContext
  ) throws -> String {
    let preferred = try context.preferredNetwork(of: home)?.extendedPANID
    guard router.memberOf != preferred, try isOnAcceptedNetwork(router, check, home: home) else {
      return check.name
    }
    return PreferredCheck.none.name
  }

  private func isOnAcceptedNetwork(
    _ router: RouterRecord, _ check: PreferredCheck, home: HomeContext
  ) throws -> Bool {
    guard check.isMismatch, router.source == .mdns, router.credential == .missing,
      let network = router.network
    else { return false }
    return try AcceptedNetworkLedger.contains(network, home: home.record.id, context.tx)
  }

  /// The name of the network that a router is on without being configured for it, where a router of that
  /// network has reported the name.
  private func currentNetworkName(of router: RouterRecord, home: HomeContext) throws -> String? {
    guard router.isElsewhere, let network = router.currentNetwork else { return nil }
    let name = try NetworkLedger.find(network, home: home.record.id, context.tx)?.name
    return name?.isEmpty == false ? name : nil
  }
}

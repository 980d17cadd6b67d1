// SPDX-License-Identifier: Apache-2.0

import BridgeProtocol
import ThreadCredentialStore
import ThreadDataset

/// The other events, and the end that all of them have in common.
extension BatchApplier {
  func applyPresence(
    _ event: InboundEvent, to ordered: RouterRecord, stored: RouterRecord, home: HomeContext
  ) throws {
    var router = ordered
    if event.kind == .heartbeat {
      router.beats = true
      router.lastSeen = now
      router.takeThreadReport(of: event, now: now)
    } else {
      router.takeOffline(event.offlineReason, now: now)
    }
    // The numbers are those of a user: they must not be written without it.
    if router.showsTheSame(as: stored) {
      try RouterLedger.touch(router, tx)
      return
    }
    if event.kind == .heartbeat {
      try adoptions.judgeHeartbeat(
        of: &router, preferred: preferredNetwork(of: home), in: home.record.name)
    }
    try finishUnchangedDataset(router, stored: stored, trigger: event.kind.rawValue, home: home)
  }

  func applySSID(_ event: InboundEvent, to stored: RouterRecord, home: HomeContext) throws {
    guard let ssid = event.ssid else { return }
    let previous = event.previousSSID ?? stored.ssid
    guard ssid != stored.ssid else { return }
    var router = stored
    router.previousSSID = previous
    router.ssid = ssid
    var record = EventRecord(time: now, home: home.record.id)
    record.router = router.agent
    let dataset = try store.credential(of: router.agent, in: home.record.name, tx)?.dataset
    if let previous, previous != ssid {
      record.types.insert(.ssidChanged)
      record.detail.ssid = ssid
      record.detail.previousSSID = previous
      record.detail.preferred =
        PreferredCheck(dataset, of: router, preferred: try preferredNetwork(of: home)).name
    }
    try finish(
      router, stored: stored, dataset: dataset, record: record,
      trigger: record.types.isEmpty ? "ssid" : "ssid_changed", home: home)
  }

  /// The router left the Thread network: its credentials go, and what was said about it is taken back.
  func applyLeave(
    to known: RouterRecord?, ordered: RouterRecord, credential: ThreadCredential?, owner: String?,
    home: HomeContext
  ) throws {
    if let credential { try store.delete(credential, tx) }
    guard let router = known else {
      if credential == nil { countDuplicate() }
      // A row without an id is not stored: then there is no number to remember either.
      guard ordered.id != 0 else { return }
      var gone = ordered
      if credential != nil {
        gone.credential = .missing
        gone.lastSeen = now
      }
      return try RouterLedger.update(gone, tx)
    }
    var record = EventRecord(time: now, home: home.record.id)
    record.user = ordered.user
    try unlist(router, record, home: home)
    if ordered.order.isEmpty, owner == nil {
      try RouterLedger.delete(router, tx)
    } else {
      var gone = RouterRecord(
        absent: router.agent, home: home.record.id, user: ordered.user,
        team: owner ?? configuration.team(ordered.user), credential: .missing, since: now)
      gone.id = router.id
      gone.order = ordered.order
      try RouterLedger.update(gone, tx)
    }
    for user in Set([router.user, ordered.user]) { try plaintextEnded(of: user, home: home) }
  }

  /// Takes a router off the list: its topics are emptied, its alerts resolve, its adoption ends. Its row is
  /// the caller's.
  ///
  /// - Parameter record: what is published as `router_left`, with all that is known beside the router.
  func unlist(_ listed: RouterRecord, _ left: EventRecord, home: HomeContext) throws {
    var (router, record) = (listed, left)
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

  /// For changes that leave the dataset alone but may change what is to be said.
  func finishUnchangedDataset(
    _ router: RouterRecord, stored: RouterRecord, trigger: String, home: HomeContext
  ) throws {
    var record = EventRecord(time: now, home: home.record.id)
    record.router = router.agent
    try finish(
      router, stored: stored,
      dataset: try readableDataset(of: router.agent, home: home), record: record, trigger: trigger,
      home: home)
  }

  /// Checks against the preferred network, counts, alerts, and writes the row.
  ///
  /// - Parameter dataset: what is stored for the router.
  func finish(
    _ changed: RouterRecord, stored: RouterRecord?, dataset: OperationalDataset?,
    record: EventRecord, trigger: String, home: HomeContext
  ) throws {
    var router = changed
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
    let wanted = RouterAlertConditions(
      router: router, check: check, dataset: dataset, preferred: preferred, trigger: trigger,
      addressee: try adoptions.addressee(ofFailed: router, in: home.record.name),
      currentName: try currentNetworkName(of: router, home: home),
      isToldOfHome: try isToldOfHome(router, dataset, home: home)
    ).wanted
    try setAlerts(wanted, of: &router, home: home)
    if stored == nil {
      try RouterLedger.insert(router, tx)
    } else {
      try RouterLedger.update(router, tx)
    }
  }

  func checkAdoption(
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

  /// The name of the network that a router is on without being configured for it, where a router of that
  /// network has told the name.
  func currentNetworkName(of router: RouterRecord, home: HomeContext) throws -> String? {
    guard router.isElsewhere, let network = router.currentNetwork else { return nil }
    let name = try NetworkLedger.find(network, home: home.record.id, tx)?.name
    return name?.isEmpty == false ? name : nil
  }
}

extension RouterRecord {
  /// Equal in all that is published or checked; signs of life and numbers apart.
  func showsTheSame(as other: RouterRecord) -> Bool {
    var a = self
    var b = other
    guard BrokerUser.isSame(a.user, b.user) else { return false }
    a.lastSeen = b.lastSeen
    a.order = b.order
    a.beats = b.beats
    a.generation = b.generation
    b.alerts = a.alerts
    return a == b
  }
}

// SPDX-License-Identifier: Apache-2.0

import Bridge
import BridgeProtocol
import ThreadDataset

extension PageState {
  /// Routers of a home that the page draws.
  static let routersShown = 300
  /// Alerts of a home that it lists.
  static let alertsShown = 100

  /// What is known without the store.
  init(health: [Part], events: [RecentEvents.Event]) {
    version = threadkeeperVersion
    self.health = health
    self.events = events.map { Event($0) }
  }

  mutating func noteUnreadable(_ message: String, remedy: String?) {
    health.removeAll { $0.name == "store" }
    health.append(.init(name: "store", state: "bad", text: message, remedy: remedy))
  }

  /// - Parameter isDiscovering: whether the daemon sees now which routers are on the local network.
  mutating func read(_ registry: Registry, isDiscovering: Bool) throws {
    homes = try registry.reading {
      try registry.registry.homes().map { try Home($0, registry.registry, isDiscovering) }
    }
    alerts = try registry.list { registry, home in
      try registry.alerts(in: home, all: false).prefix(Self.alertsShown).map {
        Alert($0.state(home: home.name))
      }
    }.sorted { ($0.rank, $0.since) < ($1.rank, $1.since) }
  }
}

extension PageState.Home {
  init(_ home: HomeRecord, _ registry: BridgeRegistry, _ isDiscovering: Bool) throws {
    name = home.name
    let accepted = try registry.acceptedNetworks(in: home)
    let all = try registry.routers(in: home, limit: PageState.routersShown)
    more = max(0, home.routers - all.count)
    let groups = Dictionary(grouping: all) { $0.network }
    networks = try registry.networks(in: home).compactMap { record in
      let routers = groups[record.network] ?? []
      guard !routers.isEmpty || home.preferred == record.network else { return nil }
      let state = record.state(in: home, isAccepted: accepted.contains(record.network))
      return PageState.Network(
        id: state.extendedPANID, name: state.networkName, channel: state.channel,
        preferred: state.isPreferred, accepted: state.isAccepted,
        routers: routers.map { PageState.Router($0, isDiscovering) })
    }.sorted { $0.preferred && !$1.preferred }
    if let routers = groups[nil] {
      networks.append(
        .init(
          id: nil, name: "", channel: nil, preferred: false, accepted: false,
          routers: routers.map { PageState.Router($0, isDiscovering) }))
    }
  }
}

extension PageState.Router {
  init(_ router: RouterRecord, _ isDiscovering: Bool) {
    id = router.agent.description
    name = (router.name ?? "").printable.isEmpty ? id : (router.name ?? "").printable
    let parts = [router.vendor, router.model].compactMap { $0?.printable }
    make = parts.isEmpty ? nil : parts.joined(separator: " ")
    online = router.isOnline
    let minute: Int64 = 60_000
    seen =
      router.isAdvertised && isDiscovering
      ? nil : WireTime(milliseconds: router.lastSeen.milliseconds / minute * minute).description
    notes = []
    if router.preferred == "mismatch" { notes.append("not on the preferred network") }
    if router.isElsewhere { notes.append("runs on another network than its dataset says") }
    if let reason = router.offlineReason { notes.append("\(reason.rawValue)") }
    if router.isOnline, router.threadState == .detached { notes.append("detached") }
    if router.source != .mqtt { notes.append("seen on the local network only") }
    if !router.isKnown { notes.append("new here") }
  }
}

extension PageState.Alert {
  init(_ state: AlertState) {
    id = state.fingerprint
    home = state.home
    name = state.name.rawValue
    severity = state.severity.rawValue
    summary = state.facts.summary.printable
    remedy = state.facts.remedy.printable
    since = state.startsAt.description
  }

  /// The worst first.
  var rank: Int {
    AlertName.Severity.worstFirst.firstIndex { $0.rawValue == severity } ?? .max
  }
}

extension PageState.Consent {
  init(_ pending: ConsentReport.Pending) {
    id = pending.request.id
    requester = pending.request.requester.printable
    fingerprint = pending.request.fingerprint
    router = pending.request.router?.description.printable
    reason = pending.more.reason.printable
    networks = pending.request.networks.map { $0.name.printable }
    expires = pending.more.expiresAt
  }
}

extension PageState.Event {
  init(_ event: RecentEvents.Event) {
    at = event.at.description
    severity = event.severity
    text = event.text
    details = event.details.mapValues(\.printable)
  }
}

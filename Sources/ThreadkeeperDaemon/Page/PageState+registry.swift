// SPDX-License-Identifier: Apache-2.0

import Bridge
import BridgeProtocol
import SQLiteDatabase
import ThreadCredentialStore
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
    let alerts = try registry.list { registry, home in
      try registry.alerts(in: home, all: false).prefix(Self.alertsShown).map {
        Alert($0.state(home: home.name))
      }
    }.sorted { ($0.rank, $0.since) < ($1.rank, $1.since) }
    self.alerts = alerts
    homes = try registry.reading {
      try registry.registry.homes().map { home in
        let faults = alerts.filter { $0.home == home.name }.compactMap { alert in
          alert.router.map { ($0, alert.severity) }
        }
        return try Home(
          home, registry.registry, isDiscovering,
          faults: Dictionary(faults) { worst, _ in worst },
          hasCredentials: Self.hasCredentials(home, registry))
      }
    }
  }

  /// Whether the dataset of the preferred network is here. One that cannot be read now is not said to be missing.
  private static func hasCredentials(_ home: HomeRecord, _ registry: Registry) -> Bool {
    let store = ThreadCredentialStore(registry.keychain)
    let preferred = try? registry.keychain.database.read {
      try store.preferredNetwork(of: home.name, $0)
    }
    return preferred?.hasCredentials ?? true
  }
}

extension PageState.Home {
  /// - Parameter faults: the severity of the worst alert about each router that has one.
  init(
    _ home: HomeRecord, _ registry: BridgeRegistry, _ isDiscovering: Bool,
    faults: [String: String], hasCredentials: Bool
  ) throws {
    func shown(_ routers: [RouterRecord]) -> [PageState.Router] {
      routers.map { PageState.Router($0, isDiscovering, fault: faults[$0.agent.description]) }
    }
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
        preferred: state.isPreferred, credentials: !state.isPreferred || hasCredentials,
        accepted: state.isAccepted, preferable: !routers.isEmpty, routers: shown(routers))
    }.sorted { $0.preferred && !$1.preferred }
    undecided = home.preferred == nil && networks.count > 1
    if let routers = groups[nil] {
      networks.append(
        .init(
          id: nil, name: "", channel: nil, preferred: false, credentials: true, accepted: false,
          preferable: false, routers: shown(routers)))
    }
  }
}

extension PageState.Router {
  init(_ router: RouterRecord, _ isDiscovering: Bool, fault: String?) {
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
    switch router.offlineReason {
    case .stopped: notes.append("Thread is stopped")
    case .unreachable: notes.append("cannot be reached")
    case .frozen: notes.append("does not answer")
    case .untrusted: notes.append("is not asked: another user listens in its place")
    case .silent: notes.append("sends no heartbeat")
    case nil: break
    }
    if router.isOnline, router.threadState == .detached {
      notes.append("Thread is not connected to its network")
    }
    onlySeen = router.source != .mqtt
    isNew = !router.isKnown && router.preferred == "match"
    if isNew { notes.append("new here") }
    self.fault = fault
  }
}

extension PageState.Alert {
  init(_ state: AlertState) {
    id = state.fingerprint
    home = state.home
    router = state.facts.router
    name = state.name.rawValue
    severity = state.severity.rawValue
    summary = state.facts.headline.printable
    remedy = state.facts.remedy.printable
    since = state.startsAt.description
    canAsk =
      state.name == .adoptionFailed
      && state.facts.reason.flatMap(AdoptionState.init(rawValue:))?.canBeAskedAgain == true
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
    text = event.text.printable
  }
}

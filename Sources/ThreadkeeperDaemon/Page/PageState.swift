// SPDX-License-Identifier: Apache-2.0

import Bridge
import Broker
import SQLiteDatabase
import StatusPage
import ThreadCredentialStore
import ThreadDataset

/// What the page shows. Nothing secret has a place here, and nothing that changes by itself.
struct PageState: Encodable {
  struct Part: Encodable {
    /// `broker`, `intake`, `store`, `discovery`.
    var name: String
    /// `ok`, `bad`, `off`.
    var state: String
    /// One sentence.
    var text: String
    var remedy: String?
  }

  struct Router: Encodable {
    var id: String
    var name: String
    /// Vendor and model.
    var make: String?
    var online: Bool
    /// RFC 3339, to the minute; nil while it is seen on the local network.
    var seen: String?
    /// Remarks about it: not on the preferred network, runs on another network, …
    var notes: [String]
    /// Whether only its record on the local network says that it is there.
    var onlySeen: Bool
    /// Whether a person may accept that it joined the preferred network.
    var isNew: Bool
    /// The severity of the worst alert about it; nil: there is none.
    var fault: String?
  }

  struct Network: Encodable {
    /// Nil for routers without a network.
    var id: String?
    var name: String
    var channel: Int?
    var preferred: Bool
    /// False: it is preferred by its Extended PAN ID alone.
    var credentials: Bool
    var accepted: Bool
    /// Whether a person can prefer it.
    var preferable: Bool
    var routers: [Router]
  }

  struct Home: Encodable {
    var name: String
    /// Border routers are on several networks, and none is preferred: nothing is checked until a person prefers one.
    var undecided: Bool
    var networks: [Network]
    /// Routers that are not listed, because there are too many.
    var more: Int
  }

  struct Alert: Encodable {
    /// Its fingerprint.
    var id: String
    var home: String
    /// Border agent id of the router that it is about; nil for others.
    var router: String?
    var name: String
    var severity: String
    var summary: String
    var remedy: String
    var since: String
    /// Whether the question that it is about can be asked again.
    var canAsk: Bool
  }

  struct Consent: Encodable {
    var id: String
    var requester: String
    /// Of the key that the answer is sealed to; nil on this machine, where nothing is sealed.
    var fingerprint: String?
    /// That would be given the credentials; nil where the requester asks for itself.
    var router: String?
    var reason: String
    var networks: [String]
    var expires: String
  }

  struct Event: Encodable {
    var at: String
    var severity: String
    /// A sentence.
    var text: String
  }

  var version: String
  var health: [Part]
  /// These are nil while the store cannot be read.
  var homes: [Home]?
  var alerts: [Alert]?
  var consents: [Consent]?
  var events: [Event]
}

extension PageState.Part {
  init(_ check: Readiness.Check) {
    name = check.name
    state = check.ok ? "ok" : "bad"
    text = check.ok ? "works" : check.reason ?? "does not work"
  }

  init(_ discovery: DaemonState.Discovery) {
    name = "discovery"
    switch discovery.state {
    case .off:
      state = "off"
      text = "is switched off"
    case .starting:
      state = "ok"
      text = "starts"
    case .running:
      state = "ok"
      let routers = discovery.routers ?? 0
      text =
        "\(routers) border router\(routers == 1 ? "" : "s") can be seen"
    case .unavailable:
      state = "bad"
      text = discovery.problem ?? "is not available"
      remedy = discovery.remedy
    }
  }
}

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

import Broker
import Home
import ThreadDataset
import ThreadkeeperSupport
import Wire

/// `alert/<fingerprint>`, retained, and with news `bridge/event/alert`: an alert of a home, in words. Holds names, never
/// secrets.
package struct AlertState: WirePart {
  private enum Status: String, WireName { case firing, resolved }

  /// What an event says more: what has become of it, and what an update has changed.
  package typealias News = (type: Alert.News, previousSeverity: AlertSeverity?)

  /// The name of its home.
  package let home: String
  package let key: AlertKey
  package let alert: Alert
  private let text: AlertText
  private let news: News?

  /// - Parameter vendor: of its router, where the remedy is to name the app of the maker.
  package init(
    _ key: AlertKey, _ alert: Alert, in home: String, ways: RemedyWays, news: News? = nil, vendor: String? = nil
  ) {
    self.home = home
    self.key = key
    self.alert = alert
    self.news = news
    text = AlertText(
      alert.facts, of: key.name, homeOption: ways.isOnlyHome ? "" : " --home \(home)", ways: ways, vendor: vendor)
  }

  package var fingerprint: String { key.fingerprint(in: home) }
  package var severity: AlertSeverity { key.severity(alert.facts) }
  package var startsAt: WireTime { alert.startsAt ?? alert.heldSince }
  package var summary: String { text.summary }
  package var remedy: String { text.remedy }

  /// The summary as a headline. The name of a router or a login stays as it is.
  package var headline: String {
    let facts = alert.facts
    let names = [facts.routerName ?? facts.router?.description, facts.user?.text]
    let isName = names.contains { $0.map { summary.hasPrefix($0) } ?? false }
    return isName ? summary : summary.capitalizedFirst
  }

  package func fields<Coder: WireCoder>(_ c: inout Coder) {
    let facts = alert.facts
    c.needed("alertname", key.name, "[Which alert](alerts.md).")
    c.field("differs", facts.differs)
    c.needed("ends_at", WireNull(alert.endsAt), "When the condition ended, or null.")
    if let news { c.needed("event_type", news.type, "What happened.") }
    c.field("ext_pan_id", facts.network?.id, "The network that the router is on.")
    c.needed("fingerprint", fingerprint, .alertFingerprint("For good the same for the same home, alert and subject."))
    c.needed("home", home, .home)
    c.field("network_name", networkName, .networkName("The network that the router is on."))
    c.field("preferred_ext_pan_id", facts.preferred?.id)
    c.field("preferred_network_name", facts.preferred?.name.filled, .networkName)
    if let news { c.field("previous_severity", news.previousSeverity, "Of an update that has changed it.") }
    c.field("reason", facts.reason.map(AlertReason.init), "Of some alerts: [why](alerts.md).")
    c.needed(
      "remedy", remedy, .filled("Sentences for people; names in them are quoted and cut as in [questions](#consent)."))
    c.field("router", facts.router)
    c.field("router_name", facts.routerName, WireForm("What people call the router, or its id.", most: 512))
    c.needed("seq", UInt64(alert.sequence), .filled("From 1: counts what was published about it."))
    c.needed("severity", severity, "How bad it is.")
    c.needed("starts_at", startsAt, "When the condition began.")
    c.needed(
      "status", alert.phase == .firing ? Status.firing : .resolved,
      "`resolved` for 24 hours, after which the topic is emptied.")
    c.needed(
      "summary", summary, .filled("Sentences for people; names in them are quoted and cut as in [questions](#consent).")
    )
    c.field("trigger", facts.trigger, "What brought it up; may be absent.")
    c.needed("updated_at", alert.updatedAt, "When something was last published.")
    c.field("user", facts.user, .user)
    c.version()
  }

  private var networkName: String? {
    let network = alert.facts.network
    // The place where all routers are.
    return network?.name.filled ?? (key.name == .homeMoved ? network?.id.description : nil)
  }

  package static var form: WireForm { WireForm(name: "alert", "An alert.") }

  package static var sample: AlertState { sample(news: nil) }

  static func sample(news: News?) -> AlertState {
    let time = WireTime(milliseconds: 0)
    let alert = Alert(shown: AlertFacts(.daemon), since: time, updatedAt: time, endsAt: nil, sequence: 1)
    return AlertState(AlertKey(.sessionLost), alert, in: "home", ways: .init(isOnlyHome: true), news: news)
  }

  package var rules: String {
    func rule(_ field: String, _ value: String, _ then: String, _ otherwise: String) -> String {
      """
      {
        "if": {"properties": {"\(field)": {"const": "\(value)"}}},
        "then": {"properties": {\(then)}}, "else": {"properties": {\(otherwise)}}
      }
      """
    }
    let ended = rule(
      "status", "firing", #""ends_at": {"type": "null"}"#, ##""ends_at": {"$ref": "#/definitions/time"}"##)
    let resolved = rule(
      "event_type", "alert_resolved", #""status": {"const": "resolved"}"#, #""status": {"const": "firing"}"#)
    return #""allOf": [\#(news == nil ? ended : "\(ended), \(resolved)")]"#
  }
}

extension AlertState {
  /// Alerts of a home, the newest first.
  ///
  /// - Parameter all: with those that were resolved within the last day.
  static func all(_ alerts: [AlertKey: Alert], resolved all: Bool = false) -> [(key: AlertKey, value: Alert)] {
    alerts.filter { $1.phase == .firing || all && $1.wasPublished }.sorted { a, b in
      if a.value.updatedAt != b.value.updatedAt { return a.value.updatedAt > b.value.updatedAt }
      if a.key.name != b.key.name { return a.key.name.rawValue > b.key.name.rawValue }
      return a.key.subject.text > b.key.subject.text
    }
  }
}

/// The reason of an alert, for programs.
private struct AlertReason: WireValue {
  let word: StaticString

  func write(to json: inout JSONWriter) { json.word(word) }

  static func schema(_ form: WireForm, _ describer: inout WireDescriber) -> String {
    let failures = AdoptionState.allCases.filter { $0.published == .failed }
    return WireDescriber.words(
      (OfflineReason.allCases.map(\.word) + failures.map(\.word)).map(\.description) + [
        "never_member", "several_networks", "unconfirmed_keys",
      ])
  }
}

/// `bridge/alerts`, retained: how many alerts fire, and the newest.
struct AlertsState: WireObject {
  /// Alerts that it lists at most.
  static let listed = 20

  private var counts: [AlertSeverity: Int] = [:]
  private let alerts: [AlertState]

  /// - Parameter store: an alert that no home has; the first one.
  init(_ all: [AlertKey: Alert], in home: String, ways: RemedyWays, store: (AlertKey, Alert)? = nil) {
    let firing = (store.map { [$0] } ?? []) + AlertState.all(all)
    for (key, alert) in firing { counts[key.severity(alert.facts), default: 0] += 1 }
    alerts = firing.prefix(Self.listed).map { AlertState($0, $1, in: home, ways: ways) }
  }

  func fields<Coder: WireCoder>(_ c: inout Coder) {
    c.needed("active", counts.values.reduce(0, +), "Alerts that fire.")
    c.needed("alerts", alerts, WireForm("The newest of them.", most: UInt64(Self.listed)))
    c.needed("critical", counts[.critical] ?? 0, "Of these, by severity.")
    c.needed("info", counts[.info] ?? 0, "Of these, by severity.")
    c.version()
    c.needed("warning", counts[.warning] ?? 0, "Of these, by severity.")
  }
}

extension AlertKey {
  package func fingerprint(in home: String) -> String {
    AlertFingerprint(home: home, name: name, subject: subject.text).description
  }
}

extension String {
  /// Nil where it is empty.
  var filled: String? { isEmpty ? nil : self }

  var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }
}

extension AlertSubject {
  /// Empty for the home.
  var text: String {
    switch self {
    case .home: ""
    case .router(let agent): agent.description
    case .user(let user): user.text
    case .network(let network): network.description
    }
  }
}

import Testing
import ThreadDataset

@testable import Bridge
@testable import Home

@Suite("The states of alerts") struct AlertStateTests {
  private static let key = AlertKey(.preferredNetworkMismatch, .router(BorderAgentID(high: 1, low: 0)))

  private func alert(endsAt: WireTime? = nil) -> Alert {
    var facts = AlertFacts(.neverMember)
    facts.router = BorderAgentID(high: 1, low: 0)
    facts.routerName = "Living room"
    facts.network = .init(ExtendedPANID(number: 3), "guest")
    facts.preferred = .init(ExtendedPANID(number: 1), "ho\"me")
    facts.user = "anna"
    facts.differs = [.networkKey, .extendedPANID]
    facts.trigger = .ssidChanged
    return Alert(
      shown: facts, since: WireTime(milliseconds: 0), updatedAt: WireTime(milliseconds: 61_000), endsAt: endsAt,
      sequence: 7)
  }

  private func words(_ text: String) -> String { text.replacing("\"", with: "\\\"") }

  @Test("An alert has its facts and its sentences in one flat object, `ends_at` is null while it fires") func firing() {
    let state = AlertState(Self.key, alert(), in: "home", ways: .init(isOnlyHome: false))
    #expect(state.remedy.contains(" --home home`"))
    #expect(
      state.json().text == #"{"alertname":"PreferredNetworkMismatch","differs":["network_key","ext_pan_id"],"#
        + #""ends_at":null,"ext_pan_id":"0000000000000003","fingerprint":"\#(state.fingerprint)","#
        + #""home":"home","network_name":"guest","preferred_ext_pan_id":"0000000000000001","#
        + #""preferred_network_name":"ho\"me","reason":"never_member","#
        + #""remedy":"\#(words(state.remedy))","router":"0000000000000001","#
        + #""router_name":"Living room","seq":7,"severity":"\#(state.severity.word)","#
        + #""starts_at":"1970-01-01T00:00:00Z","status":"firing","#
        + #""summary":"\#(words(state.summary))","trigger":"ssid_changed","#
        + #""updated_at":"1970-01-01T00:01:01Z","user":"anna","v":1}"#)
  }

  @Test("An event says what has become of an alert, and which severity it had before") func news() {
    let alert = alert(endsAt: WireTime(milliseconds: 60_000))
    func text(_ news: AlertState.News) -> String {
      AlertState(Self.key, alert, in: "home", ways: .init(isOnlyHome: true), news: news).json().text
    }
    let resolved = text((.resolved, nil))
    #expect(resolved.contains(#""ends_at":"1970-01-01T00:01:00Z","event_type":"alert_resolved","#))
    #expect(resolved.contains(#""status":"resolved""#))
    #expect(!resolved.contains("previous_severity"))
    let updated = text((.updated, .critical))
    #expect(updated.contains(#""event_type":"alert_updated""#))
    #expect(updated.contains(#""preferred_network_name":"ho\"me","previous_severity":"critical","#))
  }

  @Test("That all routers are elsewhere names a network without a name by its id") func moved() {
    var facts = AlertFacts(.movedTo(routers: 2, of: 2, lost: 0))
    facts.network = .init(ExtendedPANID(number: 3), "")
    let time = WireTime(milliseconds: 0)
    let alert = Alert(shown: facts, since: time, updatedAt: time, endsAt: nil, sequence: 1)
    let moved = AlertState(AlertKey(.homeMoved), alert, in: "home", ways: .init(isOnlyHome: true)).json().text
    #expect(moved.contains(#""network_name":"0000000000000003""#))
    let other = AlertState(AlertKey(.sessionLost), alert, in: "home", ways: .init(isOnlyHome: true)).json().text
    #expect(!other.contains("network_name"))
  }

  @Test("The overview counts what fires, and has the newest; what the store cannot hold comes first") func overview() {
    #expect(
      AlertsState([:], in: "home", ways: .init(isOnlyHome: true)).json().text
        == #"{"active":0,"alerts":[],"critical":0,"info":0,"v":1,"warning":0}"#)
    var all: [AlertKey: Alert] = [:]
    for number in 1...22 {
      let key = AlertKey(.borderRouterOffline, .router(.number(UInt64(number))))
      all[key] = Alert(
        shown: AlertFacts(.offline(nil)), since: WireTime(milliseconds: 0),
        updatedAt: WireTime(milliseconds: Int64(number) * 1_000),
        endsAt: number == 22 ? WireTime(milliseconds: 9) : nil, sequence: 1)
    }
    let severity = all.first.map { $0.key.severity($0.value.facts).word.description } ?? ""
    let plain = AlertsState(all, in: "home", ways: .init(isOnlyHome: true)).json().text
    #expect(plain.hasPrefix(#"{"active":21,"alerts":[{"alertname":"BorderRouterOffline""#))
    #expect(plain.contains("\"\(severity)\":21"))
    let times = plain.matches(of: /"updated_at":"1970-01-01T00:00:(..)Z"/).map { "\($0.output.1)" }
    #expect(times == (2...21).reversed().map { $0 < 10 ? "0\($0)" : "\($0)" })
    let store = Alert(
      shown: .storeReadOnly("disk full"), since: WireTime(milliseconds: 0), updatedAt: WireTime(milliseconds: 0),
      endsAt: nil, sequence: 1)
    let full = AlertsState(all, in: "home", ways: .init(isOnlyHome: true), store: (AlertKey(.storeReadOnly), store))
      .json().text
    #expect(full.hasPrefix(#"{"active":22,"alerts":[{"alertname":"StoreReadOnly""#))
    #expect(full.matches(of: /"alertname"/).count == 20 && full.contains(#""critical":1,"#))
  }

  @Test(
    "The headline of an alert begins with a capital, unless that is a router's own name",
    arguments: [(nil, nil, "The store"), ("the store", nil, "the store"), (nil, "the", "the store")]
      as [(String?, String?, String)]) func headline(router: String?, user: String?, start: String)
  {
    var facts = AlertFacts.storeReadOnly("the store is full")
    facts.names = .init(first: ["the store is full", "Make room."], count: 2)
    facts.routerName = router
    facts.user = user.map { ExactName($0) }
    let time = WireTime(milliseconds: 0)
    let alert = Alert(shown: facts, since: time, updatedAt: time, endsAt: nil, sequence: 1)
    let state = AlertState(AlertKey(.storeReadOnly), alert, in: "home", ways: .init(isOnlyHome: true))
    #expect(state.headline.hasPrefix(start))
  }
}

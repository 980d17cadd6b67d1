import TestKit
import Testing
import ThreadDataset

@testable import Bridge
@testable import Home

@Suite("Alerts in the log") struct AlertNewsTests {
  private func add(
    _ name: AlertName, _ message: AlertFacts.Message, _ news: Alert.News = .raised, to batch: inout BatchNews
  ) {
    var facts = AlertFacts(message)
    facts.router = .number(0xA0)
    facts.user = "otbr"
    facts.network = .init(ExtendedPANID(number: 1), "attic")
    let alert = Alert.began(facts, hold: 0, at: .init(milliseconds: 0)).0
    batch.add(.alert(AlertKey(name), alert, news, previousSeverity: nil), of: "home")
  }

  @Test("An alert is logged at the level of its severity, and its end as information") func levels() {
    let log = RecordingLog()
    var news = BatchNews()
    add(.wellKnownNetworkKey, .wellKnownKey, to: &news)
    add(.borderRouterOffline, .offline(.frozen), to: &news)
    add(.plaintextCredentials, .plaintext, to: &news)
    add(.adoptionFailed, .adoptionFailed(.denied, isConfiguredForPreferred: false), to: &news)
    add(.wellKnownNetworkKey, .wellKnownKey, .resolved, to: &news)
    news.log(to: log.logger)
    #expect(log.levels == [.critical, .warning, .info, .info, .info])
    let summary = #"summary="attic" uses a network key that is printed in public documentation"#
    #expect(
      log.lines[0] == "alert alertname=WellKnownNetworkKey remedy=Form a new network with a random "
        + "key: with this one, anybody nearby can join and listen. \(summary)")
    #expect(log.lines[4] == "alert resolved alertname=WellKnownNetworkKey \(summary)")
    let texts = news.events(at: .init(milliseconds: 0)).map(\.sentence)
    #expect(texts.contains { $0.hasPrefix("Resolved: ") })
    #expect(texts.contains { $0.hasPrefix("otbr sends network keys") })
    #expect(news.events(at: .init(milliseconds: 0)).allSatisfy { $0.router == .number(0xA0) })
  }

  @Test("A remedy names the home where there are several") func homes() {
    let log = RecordingLog()
    for isOnlyHome in [true, false] {
      var news = BatchNews()
      var facts = AlertFacts(.joined)
      facts.router = .number(1)
      let alert = Alert.began(facts, hold: 0, at: .init(milliseconds: 0)).0
      news.add(
        .alert(AlertKey(.unknownRouter), alert, .raised, previousSeverity: nil), of: "attic",
        ways: .init(isOnlyHome: isOnlyHome))
      news.log(to: log.logger)
    }
    #expect(log.lines.map { $0.contains(" --home attic`") } == [false, true])
  }
}

struct RecentEventsTests {
  private func event(_ number: Int) -> RecentEvents.Event {
    .init(at: WireTime(milliseconds: Int64(number)), severity: "info", text: "\(number)")
  }

  @Test("The newest come first, and the oldest make room") func ring() {
    var recent = RecentEvents()
    recent.add([event(1), event(2)])
    recent.add([event(3)])
    #expect(recent.newest.map(\.text) == ["3", "2", "1"])
    recent.add((4...RecentEvents.kept + 2).map(event))
    #expect(recent.newest.count == RecentEvents.kept)
    #expect(recent.newest.first?.text == "\(RecentEvents.kept + 2)")
    #expect(recent.newest.last?.text == "3")
    #expect(recent.newest.first == event(RecentEvents.kept + 2))
    #expect(RecentEvents(recent.record) == recent)
  }

  @Test("A record that is cut is none") func cut() {
    var recent = RecentEvents()
    var event = event(1)
    event.router = .number(2)
    recent.add([event])
    // After the kind of the record: it is whole, and has none.
    for count in recent.record.indices where count != 2 {
      #expect(RecentEvents(Array(recent.record.prefix(count))) == nil, "\(count) bytes")
    }
  }

  @Test("Of alerts that have ended the last twenty stay, whatever else happens, and each says when it began")
  func ended() {
    func ended(_ number: Int) -> RecentEvents.Event {
      var event = event(number)
      event.since = WireTime(milliseconds: 1)
      event.router = number.isMultiple(of: 3) ? nil : .number(UInt64(number))
      return event
    }
    var recent = RecentEvents()
    recent.add((1...15).map(ended))
    recent.add((16...100).map(event))
    #expect(recent.newest.count == RecentEvents.kept && recent.newest.last?.text == "61")
    #expect(recent.ended.map(\.text) == (1...15).reversed().map(String.init))
    recent.add((101...110).map(ended))
    #expect(recent.ended == (Array(6...15) + (101...110)).reversed().map(ended))
    #expect(recent.newest.first?.sentence == "Resolved: 110" && RecentEvents(recent.record) == recent)
  }

  @Test("They are sentences with the names of routers and networks, and no fields of the log") func sentences() {
    // A batch of its own for each, because a batch has few lines.
    var texts: [String] = []
    func add(_ type: RouterEvent.Types, _ network: String? = "home", _ fill: (inout RouterEvent) -> Void = { _ in }) {
      var event = RouterEvent(type, .number(1))
      event.routerName = "eero attic"
      event.network = network.map { .init(ExtendedPANID(number: 1), $0) }
      fill(&event)
      var news = BatchNews()
      news.add(.router(event), of: "home")
      texts += news.events(at: WireTime(milliseconds: 5)).map(\.text)
    }
    add(.discovered)
    add(.discovered, "")
    add(.discovered, nil)
    add(.announced)
    add(.online)
    add(.online) { $0.isFirstNetwork = true }
    add(.left)
    add(.datasetUpdated)
    add(.datasetIgnored)
    add(.datasetIgnored) { $0.isConflict = true }
    add(.ssidChanged) { $0.ssid = "attic-wifi" }
    add(.preferredChanged)
    add(.preferredChanged) { $0.differs = [.networkKey] }
    add(.preferredChanged, nil)
    add(.datasetSent)
    var news = BatchNews()
    news.add(.adoptionChanged(.number(7)), of: "home")
    texts += news.events(at: WireTime(milliseconds: 5)).map(\.text)
    #expect(
      texts == [
        #""eero attic" is seen on the local network, on "home""#,
        #""eero attic" is seen on the local network, on 0000000000000001"#,
        #""eero attic" is seen on the local network, on no network yet"#, #""eero attic" announced itself"#,
        #""eero attic" is back"#, #""eero attic" is on "home" now"#, #""eero attic" left"#,
        #""eero attic" has a new dataset of "home""#, #"An older dataset of "eero attic" was ignored"#,
        #"A dataset of "eero attic" was ignored: it differs from a stored one of the same age"#,
        #"The Wi-Fi of "eero attic" is attic-wifi now"#, #""home" is the preferred network now"#,
        #"The preferred network "home" has changed"#, "No network is preferred any more",
        #""eero attic" was sent the credentials of "home""#,
        "The preferred credentials are not given: what was asked for has changed",
      ])
  }
}

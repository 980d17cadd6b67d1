// SPDX-License-Identifier: Apache-2.0

import Broker
import Testing

@testable import Bridge

struct RecentEventsTests {
  private func event(_ number: Int) -> RecentEvents.Event {
    .init(at: WireTime(milliseconds: Int64(number)), severity: "info", text: "\(number)")
  }

  @Test("The newest come first, and the oldest make room")
  func ring() {
    let recent = RecentEvents()
    recent.add([event(1), event(2)])
    recent.add([event(3)])
    #expect(recent.newest.map(\.text) == ["3", "2", "1"])
    recent.add((4...RecentEvents.kept + 2).map(event))
    #expect(recent.newest.count == RecentEvents.kept)
    #expect(recent.newest.first?.text == "\(RecentEvents.kept + 2)")
    #expect(recent.newest.last?.text == "3")
  }

  @Test("They are sentences with the names of routers and networks, and no fields of the log")
  func sentences() {
    let now = WireTime(milliseconds: 5)
    // A batch of its own for each, because a batch has few lines.
    var texts: [String] = []
    func add(
      _ types: OutboundEventTypes, _ fill: (inout EventRecord) -> Void = { _ in }
    ) {
      var event = EventRecord(time: now, types: types, home: 1)
      event.routerName = "eero attic"
      event.detail.networkName = "home"
      fill(&event)
      var news = BatchNews()
      news.add(event)
      texts += news.events(at: now).map(\.text)
    }
    add(.routerDiscovered)
    add(.routerAnnounced)
    add(.routerOnline)
    add(.routerLeft)
    add(.datasetUpdated)
    add(.datasetIgnored) { $0.detail.reason = "older" }
    add(.ssidChanged) { $0.detail.ssid = "attic-wifi" }
    add(.preferredChanged)
    add(.preferredChanged) { $0.detail.differs = ["network_key"] }
    add(.preferredChanged) { $0.detail.networkName = nil }
    add(.datasetSent)
    var news = BatchNews()
    news.add(.warning, "another line", ["field": "value"], of: .alerts)
    texts += news.events(at: now).map(\.text)
    #expect(
      texts == [
        "eero attic is seen on the local network, on home", "eero attic announced itself",
        "eero attic is back", "eero attic left", "eero attic has a new dataset of home",
        "An older dataset of eero attic was ignored",
        "The Wi-Fi of eero attic is attic-wifi now", "home is the preferred network now",
        "The preferred network home has changed", "No network is preferred any more",
        "eero attic was sent the credentials of home",
        "Another line",
      ])
  }

  @Test("The headline of an alert begins with a capital, unless that is a router's own name")
  func headline() {
    var facts = AlertFacts(summary: "no network is preferred", remedy: "")
    #expect(facts.headline == "No network is preferred")
    facts = AlertFacts(summary: "eero attic cannot be reached", remedy: "")
    facts.routerName = "eero attic"
    #expect(facts.headline == "eero attic cannot be reached")
    facts = AlertFacts(summary: "border-router sends network keys", remedy: "")
    facts.user = "border-router"
    #expect(facts.headline == "border-router sends network keys")
  }
}

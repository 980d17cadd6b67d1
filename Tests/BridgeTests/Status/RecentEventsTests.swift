// SPDX-License-Identifier: Apache-2.0

import Broker
import Testing
import ThreadDataset

@testable import Bridge
@testable import Home

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
    // A batch of its own for each, because a batch has few lines.
    var texts: [String] = []
    func add(
      _ type: RouterEvent.Types, _ network: String? = "home",
      _ fill: (inout RouterEvent) -> Void = { _ in }
    ) {
      var event = RouterEvent(type)
      event.routerName = "eero attic"
      event.network = network.map { .init(ExtendedPANID(number: 1), $0) }
      fill(&event)
      var news = BatchNews()
      news.add(.router(event), of: "home")
      texts += news.events(at: WireTime(milliseconds: 5)).map(\.text)
    }
    add(.discovered)
    add(.discovered, "")
    add(.announced)
    add(.online)
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
    news.add(.adoptionChanged(BorderAgentID(high: 7, low: 0)), of: "home")
    texts += news.events(at: WireTime(milliseconds: 5)).map(\.text)
    #expect(
      texts == [
        "eero attic is seen on the local network, on home",
        "eero attic is seen on the local network, on 0000000000000001",
        "eero attic announced itself",
        "eero attic is back", "eero attic left", "eero attic has a new dataset of home",
        "An older dataset of eero attic was ignored",
        "A dataset of eero attic was ignored: it differs from a stored one of the same age",
        "The Wi-Fi of eero attic is attic-wifi now", "home is the preferred network now",
        "The preferred network home has changed", "No network is preferred any more",
        "eero attic was sent the credentials of home",
        "The preferred credentials are not given: what was asked for has changed",
      ])
  }

  @Test("The headline of an alert begins with a capital, unless that is a router's own name")
  func headline() {
    var facts = AlertWords(summary: "no network is preferred", remedy: "")
    #expect(facts.headline == "No network is preferred")
    facts = AlertWords(summary: "eero attic cannot be reached", remedy: "")
    facts.routerName = "eero attic"
    #expect(facts.headline == "eero attic cannot be reached")
    facts = AlertWords(summary: "border-router sends network keys", remedy: "")
    facts.user = "border-router"
    #expect(facts.headline == "border-router sends network keys")
  }
}

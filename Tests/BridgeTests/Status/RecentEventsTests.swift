// SPDX-License-Identifier: Apache-2.0

import BridgeProtocol
import Testing

@testable import Bridge

struct RecentEventsTests {
  private func event(_ number: Int) -> RecentEvents.Event {
    .init(
      at: WireTime(milliseconds: Int64(number)), severity: "info", text: "\(number)", details: [:])
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

  @Test("They say what the log says")
  func words() {
    var news = BatchNews()
    news.add(.warning, "alert", ["alertname": "A", "remedy": "do"], of: .alerts)
    #expect(
      news.events(at: WireTime(milliseconds: 5)) == [
        .init(
          at: WireTime(milliseconds: 5), severity: "warning", text: "alert",
          details: ["alertname": "A", "remedy": "do"])
      ])
  }
}

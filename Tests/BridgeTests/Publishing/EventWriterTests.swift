import Broker
import Testing
import ThreadDataset

@testable import Bridge
@testable import Home
@testable import HomeStore

/// What each event is, byte for byte: `PublishedBytesTests`.
@Suite("Events as messages") struct EventWriterTests {
  @Test("Many events of one input become several rows of bounded size, in order") func manyEvents() {
    var output = HomeOutput()
    for agent in 0..<2_000 {
      output.events.append(.router(RouterEvent(.announced, BorderAgentID(high: UInt64(agent), low: 0))))
    }
    let scene = PublishingScene()
    let rows = EventWriter(home: "home", base: "tk", ways: .init(isOnlyHome: true)).messages(
      for: output, of: scene.home, at: scene.now)
    #expect(rows.count > 1 && rows.allSatisfy { $0.count < 70_000 })
    let topics = rows.flatMap { OutboxRow.publications($0) ?? [] }.map(\.topic)
    #expect(topics.count == 4_000 && topics[3_999] == "tk/router/00000000000007cf/event")
  }

  @Test("A row is read back as it was written, and refused where it is cut") func rows() {
    var row = OutboxRow()
    row.append("a/b", [1, 2, 3], isRetained: true, expiry: 86_400)
    row.append("é", [])
    row.appendAgain("c")
    #expect(
      OutboxRow.publications(row.bytes) == [
        Publication(topic: "a/b", payload: [1, 2, 3], retain: true, messageExpiry: 86_400),
        Publication(topic: "é", payload: []), Publication(topic: "c", payload: []),
      ])
    // Where one message ends, what is left is a row.
    let readable = (1..<row.bytes.count).filter { OutboxRow.publications(Array(row.bytes.prefix($0))) != nil }
    #expect(readable == [17, 26])
    #expect(OutboxRow.publications([4, 1, 0, 97]) == nil)
  }
}

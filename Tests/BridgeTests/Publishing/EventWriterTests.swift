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
    let writer = EventWriter(home: "home", base: "tk", ways: .init(isOnlyHome: true))
    let rows = writer.rows(of: output, at: PublishingScene().now)
    #expect(rows.count > 1 && rows.allSatisfy { $0.count < 70_000 })
    let topics = rows.flatMap { writer.publications($0) }.map(\.topic)
    #expect(topics.count == 4_000 && topics[3_999] == "tk/router/00000000000007cf/event")
  }

  @Test("The event of an announcement takes less than a hundred bytes in the store") func size() {
    var scene = PublishingScene()
    scene.publish(.announce, 1, .of(7)) { $0.name = "Living room" }
    let rows = EventWriter(home: "home", base: "tk", ways: .init(isOnlyHome: true)).rows(
      of: announced(scene), at: scene.now)
    #expect(rows.count == 1 && rows[0].count < 100)
  }

  private func announced(_ scene: PublishingScene) -> HomeOutput {
    var output = HomeOutput()
    output.events = scene.output.events.filter { if case .router = $0 { true } else { false } }
    return output
  }

  @Test("What is for the log only is not stored") func logOnly() {
    var output = HomeOutput()
    output.events = [.adoptionChanged(.number(1)), .forgotten(.number(2))]
    let writer = EventWriter(home: "home", base: "tk", ways: .init(isOnlyHome: true))
    #expect(writer.rows(of: output, at: PublishingScene().now) == [])
  }

  @Test("A row is read back as it was written, and refused where it is cut or of another kind") func rows() {
    let now = PublishingScene().now
    var event = RouterEvent([.ssidChanged, .datasetSent], .number(1))
    (event.routerName, event.user, event.network) = ("é", "otbr", .init(.init(number: 7), "net"))
    (event.ssid, event.previousSSID, event.check) = ("a", "b", .stale(.extendedPANID))
    (event.consent, event.isByGrant) = (ConsentID(5), true)
    (event.routerNeedsID, event.differs) = (true, DatasetDifferences.channel)
    event.previousNetwork = ExtendedPANID(number: 8)
    (event.isConflict, event.isLastOfPreferred, event.isRemoved, event.isFirstNetwork) = (true, true, true, true)
    // A field that is added is set here, so that one which is not stored is found.
    for (field, unset) in zip(Mirror(reflecting: event).children, Mirror(reflecting: RouterEvent()).children) {
      #expect("\(field.value)" != "\(unset.value)", "\(field.label ?? "")")
    }
    let rows = [
      OutboxRow.message(topic: "é/b", payload: [1, 2, 3]), .message(topic: "", payload: []),
      .events(StoredEvents([.router(event), .forgotten(.number(2))], in: "home", at: now)),
    ]
    for row in rows { #expect(OutboxRow(row.bytes) == row) }
    let stored = rows[2].bytes
    for count in 0..<stored.count { #expect(OutboxRow(Array(stored.prefix(count))) == nil, "cut at \(count)") }
    #expect(OutboxRow(stored + [0]) == nil)
    for bytes in [[], [1], [1, 2, 0, 97], [0, 0, 0], [3, 0, 0]] as [[UInt8]] { #expect(OutboxRow(bytes) == nil) }
  }
}

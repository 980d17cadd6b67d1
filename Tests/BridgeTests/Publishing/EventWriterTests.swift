import Broker
import Testing
import ThreadDataset

@testable import Bridge
@testable import Home
@testable import HomeStore

@Suite("Events as messages") struct EventWriterTests {
  private static let time = "2023-11-14T22:13:20Z"

  /// On `bridge/event` and the router's own topic.
  private func both(_ json: String, _ agent: String = "0000000000000001") -> [String] {
    ["tk/bridge/event \(json)", "tk/router/\(agent)/event \(json)"]
  }

  @Test("Each outcome of a message is an event, and they have the same detail") func outcomes() {
    var scene = PublishingScene()
    scene.publish(.announce, 1, .of(7))
    let network = #""ext_pan_id":"0000000000000007","time":"\#(Self.time)","user":"otbr","v":1,"network_name":"net-7"}"#
    func event(_ type: String) -> String {
      #"{"border_agent_id":"0000000000000001","event_type":"\#(type)",\#(network)"#
    }
    let expected = both(event("router_announced")) + both(event("dataset_stored")) + both(event("preferred_changed"))
    #expect(scene.lines() == expected)
  }

  @Test("A heartbeat of a router that is there causes nothing") func heartbeat() {
    var scene = PublishingScene()
    scene.publish(.announce, 1, .of(7))
    scene.publish(.heartbeat, 1)
    #expect(scene.messages().isEmpty)
  }

  @Test("A move names both networks, a conflict and an older dataset their reasons") func datasets() {
    var scene = PublishingScene()
    scene.publish(.announce, 1, .of(7, at: 5))
    let start = #"{"border_agent_id":"0000000000000001","event_type":"#
    let end = #""time":"\#(Self.time)","user":"otbr","v":1"#
    scene.publish(.dataset, 1, .of(7, at: 4))
    #expect(scene.lines().first == #"tk/bridge/event \#(start)"dataset_ignored",\#(end),"reason":"older"}"#)
    scene.publish(.dataset, 1, .of(7, at: 5, channel: 20))
    #expect(
      scene.lines().first
        == #"tk/bridge/event \#(start)"dataset_ignored",\#(end),"differs":["channel"],"reason":"conflict"}"#)
    scene.publish(.dataset, 1, .of(8))
    #expect(
      scene.lines().first
        == #"tk/bridge/event \#(start)"dataset_updated","ext_pan_id":"0000000000000008",\#(end),"differs":["ext_pan_id","network_name"],"network_name":"net-8","previous_ext_pan_id":"0000000000000007"}"#
    )
  }

  @Test("A router that comes back, leaves or is removed says so") func presence() {
    var scene = PublishingScene()
    scene.publish(.announce, 1, .of(7)) { $0.name = "Attic" }
    scene.publish(.offline, 1)
    scene.publish(.heartbeat, 1)
    #expect(
      scene.lines().first
        == #"tk/bridge/event {"border_agent_id":"0000000000000001","event_type":"router_online","time":"\#(Self.time)","v":1,"message":"\"Attic\" is back"}"#
    )
    scene.publish(.announce, 3) { $0.thread.state = .disabled }
    scene.publish(.heartbeat, 3) { $0.thread = .init(state: .leader, network: ExtendedPANID(number: 7)) }
    #expect(scene.lines().first?.contains(#""message":"0000000000000003 is on \"net-7\" now""#) == true)
    scene.publish(.announce, 2, .of(9))
    scene.handle(.remove(.number(2)))
    #expect(scene.lines().first?.hasSuffix(#""v":1,"network_name":"net-9","reason":"removed"}"#) == true)
    scene.publish(.leave, 1)
    #expect(
      scene.lines().first
        == #"tk/bridge/event {"border_agent_id":"0000000000000001","event_type":"router_left","ext_pan_id":"0000000000000007","time":"\#(Self.time)","user":"otbr","v":1,"message":"the last border router of the preferred network left; it stays preferred","network_name":"net-7"}"#
    )
  }

  @Test("A new name of the Wi-Fi says what it was, and whether the network is right") func ssid() {
    var scene = PublishingScene()
    scene.publish(.announce, 1, .of(7))
    scene.publish(.ssid, 1) {
      $0.ssid = "new"
      $0.previousSSID = "old"
    }
    #expect(scene.lines().first?.hasSuffix(#""v":1,"preferred":"match","previous_ssid":"old","ssid":"new"}"#) == true)
  }

  @Test("A question and its end name who asks and who decided") func consent() throws {
    var scene = PublishingScene()
    scene.publish(.announce, 1, .of(7))
    scene.enroll("phone")
    scene.ask()
    let asked = scene.messages()
    #expect(asked.map(\.topic) == ["tk/bridge/event"])
    let id = scene.home.questions[0].id.questionText
    let text = try #require(asked.first).text
    #expect(text.hasPrefix(#"{"event_type":"consent_requested","ext_pan_id":"0000000000000007","time":"#))
    #expect(
      text.contains(
        #""command":"preferred/get","expires_at":"2023-11-14T22:15:20Z","fingerprint":"0123","id":"\#(id)","message":"login phone (team phone) would get"#
      ))
    #expect(text.hasSuffix(#""network_name":"net-7","requester":"login phone (team phone)"}"#))
    scene.decide(.approve(scene.home.questions[0].id, .once), by: .commandLine(user: 0))
    let decided = scene.lines().first
    #expect(decided?.contains(#""event_type":"consent_approved""#) == true)
    #expect(decided?.contains(#""decided_by":"uid 0 (command line)""#) == true)
    #expect(decided?.contains(#""scope":"once""#) == true)
  }

  @Test("An alert's event has all of the alert as it was") func alert() throws {
    var scene = PublishingScene()
    scene.handle(.condition(.sessionLost, .sessionLost))
    let messages = scene.messages()
    #expect(messages.map(\.topic) == ["tk/bridge/event/alert"])
    #expect(messages.allSatisfy { !$0.retain && $0.qos == 1 })
    let text = try #require(messages.first).text
    #expect(text.hasPrefix(#"{"alertname":"SessionLost","ends_at":null,"event_type":"alert_raised","fingerprint":""#))
    #expect(text.contains(#""summary":"the broker has forgotten the daemon's session; "#))
  }

  @Test("A rejection names the place, on one topic only") func rejection() {
    let row = EventWriter(home: "home", base: "tk", ways: .init(isOnlyHome: true)).message(
      Rejection(.badValue, field: "ssid", offset: 12, message: "too long"), topic: "tk/in/a/ssid", user: "a",
      agent: .number(1), at: WireTime(milliseconds: 1_700_000_000_000))
    let lines = OutboxRow.publications(row)?.map { "\($0.topic) \($0.text)" }
    #expect(
      lines == [
        #"tk/bridge/event {"border_agent_id":"0000000000000001","event_type":"message_rejected","time":"\#(Self.time)","user":"a","v":1,"code":"bad_field","field":"ssid","message":"too long","offset":12,"topic":"tk/in/a/ssid"}"#
      ])
  }

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

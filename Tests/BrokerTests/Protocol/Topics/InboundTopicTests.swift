// SPDX-License-Identifier: Apache-2.0

import Broker
import Testing

@Suite("Inbound topics")
struct InboundTopicTests {
  private func topic(_ text: String) throws(Rejection) -> InboundTopic {
    try InboundTopic(Substring(text), belowBaseOf: "home")
  }

  @Test("Each kind of event has its topic", arguments: InboundEventKind.allCases)
  func events(kind: InboundEventKind) throws {
    let topic = try topic("in/anna/\(kind.rawValue)")
    #expect(topic.home == "home")
    #expect(topic.user == "anna")
    #expect(topic.purpose == .event(kind))
  }

  @Test("The kinds of events are those of the protocol")
  func kinds() {
    #expect(
      InboundEventKind.allCases.map(\.rawValue)
        == ["announce", "dataset", "leave", "heartbeat", "offline", "ssid", "credentials"])
  }

  @Test(
    "A request names its command, which may have levels of its own",
    arguments: [("ping", "ping"), ("credentials/list", "credentials/list"), ("a//b", "a//b")])
  func requests(path: String, command: String) throws {
    #expect(try topic("in/anna/request/\(path)").purpose == .request(command))
  }

  @Test("A probe has a topic below its user, and no further level")
  func probe() throws {
    let own = ProbeTopic(base: "threadkeeper", group: .inbound, user: "anna")
    #expect(own.text == "threadkeeper/in/anna/probe")
    #expect(try topic("in/anna/probe").purpose == .probe)
    #expect(throws: Rejection.self) { try topic("in/anna/probe/x") }
    #expect(try topic("in/anna/request/probe").purpose == .request("probe"))
  }

  @Test(
    "A user is the whole level, however odd its name",
    arguments: [
      " ", "anna b", "anna@home", "añña", "安娜", "👩‍🚒", "in", "request", "announce", "..", "%u",
      "$SYS",
      "a\u{7}b", "\"", "a'; DROP TABLE router; --", String(repeating: "x", count: 128),
    ])
  func oddUsers(user: String) throws {
    #expect(try topic("in/\(user)/announce").user == user)
  }

  @Test(
    "A combining mark after a slash does not hide the slash",
    arguments: ["\u{301}", "\u{338}", "\u{FE0F}", "\u{200D}", "\u{20DD}"])
  func combiningMarks(mark: String) throws {
    // The broker's access list splits at the byte 0x2F, whatever follows. So must we, or a login
    // could speak under a name that is not its own.
    let topic = try topic("in/\(mark)anna/announce")
    #expect(Array(topic.user.utf8) == Array("\(mark)anna".utf8))
    #expect(topic.purpose == .event(.announce))
    #expect(throws: Rejection.self) { try self.topic("in/anna/\(mark)/announce") }
  }

  @Test(
    "What is not in/<user>/… is an invalid topic",
    arguments: [
      "", "in", "in/", "in/anna", "in//announce", "in///", "out/anna/announce", "/in/anna/announce",
      "IN/anna/announce", "bridge/state", "router/a1b2c3d4e5f60718",
    ])
  func invalidTopics(text: String) {
    let rejection = #expect(throws: Rejection.self) { try topic(text) }
    #expect(rejection?.code == "invalid_topic")
  }

  @Test(
    "What is below in/<user>/ and stands for nothing is an unknown event",
    arguments: [
      "in/anna/", "in/anna/Announce", "in/anna/announce ", "in/anna/announce/",
      "in/anna/announce/x",
      "in/anna/request", "in/anna/request/", "in/anna/credentials/store", "in/anna/dataset/set",
      "in/a/request/announce/".replacing("request", with: "requests"),
    ])
  func unknownEvents(text: String) {
    let rejection = #expect(throws: Rejection.self) { try topic(text) }
    #expect(rejection?.code == "unknown_event")
    #expect(rejection?.message.contains("announce, dataset, leave") == true)
  }

  @Test("A user name of unreasonable length is refused, and not repeated")
  func longUser() throws {
    let longest = String(repeating: "x", count: InboundLimits.userBytes)
    #expect(try topic("in/\(longest)/announce").user == longest)
    let rejection = #expect(throws: Rejection.self) { try topic("in/\(longest)x/announce") }
    #expect(rejection?.code == "invalid_topic")
    #expect(rejection?.message.contains("xxx") == false)
  }
}

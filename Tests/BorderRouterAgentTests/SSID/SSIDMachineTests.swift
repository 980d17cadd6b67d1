import Broker
import Foundation
import Testing

@testable import BorderRouterAgent

/// Each row of the table of `SSIDMachine`, and the events that it makes.
@Suite("When an SSID is published") struct SSIDMachineTests {
  private var machine = SSIDMachine(.accessPoint("hall"))

  private static func ssid(_ text: String) -> SSID {
    guard let ssid = try? SSID(Array(text.utf8)) else { fatalError("no SSID") }
    return ssid
  }

  @discardableResult private mutating func handle(_ event: SSIDMachine.Event, _ seconds: Int) -> [SSIDMachine.Effect] {
    machine.handle(event, at: .seconds(seconds))
  }

  private mutating func look(_ text: String, _ seconds: Int) -> [SSIDMachine.Effect] {
    handle(.looked(.ssid(Self.ssid(text))), seconds).filter(\.isPublication)
  }

  /// - Parameter code: of a rejection; nil: it is accepted.
  @discardableResult private mutating func answer(_ code: String?, _ seconds: Int) -> [SSIDMachine.Effect] {
    handle(.answered(EventOutcome(kind: .ssid, token: 1, code: code, message: "why")), seconds)
  }

  private static func publish(_ text: String, again: Bool = false) -> [SSIDMachine.Effect] {
    [.publish(ssid(text), isRepetition: again)]
  }

  @Test("With a connection what the next look finds is published, and each change at once") mutating func changes() {
    #expect(look("a", 0) == [])
    // What was found before may be the name of another place.
    #expect(handle(.connected, 1) == [])
    #expect(look("a", 1) == Self.publish("a"))
    #expect(look("a", 2) == [])
    #expect(look("b", 3) == Self.publish("b"))
    answer(nil, 4)
    handle(.disconnected, 4)
    #expect(look("c", 5) == [])
    #expect(handle(.connected, 7) == [])
    #expect(look("b", 7) == [])
  }

  @Test("It reports what keeps it from reading an SSID; that there is none is no trouble") mutating func standing() {
    #expect(machine.standing == nil)
    handle(.looked(.trouble(.notAFile("/etc"))), 0)
    #expect(machine.standing == .fails("/etc is not a file, or has more than 1048576 bytes"))
    handle(.looked(.none), 1)
    #expect(machine.standing == .works)
  }

  @Test("What had no answer when the connection ended is published again on the next one")
  mutating func lostWithTheConnection() {
    handle(.connected, 0)
    #expect(look("a", 0) == Self.publish("a"))
    handle(.disconnected, 1)
    handle(.connected, 2)
    #expect(handle(.looked(.none), 2).allSatisfy { !$0.isPublication })
    // An earlier one may wait on the broker.
    #expect(look("a", 3) == Self.publish("a", again: true))
    handle(.disconnected, 4)
    handle(.connected, 5)
    #expect(look("b", 6) == Self.publish("b"))
  }

  @Test("Nothing found, and trouble, publish nothing and are logged when they begin") mutating func nothing() {
    handle(.connected, 0)
    #expect(look("a", 0) == Self.publish("a"))
    let none = handle(.looked(.none), 1)
    #expect(none.count == 1 && !none[0].isPublication)
    #expect(handle(.looked(.none), 2) == [])
    let trouble = SSIDTrouble.command(.ended(status: 8))
    #expect(
      handle(.looked(.trouble(trouble)), 3) == [
        .log(.init(.warning, "the command ended with 8; run this with --dry-run to see what it writes"))
      ])
    #expect(handle(.looked(.trouble(trouble)), 4) == [])
    #expect(look("a", 5) == [])
    #expect(handle(.looked(.trouble(trouble)), 6).count == 1)
  }

  @Test("What is acted upon is published again after an hour, what is not answered after a minute")
  mutating func repetition() {
    handle(.connected, 0)
    #expect(look("a", 0) == Self.publish("a"))
    #expect(look("a", 59) == [])
    #expect(look("a", 60) == Self.publish("a", again: true))
    #expect(look("a", 119) == [])
    #expect(answer(nil, 120) == [])
    #expect(look("a", 3_719) == [])
    #expect(look("a", 3_720) == Self.publish("a"))
  }

  @Test("A router that has not announced itself: logged once, tried at each look, then more seldom")
  mutating func notFound() {
    handle(.connected, 0)
    #expect(look("a", 0) == Self.publish("a"))
    #expect(
      answer("not_found", 1) == [
        .log(
          .init(.warning, "threadkeeper has rejected the SSID of access point hall (not_found): why; it is tried again")
        )
      ])
    for second in stride(from: 10, through: 50, by: 10) {
      #expect(look("a", second) == Self.publish("a"))
      #expect(answer("not_found", second + 1) == [])
    }
    #expect(look("a", 60) == [] && look("a", 110) == [])
    #expect(look("a", 111) == Self.publish("a"))
    #expect(answer(nil, 112) == [.log(.init(.info, "threadkeeper accepts the SSID of access point hall now"))])
    #expect(look("a", 3_000) == [])
    #expect(answer("not_found", 3_001).count == 1)
  }

  @Test("What only a person can change is tried again after five minutes; a change at once") mutating func refused() {
    handle(.connected, 0)
    #expect(look("a", 0) == Self.publish("a"))
    #expect(answer("not_enrolled", 0).count == 1)
    #expect(answer("refused", 0).count == 1)
    #expect(look("a", 299) == [])
    #expect(look("a", 300) == Self.publish("a"))
    #expect(look("b", 301) == Self.publish("b"))
  }

  // MARK: Events

  private func object(_ payload: [UInt8]) throws -> [String: String] {
    try #require(try JSONSerialization.jsonObject(with: Data(payload)) as? [String: String])
  }

  @Test("An event names the router or the access point, asks for an answer, and has no number") func events() throws {
    var writer = EventWriter(base: "b", user: "hub")
    let hall = SSIDSubject.accessPoint("hall \"5\"").event(Self.ssid("home"))
    let event = try writer.publication(of: hall, answers: "answers", now: 7)
    #expect(event.topic == "b/in/hub/ssid" && event.qos == 1 && !event.retain)
    #expect(event.responseTopic == "answers" && event.messageExpiry == nil)
    #expect(try object(event.payload) == ["access_point": "hall \"5\"", "ssid": "home"])
    let router = SSIDSubject.router(try Sample.agent()).event(Self.ssid("home"))
    let second = try writer.publication(of: router, expiry: 60, now: 7)
    #expect(second.messageExpiry == 60)
    #expect(try object(second.payload) == ["border_agent_id": String(repeating: "1", count: 32), "ssid": "home"])
  }

  @Test("With keys the name of the network and of the router is in the envelope only") func sealed() throws {
    let daemon = try Identity()
    var writer = EventWriter(base: "b", user: "hub", keys: AgentKeys(own: try Identity(), daemon: daemon.keys))
    let event = try writer.publication(
      of: SSIDSubject.accessPoint("hall").event(Self.ssid("home-wifi")), now: 1_800_000_000_000_000_001)
    let text = String(decoding: event.payload, as: UTF8.self)
    #expect(text.hasPrefix("{\"sealed\":"))
    #expect(!text.contains("home-wifi") && !text.contains("hall"))
  }
}

extension SSIDMachine.Effect { fileprivate var isPublication: Bool { if case .publish = self { true } else { false } } }

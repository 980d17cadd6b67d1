import Foundation
import Testing

@testable import Broker

@Suite("Buttons of Home Assistant for consent") struct HomeAssistantButtonTests {
  private static let id = "c-0123456789abcdef"

  private let place: HomeAssistantPlace

  init() throws {
    let topics = BaseTopics([.init(name: "home", base: "tk")])
    place = try #require(HomeAssistantPlace(home: "home", in: topics, prefix: "homeassistant", version: "1.2"))
  }

  private func object(_ device: HomeAssistantDevice) throws -> [String: Any] {
    try #require(try JSONSerialization.jsonObject(with: Data(device.json())) as? [String: Any])
  }

  private func question(_ id: String = id, of requester: String = #"speaker "Hall""#) -> HomeAssistantDevice {
    .question(id, by: requester, ("ha", "t"), place)
  }

  private func buttons(_ question: HomeAssistantDevice) throws -> [String: [String: Any]] {
    try #require(try object(question)["components"] as? [String: [String: Any]])
  }

  @Test("What is pressed, the unique id and the topic have the request's id") func buttons() throws {
    let buttons = try buttons(question())
    #expect(Set(buttons.keys) == ["consent_approve", "consent_deny"])
    for (action, name, payload) in [
      ("approve", "approve once", #"{"id":"\#(Self.id)","scope":"once","token":"t"}"#),
      ("deny", "deny", #"{"id":"\#(Self.id)","token":"t"}"#),
    ] {
      let button = try #require(buttons["consent_\(action)"])
      for (field, value) in [
        "name": #"speaker "Hall": \#(name)"#, "payload_press": payload, "platform": "button",
        "command_topic": "tk/in/ha/request/consent/\(action)",
        "unique_id": "threadkeeper_tk_\(Self.id)_consent_\(action)",
        "default_entity_id": "button.threadkeeper_consent_\(action)_c_0123456789abcdef",
      ] { #expect(button[field] as? String == value) }
      #expect(button["qos"] as? Int == 1)
    }
    #expect(
      place.questionTopic(Self.id) == "homeassistant/device/threadkeeper/threadkeeper_tk_c-0123456789abcdef/config")
  }

  @Test("A name has both ends of who asks and at most 40 characters; the sentence is an attribute") func names() throws
  {
    for long in [String(repeating: "w", count: 64), String(repeating: "👍🏽", count: 64)] {
      let buttons = try buttons(question(of: long))
      for (key, action) in [("consent_approve", "approve once"), ("consent_deny", "deny")] {
        let name = try #require(buttons[key]?["name"] as? String)
        #expect((39...40).contains(name.unicodeScalars.count) && name.first == long.first, "\(name)")
        #expect(name.contains("…") && name.hasSuffix("\(long.suffix(1)): \(action)"), "\(name)")
      }
    }
    for button in try buttons(question()).values {
      #expect(button["json_attributes_topic"] as? String == "tk/bridge/consent")
      let template = try #require(button["json_attributes_template"] as? String)
      #expect(template.contains("'\(Self.id)'") && template.contains("asked[0].message"))
    }
  }

  @Test("They are in the daemon's device, and available while the request waits") func device() throws {
    let device = try object(question())
    let daemon = try object(.bridge(place))
    #expect(device["device"] as? [String: String] == daemon["device"] as? [String: String])
    let facts = try #require(device["device"] as? [String: Any])
    #expect(facts["identifiers"] as? [String] == ["threadkeeper_tk"])
    #expect(device["origin"] != nil)
    let topics = try #require(device["availability"] as? [[String: Any]])
    #expect(topics.compactMap { $0["topic"] as? String } == ["tk/bridge/state", "tk/bridge/consent"])
    let template = try #require(topics.last?["value_template"] as? String)
    #expect(template.contains("'\(Self.id)' in value_json.home_assistant"))
    #expect(template.contains("if value_json is defined"))
  }

  @Test("Another request has other unique ids and another topic; the daemon's device has no button") func apart() throws
  {
    let ids = try [Self.id, "c-fedcba9876543210"].map { id in
      Set(try buttons(question(id)).values.compactMap { $0["unique_id"] as? String })
    }
    #expect(ids.map(\.count) == [2, 2])
    #expect(ids[0].isDisjoint(with: ids[1]))
    #expect(place.questionTopic(Self.id) != place.questionTopic("c-fedcba9876543210"))
    let daemon = try #require(try object(.bridge(place))["components"] as? [String: [String: Any]])
    #expect(daemon.values.allSatisfy { $0["platform"] as? String != "button" || $0.count == 1 }, "they are removed")
  }

  @Test("Home Assistant's login sends a test alert, and says that it arrived until that is known") func alerts() throws
  {
    let daemon = try #require(try object(.bridge(place, login: "ha"))["components"] as? [String: [String: Any]])
    let (test, confirm) = (try #require(daemon["test_alert"]), try #require(daemon["alerts_arrive"]))
    #expect(test["command_topic"] as? String == "tk/in/ha/request/alerts/test" && test["availability"] == nil)
    #expect(confirm["command_topic"] as? String == "tk/in/ha/request/alerts/confirm")
    for button in [test, confirm] { #expect(button["payload_press"] as? String == "{}") }
    let topics = try #require(confirm["availability"] as? [[String: Any]])
    #expect(topics.last?["topic"] as? String == "tk/bridge/info")
    let template = try #require(topics.last?["value_template"] as? String)
    #expect(template.contains("'alerts' in value_json.protection_missing"))
  }
}

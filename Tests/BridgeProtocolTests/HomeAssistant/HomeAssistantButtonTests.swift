// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import BridgeProtocol

@Suite("Buttons of Home Assistant for consent")
struct HomeAssistantButtonTests {
  private static let id = "c-0123456789abcdef"

  private func components(asking question: HomeAssistantButton.Question?) throws
    -> [String: [String: Any]]
  {
    let topics = BaseTopics([.init(name: "home", base: "tk")])
    let place = try #require(
      HomeAssistantPlace(home: "home", in: topics, prefix: "homeassistant", version: "1.2"))
    let json = WireJSON().encode(HomeAssistantDevice.bridge(place, asking: question))
    let device = try #require(try JSONSerialization.jsonObject(with: Data(json)) as? [String: Any])
    return try #require(device["components"] as? [String: [String: Any]])
  }

  @Test("While nothing waits, both have nothing but their platform, which removes them")
  func removed() throws {
    let components = try components(asking: nil)
    for key in ["consent_approve", "consent_deny"] {
      let button = try #require(components[key])
      #expect(Set(button.keys) == ["platform"])
      #expect(button["platform"] as? String == "button")
    }
  }

  @Test("While a request waits, what is pressed has its id, and so has the availability")
  func asking() throws {
    let components = try components(
      asking: .init(id: Self.id, deed: #"give a1 "Hall" the credentials of "home""#, login: "ha"))
    let approve = try #require(components["consent_approve"])
    let deny = try #require(components["consent_deny"])
    #expect(approve["command_topic"] as? String == "tk/in/ha/request/consent/approve")
    #expect(approve["payload_press"] as? String == #"{"id":"\#(Self.id)","scope":"once"}"#)
    #expect(
      approve["name"] as? String == #"Approve once: give a1 "Hall" the credentials of "home""#)
    #expect(deny["command_topic"] as? String == "tk/in/ha/request/consent/deny")
    #expect(deny["payload_press"] as? String == #"{"id":"\#(Self.id)"}"#)
    for (key, button) in [("consent_approve", approve), ("consent_deny", deny)] {
      #expect(button["unique_id"] as? String == "threadkeeper_tk_\(key)")
      #expect(button["default_entity_id"] as? String == "button.threadkeeper_\(key)")
      let topics = try #require(button["availability"] as? [[String: Any]])
      #expect(
        topics.compactMap { $0["topic"] as? String } == ["tk/bridge/state", "tk/bridge/consent"])
      let template = try #require(topics.last?["value_template"] as? String)
      #expect(template.contains("value_json.home_assistant.id == '\(Self.id)'"))
      #expect(template.contains("if value_json is defined"))
    }
  }

  @Test("Another request makes another form of the device; the end of it the former one")
  func form() throws {
    let topics = BaseTopics([.init(name: "home", base: "tk")])
    let place = try #require(
      HomeAssistantPlace(home: "home", in: topics, prefix: "homeassistant", version: "1.2"))
    let forms = [nil, "c-1", "c-2"].map { id in
      HomeAssistantForm(
        .bridge(place, asking: id.map { .init(id: $0, deed: "give", login: "ha") }))
    }
    #expect(Set(forms).count == 3)
    #expect(HomeAssistantForm(.bridge(place)) == forms[0])
  }
}

// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import ThreadDataset

@testable import Broker

@Suite("Where Home Assistant finds the devices of a home")
struct HomeAssistantPlaceTests {
  private func place(_ base: String) throws -> HomeAssistantPlace {
    try #require(
      HomeAssistantPlace(
        home: "home", in: BaseTopics([.init(name: "home", base: base)]), prefix: "homeassistant",
        version: "1"))
  }

  @Test("The topic of a device has the characters that Home Assistant allows, and a router its id")
  func topics() throws {
    let place = try place("threadkeeper/house 1")
    let id = "threadkeeper_threadkeeper-2fhouse-201"
    #expect(place.bridgeTopic == "homeassistant/device/threadkeeper/\(id)/config")
    let agent = try #require(BorderAgentID(hex: "a1b2c3d4e5f60718"))
    #expect(
      place.routerTopic(agent) == "homeassistant/device/threadkeeper/\(id)_a1b2c3d4e5f60718/config")
  }

  @Test("Base topics that look alike have different object ids")
  func injective() throws {
    let bases = [
      "a/b", "a_b", "a-b", "ab", "A/b", "a//b", "a-2fb", "a-2Fb", "a b", "\u{E9}", "e\u{301}",
      "a/b_a1b2c3d4e5f60718",
    ]
    let agent = try #require(BorderAgentID(hex: "a1b2c3d4e5f60718"))
    let ids = try bases.flatMap { base in
      let place = try place(base)
      return [place.bridgeID, place.routerID(agent)]
    }
    #expect(Set(ids).count == 2 * bases.count)
    let allowed = /[a-zA-Z0-9_-]+/
    for id in ids { #expect(id.wholeMatch(of: allowed) != nil, "\(id)") }
  }

  @Test("A home that is not served has no devices")
  func unknownHome() {
    let topics = BaseTopics([.init(name: "home", base: "a")])
    #expect(
      HomeAssistantPlace(home: "cabin", in: topics, prefix: "homeassistant", version: "1") == nil)
  }
}

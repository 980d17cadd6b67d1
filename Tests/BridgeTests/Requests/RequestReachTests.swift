// SPDX-License-Identifier: Apache-2.0

import Broker
import CredentialService
import Foundation
import TestKit
import Testing
import ThreadCredentialStore
import ThreadDataset
import ThreadRequests

@testable import Bridge

@Suite("What requests come to, and what they do not")
struct RequestReachTests {
  let bridge: TestBridge

  init() throws { bridge = try TestBridge() }

  @Test("Two teams cannot touch each other's credentials")
  func teams() throws {
    try bridge.announce(Agent.living, .home, at: 1)
    #expect(
      try bridge.storeCredentials(Agent.living, .guest, at: 9, user: "bob").code == "not_authorized"
    )
    let agent = ["border_agent_id": Agent.living]
    #expect(try bridge.ask(.deleteCredentials, user: "bob", agent).code == "not_authorized")
    #expect(try bridge.ask(.listCredentials, user: "bob").data?.credentials == [])
    #expect(
      try bridge.ask(.setPreferred, user: "bob", ["ext_pan_id": "1111111122222222"]).code
        == "not_authorized")
    #expect(try bridge.credential(Agent.living)?.dataset == SampleNetwork.home.dataset(at: 1))
    #expect(try bridge.storeCredentials(Agent.attic, .guest, at: 1, user: "bob").code == nil)
    #expect(try bridge.ask(.deleteCredentials, ["border_agent_id": Agent.attic]).code != nil)
  }

  @Test("Users of one team share what they store")
  func sharedTeam() throws {
    let bridge = try TestBridge(teams: ["anna": "family", "anton": "family"])
    try bridge.announce(Agent.living, .home, at: 1, user: "anna")
    #expect(
      try bridge.ask(.listCredentials, user: "anton").data?.credentials?.count == 1)
    #expect(
      try bridge.ask(.deleteCredentials, user: "anton", ["border_agent_id": Agent.living]).code
        == nil)
  }

  @Test("A request is about the home of its topic")
  func homes() throws {
    let bridge = try TestBridge(homes: [
      .init(name: "home", base: "threadkeeper"), .init(name: "cabin", base: "cabin"),
    ])
    try bridge.announce(Agent.living, .home, at: 1)
    #expect(try bridge.ask(.listCredentials).data?.credentials?.count == 1)
    let cabin = try bridge.ask(.listCredentials, base: "cabin")
    #expect(cabin.data?.credentials == [])
    #expect(cabin.publication.topic == "cabin/out/anna/response/credentials/list")
  }

  @Test("The lists are what is published, and hold no secret")
  func lists() throws {
    try bridge.announce(Agent.living, .home, at: 1, ["name": "Living room"])
    try bridge.say(.offline, Agent.living)
    try bridge.pass(40)
    let routers = try #require(try bridge.ask(.listRouters).data?.routers)
    #expect(routers.first?["name"]?.text == "Living room")
    #expect(routers.first?["availability"]?.text == "offline")
    let networks = try #require(try bridge.ask(.listNetworks).data?.networks)
    #expect(networks.first?["preferred"]?.bool == true)
    let alerts = try #require(try bridge.ask(.listAlerts).data?.alerts)
    #expect(alerts.contains { $0["alertname"]?.text == "BorderRouterOffline" })
  }

  @Test("No answer holds a secret in plaintext, whatever is asked")
  func secrecy() throws {
    try bridge.announce(Agent.living, .home, at: 1)
    for command in RequestCommand.allCases where command != .deleteCredentials {
      let answered = try bridge.ask(
        command,
        [
          "border_agent_id": Agent.living, "ext_pan_id": "1111111122222222", "id": "c-1",
          "dataset": try SampleNetwork.home.dataset(at: 1).hex,
        ])
      let text = String(decoding: answered.publication.payload, as: UTF8.self).lowercased()
      #expect(!text.contains(SampleNetwork.home.networkKey))
      #expect(!text.contains(SampleNetwork.home.pskc))
      #expect(answered.data?.isSecret != true)
    }
  }

  @Test("Garbage on request topics: an answer or a rejection for each, and nothing is changed")
  func garbage() throws {
    try bridge.announce(Agent.living, .home, at: 1)
    var generator = SeededGenerator(seed: 4)
    let fields = [
      "transaction", "border_agent_id", "dataset", "ext_pan_id", "id", "scope", "home", "sealed",
    ]
    let values: [String] = [
      "null", "1", "-1e999", "\"\"", "[]", "{}", "true", "\"a1b2c3d4e5f60718\"", "\"\\ud800\"",
      "\"once\"", "\"\(String(repeating: "0", count: 508))\"", "[[[[[[[[[]]]]]]]]]",
    ]
    let names = RequestCommand.allCases.map(\.rawValue) + ["party", "a/b/c", "é"]
    for round in 0..<400 {
      var payload: [UInt8]
      if round.isMultiple(of: 4) {
        payload = (0..<Int.random(in: 0...200, using: &generator)).map { _ in
          UInt8.random(in: 0...255, using: &generator)
        }
      } else {
        let members = (0..<Int.random(in: 0...4, using: &generator)).map { _ in
          "\"\(fields.randomElement(using: &generator) ?? "")\":"
            + (values.randomElement(using: &generator) ?? "")
        }
        payload = Array("{\(members.joined(separator: ","))}".utf8)
        if round.isMultiple(of: 3), !payload.isEmpty {
          payload[Int.random(in: 0..<payload.count, using: &generator)] ^= 0x21
        }
      }
      var message = IncomingMessage(
        topic: "threadkeeper/in/bob/request/\(names.randomElement(using: &generator) ?? "")",
        payload: payload)
      message.correlationData = (0..<9).map { _ in UInt8.random(in: 0...255, using: &generator) }
      try bridge.receive([message])
      #expect(bridge.published.count == 1)
      #expect(bridge.published.first?.publication.topic.hasPrefix("threadkeeper/out/bob/") == true)
    }
    #expect(try bridge.credential(Agent.living)?.dataset == SampleNetwork.home.dataset(at: 1))
    #expect(try bridge.preferred() == SampleNetwork.home.dataset(at: 1))
  }
}

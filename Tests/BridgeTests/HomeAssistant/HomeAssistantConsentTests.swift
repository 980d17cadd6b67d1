// SPDX-License-Identifier: Apache-2.0

import BridgeProtocol
import Foundation
import MosquittoClient
import SealedEnvelope
import TestKit
import Testing

@testable import Bridge

@Suite("Consent through Home Assistant")
struct HomeAssistantConsentTests {
  private static let topic = HomeAssistantScene.bridgeTopic
  private let scene: AdoptionScene
  private var bridge: TestBridge { scene.bridge }

  init() throws {
    scene = try AdoptionScene()
    bridge.configuration.homeAssistant.isOn = true
    bridge.configuration.homeAssistant.login = "ha"
    bridge.configuration.homeAssistant.consent = .adoptions
  }

  /// A login decides in plaintext.
  private func say(
    _ verb: String, user: String = "ha", _ id: String, scope: String? = "once"
  ) throws -> Answered? {
    var fields = ["id": id]
    if verb == "approve" { fields["scope"] = scope }
    try bridge.receive([bridge.request("consent/\(verb)", user: user, fields)])
    return bridge.published.last
  }

  private var id: String {
    get throws { try #require(try scene.waiting().first).id.description }
  }

  /// Another login asks for the preferred credentials.
  private func askForKey() throws -> String {
    try bridge.useEnrolments()
    try bridge.enroll("phone", Identity().keys)
    try bridge.receive([bridge.request("preferred/get", user: "phone")])
    return try #require(
      try scene.waiting().first { $0.subject.command == "preferred/get" }
    ).id.description
  }

  /// The buttons of the daemon's device as the broker was sent it last.
  private func buttons(_ outbox: Outbox) throws -> [String: [String: Any]]? {
    guard let device = try outbox.drain().last(where: { $0.topic == Self.topic }) else {
      return nil
    }
    let text = String(decoding: device.payload, as: UTF8.self)
    for dataset in [scene.home, scene.guest] { #expect(!text.contains(dataset.hex)) }
    let components = try #require(device.object["components"] as? [String: [String: Any]])
    return components.filter { $0.key.hasPrefix("consent_") }
  }

  private func pressed(_ button: [String: Any]?) throws -> [String: Any] {
    let text = try #require(button?["payload_press"] as? String)
    return try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
  }

  @Test("Home Assistant approves an adoption once, and the router is sent its dataset")
  func approved() throws {
    try scene.raised()
    let answer = try say("approve", try id)
    #expect(answer?.code == nil)
    #expect(answer?.publication.topic == "threadkeeper/out/ha/response/consent/approve")
    try bridge.pass(1)
    #expect(try scene.state == .sent)
    let record = try #require(
      try bridge.takeEvents().first { $0.types.contains(.consentApproved) })
    #expect(record.detail.decidedBy == "mqtt user ha")
  }

  @Test("It denies one, too; then the id is stale, and nothing more happens")
  func denied() throws {
    try scene.raised()
    let id = try id
    #expect(try say("deny", id)?.code == nil)
    #expect(try scene.state == .denied)
    #expect(try say("approve", id)?.code == "stale_id")
    #expect(try say("deny", id)?.code == "stale_id")
    #expect(try scene.state == .denied)
  }

  @Test("After the request has expired a press is stale")
  func expired() throws {
    try scene.raised()
    let id = try id
    try bridge.pass(121)
    #expect(try say("approve", id)?.code == "stale_id")
    #expect(try scene.state == .expired)
  }

  @Test("With adoptions nothing else is decided; with all, everything; with off, nothing")
  func extent() throws {
    try scene.raised()
    let (adoption, key) = (try id, try askForKey())
    let refused = try say("approve", key)
    #expect(refused?.code == "not_authorized" && refused?.answer.error?.field == "id")
    #expect(try say("deny", key)?.code == "not_authorized")
    bridge.configuration.homeAssistant.consent = .off
    for id in [adoption, key] {
      #expect(try say("approve", id)?.code == "not_authorized")
      #expect(try say("deny", id)?.code == "not_authorized")
    }
    bridge.configuration.homeAssistant.consent = .all
    #expect(try say("approve", key)?.code == nil)
    #expect(try say("approve", adoption)?.code == nil)
  }

  @Test("Without a login in the settings nothing is decided")
  func noLogin() throws {
    bridge.configuration.homeAssistant.login = nil
    try scene.raised()
    #expect(try say("approve", try id)?.code == "not_authorized")
  }

  @Test("Another login, another scope and an approver in plaintext are refused as before")
  func others() throws {
    bridge.configuration.approvers = ["anna-phone"]
    try scene.raised()
    #expect(try say("approve", user: "bob", try id)?.code == "not_authorized")
    #expect(try say("approve", user: "anna-phone", try id)?.answer.error?.field == "sealed")
    let always = try say("approve", try id, scope: "always")
    #expect(always?.code == "not_authorized" && always?.answer.error?.field == "scope")
    #expect(try scene.state == .asked)
    #expect(try say("approve", "c-0000000000000000")?.code == "stale_id")
  }

  @Test(
    "A request of its own, or of its team, is neither approved nor shown",
    arguments: ["anna", "ben"])
  func own(login: String) throws {
    for consent in [BridgeConfiguration.HomeAssistant.Consent.adoptions, .all] {
      bridge.configuration.homeAssistant.login = login
      bridge.configuration.homeAssistant.consent = consent
      if consent == .adoptions { try scene.raised() }
      #expect(try say("approve", user: login, try id)?.code == "not_authorized")
      let outbox = try bridge.outbox()
      let shown = try outbox.drain().last { $0.topic == "threadkeeper/bridge/consent" }
      #expect(shown?.object["home_assistant"] == nil)
    }
    #expect(try scene.state == .asked)
  }

  @Test(
    "The buttons are for the request that waits, and go when it is settled, also after a restart")
  func buttons() throws {
    let outbox = try bridge.outbox()
    try scene.raised()
    let id = try id
    var found = try #require(try buttons(outbox))
    #expect(try pressed(found["consent_approve"])["id"] as? String == id)
    #expect(try pressed(found["consent_deny"])["id"] as? String == id)
    let name = try #require(found["consent_approve"]?["name"] as? String)
    #expect(
      name == "Approve once: give \(AdoptionScene.router) \"Living room\" the credentials of "
        + "\"\(scene.home.networkName ?? "")\"")
    try scene.restart()
    let next = try bridge.outbox()
    found = try #require(try buttons(next))
    #expect(try pressed(found["consent_approve"])["id"] as? String == id)
    _ = try say("deny", id)
    found = try #require(try buttons(next))
    #expect(found.values.allSatisfy { Set($0.keys) == ["platform"] })
    try scene.restart()
    let last = try bridge.outbox()
    last.republishAll()
    #expect(try buttons(last)?.values.allSatisfy { Set($0.keys) == ["platform"] } == true)
  }

  @Test("What expired while the daemon was away has no buttons after the start")
  func expiredMeanwhile() throws {
    try scene.raised()
    bridge.clock.advance(seconds: 200)
    try scene.restart()
    let found = try #require(try buttons(try bridge.outbox()))
    #expect(found.values.allSatisfy { Set($0.keys) == ["platform"] })
  }

  @Test("With adoptions an older request of another kind does not hide the router's")
  func head() throws {
    let outbox = try bridge.outbox()
    let key = try askForKey()
    try scene.raised()
    let adoption = try #require(try scene.waiting().first { $0.subject.isAdoption }).id.description
    let found = try #require(try buttons(outbox))
    #expect(try pressed(found["consent_approve"])["id"] as? String == adoption)
    bridge.configuration.homeAssistant.consent = .all
    let other = try bridge.outbox()
    other.republishAll()
    #expect(
      try pressed(try #require(try buttons(other))["consent_approve"])["id"] as? String == key)
  }

  @Test("Whatever names a router and a network have, a button's name stays short and of one line")
  func bounded() throws {
    let long = String(repeating: "x", count: 128)
    try bridge.announce(AdoptionScene.router, .guest, at: 1, ["name": "\"\n\(long)"])
    let outbox = try bridge.outbox()
    try scene.raised()
    let found = try #require(try buttons(outbox))
    let name = try #require(found["consent_approve"]?["name"] as? String)
    #expect(name.count < 300 && !name.contains("\n") && !name.contains(long))
  }

  @Test("That Home Assistant decides about everything is an alert, until it does not")
  func alert() throws {
    bridge.configuration.homeAssistant.consent = .all
    try bridge.restart()
    #expect(try bridge.firing().contains("ConsentByHomeAssistant"))
    bridge.configuration.homeAssistant.consent = .adoptions
    try bridge.restart()
    #expect(try !bridge.firing().contains("ConsentByHomeAssistant"))
  }
}

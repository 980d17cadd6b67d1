// SPDX-License-Identifier: Apache-2.0

import Broker
import TestKit
import Testing

@testable import Bridge

@Suite("Consent through Home Assistant")
struct HomeAssistantConsentTests {
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
    _ verb: String, user: String = "ha", _ id: String, scope: String? = "once",
    token: String? = nil
  ) throws -> Answered? {
    var fields = ["id": id]
    fields["token"] = token ?? bridge.configuration.buttonTokens.token(for: id)
    if verb == "approve" { fields["scope"] = scope }
    try bridge.receive([bridge.request("consent/\(verb)", user: user, fields)])
    return bridge.published.last
  }

  private var id: String {
    get throws { try #require(try scene.waiting().first).id.description }
  }

  /// Another login asks for the preferred credentials.
  private func askForKey(_ user: String = "phone") throws -> String {
    try bridge.useEnrolments()
    try bridge.enroll(user, Identity().keys)
    try bridge.receive([bridge.request("preferred/get", user: user)])
    return try #require(
      try scene.waiting().first {
        $0.subject.command == "preferred/get" && $0.requester.identity == .mqttUser(user)
      }
    ).id.description
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

  @Test("With no token, or that of another request, nothing is decided")
  func token() throws {
    try scene.raised()
    let id = try id
    for token in ["", bridge.configuration.buttonTokens.token(for: "c-0000000000000000")] {
      for verb in ["approve", "deny"] {
        let answer = try say(verb, id, token: token)
        #expect(answer?.code == "not_authorized" && answer?.answer.error?.field == "token")
      }
    }
    try bridge.receive([bridge.request("consent/approve", user: "ha", ["id": id])])
    #expect(bridge.published.last?.code == "not_authorized")
    #expect(try scene.state == .asked)
  }

  @Test("For a minute after buttons were altered no button decides; then it does")
  func altered() throws {
    let monitor = BridgeMonitor()
    bridge.parts.refusesButtons = { monitor.refusesButtons(at: $0) }
    try scene.raised()
    let id = try id
    let now = bridge.clock.now()
    // A device without buttons is one that no button stands for.
    #expect(monitor.noteAltered("u", home: "home", isButton: false, at: now))
    #expect(!monitor.refusesButtons(at: now))
    #expect(!monitor.noteAltered("t", home: "home", isButton: true, at: now))
    // It takes nothing back from the one before.
    #expect(!monitor.noteAltered("u", home: "home", isButton: false, at: now))
    for _ in 0..<2 {
      #expect(try say("approve", id)?.code == "not_authorized")
      #expect(try say("deny", id)?.code == "not_authorized")
      try bridge.pass(29)
    }
    #expect(try scene.state == .asked)
    try bridge.pass(2)
    #expect(try say("approve", id)?.code == nil)
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
      try scene.restart()
      let broker = try ButtonBroker(bridge)
      try broker.publish(republishing: true)
      let overview = try #require(
        try bridge.database.read { bridge.consentOverviews.publication(of: "home", $0) })
      #expect(overview.object["pending"] as? Int == 1)
      #expect(overview.object["home_assistant"] == nil)
      #expect(broker.asked.isEmpty)
    }
    #expect(try scene.state == .asked)
  }

  @Test("That Home Assistant decides about everything is an alert, until it does not")
  func alert() throws {
    bridge.configuration.homeAssistant.consent = .all
    try bridge.restart()
    #expect(try bridge.firing().contains("ConsentByHomeAssistant"))
    // Without its row, as after damage, it is back at once.
    try DamagedPage.root(of: "alert", in: bridge.temporary.location.databasePath)
    _ = try RegistryRepair(configuration: bridge.configuration, store: bridge.store)
      .run(now: bridge.clock.now())
    #expect(try bridge.firing().contains("ConsentByHomeAssistant"))
    bridge.configuration.homeAssistant.consent = .adoptions
    try bridge.restart()
    #expect(try !bridge.firing().contains("ConsentByHomeAssistant"))
  }
}

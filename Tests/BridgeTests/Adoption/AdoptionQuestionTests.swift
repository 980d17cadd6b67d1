// SPDX-License-Identifier: Apache-2.0

import Broker
import ConsentLedger
import KeychainCore
import TestKit
import Testing
import ThreadCredentialStore
import ThreadDataset

@testable import Bridge

@Suite("When a person is asked about a router, and when not")
struct AdoptionQuestionTests {
  private let scene: AdoptionScene
  private var bridge: TestBridge { scene.bridge }
  private var home: OperationalDataset { scene.home }
  private var guest: OperationalDataset { scene.guest }

  init() throws { scene = try AdoptionScene() }

  @Test("Another SSID asks at once, without the hold")
  func ssid() throws {
    try bridge.say(.ssid, Agent.living, ["ssid": "b", "previous_ssid": "a"])
    try bridge.pass(1)
    #expect(try scene.waiting().count == 1)
  }

  @Test("Where alerts are not held, nothing is waited for")
  func noHold() throws {
    bridge.configuration.alertsHold = 0
    try bridge.announce(Agent.garage, .guest, at: 1)
    try bridge.pass(1)
    #expect(try bridge.router(Agent.garage)?.adoption == .asked)
  }

  @Test("Another preferred network makes a question, and what was sent, void; it is asked again")
  func preferredChanges() throws {
    let other = SampleNetwork.home.with { $0.extendedPANID = "7777777788888888" }
    try scene.raised()
    let first = try #require(try scene.waiting().first)
    try bridge.prefer(other)
    try bridge.pass(1)
    try bridge.pass(1)
    let second = try #require(try scene.waiting().first)
    #expect(second.id != first.id && second.subject.onlyNetwork?.description == other.extendedPANID)
    #expect(throws: ConsentRefusal.self) {
      try scene.consents.approve(first.id.description, .once, by: .commandLine(user: 0))
    }
    try scene.approve()
    try bridge.pass(1)
    #expect(try scene.adoption?.preferred == other.dataset(at: 5))
    try bridge.prefer(.home)
    try bridge.pass(1)
    #expect(try scene.adoption?.preferred != other.dataset(at: 5))
    try bridge.pass(1)
    #expect(try scene.waiting().first?.subject.onlyNetwork?.description == "1111111122222222")
    // The question is withdrawn at once, before anybody can agree to it.
    try bridge.prefer(other)
    #expect(try scene.waiting().isEmpty)
    #expect(try scene.stored == guest && scene.state == .due)
  }

  @Test("No person is asked about a login without a key; once it is enrolled, a person is")
  func notEnrolled() throws {
    let scene = try AdoptionScene(isEnrolled: false)
    try scene.raised()
    #expect(try scene.waiting().isEmpty)
    let facts = try #require(try scene.failure)
    #expect(facts.reason == "not_enrolled" && facts.user == "anna")
    #expect(facts.remedy.contains("threadkeeper clients enroll anna"))
    try scene.restart()
    try scene.bridge.pass(1)
    #expect(try scene.failure?.reason == "not_enrolled")
    try scene.enroll()
    try scene.bridge.pass(1)
    #expect(try scene.waiting().count == 1 && scene.failure == nil)
  }

  @Test("`always` gives the next router of this login what it needs without a question")
  func always() throws {
    try scene.raised()
    try scene.approve(.always)
    try bridge.announce(Agent.garage, .guest, at: 1)
    try scene.raised()
    #expect(try scene.waiting().isEmpty)
    #expect(try bridge.router(Agent.garage)?.adoption == .agreed)
    try bridge.pass(1)
    #expect(try bridge.router(Agent.garage)?.adoption == .sent)
    #expect(
      try Set(scene.opened().compactMap { $0.body["border_agent_id"] as? String })
        == [Agent.living, Agent.garage])
    #expect(try scene.given().count == 2)
  }

  @Test("Two routers of one login are two questions")
  func twoRouters() throws {
    try bridge.announce(Agent.garage, .guest, at: 1)
    try scene.raised()
    #expect(try Set(scene.waiting().map { $0.subject.router?.agent.description }).count == 2)
    try scene.approve()
    #expect(try scene.waiting().count == 1)
  }

  @Test("Of many routers of one login, those are asked about that may wait, and then the next")
  func many() throws {
    let agents = (1...7).map { "a1b2c3d4e5f6000\($0)" }
    for agent in agents { try bridge.announce(agent, .guest, at: 1) }
    try scene.raised()
    #expect(try scene.waiting().count == 5)
    #expect(try agents.filter { try bridge.router($0)?.adoption == .due }.count == 3)
    try scene.approve()
    try bridge.pass(1)
    #expect(try scene.waiting().count == 5)
    #expect(try agents.filter { try bridge.router($0)?.adoption == .due }.count == 2)
  }

  @Test("Neither the login nor its team approves it over MQTT; another approver does")
  func approvers() throws {
    bridge.configuration.approversMustSign = false
    bridge.configuration.approvers = ["anna", "ben", "carol"]
    try scene.raised()
    let id = try #require(try scene.waiting().first).id.description
    for user in ["anna", "ben"] {
      #expect(
        try bridge.ask(.approveConsent, user: user, ["id": id, "scope": "once"]).code
          == "not_authorized")
    }
    #expect(try scene.state == .asked)
    #expect(
      try bridge.ask(.approveConsent, user: "carol", ["id": id, "scope": "once"]).code == nil)
    #expect(try scene.state == .agreed && scene.adoption?.preferred == home)
  }

  @Test("A router that is away is asked about when it is back")
  func away() throws {
    try bridge.say(.offline, Agent.living)
    try scene.raised()
    #expect(try scene.waiting().isEmpty && scene.state == .due)
    try bridge.say(.heartbeat, Agent.living)
    try bridge.pass(1)
    #expect(try scene.waiting().count == 1)
  }

  @Test("A login that is enrolled while its router is away has no obstacle any more")
  func enrolledWhileAway() throws {
    let scene = try AdoptionScene(isEnrolled: false)
    try scene.raised()
    try scene.bridge.say(.offline, Agent.living)
    try scene.bridge.pass(1)
    #expect(try scene.failure?.reason == "not_enrolled")
    try scene.enroll()
    try scene.bridge.pass(1)
    #expect(try scene.failure == nil && scene.state == .due && scene.waiting().isEmpty)
    try scene.bridge.say(.heartbeat, Agent.living)
    try scene.bridge.pass(1)
    #expect(try scene.waiting().count == 1)
  }

  @Test("What is asked about its routers takes none of the places of a login's own requests")
  func ownRequests() throws {
    for number in 1...7 { try bridge.announce("a1b2c3d4e5f6000\(number)", .guest, at: 1) }
    try scene.raised()
    #expect(try scene.waiting().count == 5)
    let ledger = ConsentLedger(bridge.temporary.keychain)
    let subject = ConsentSubject(
      home: "home", command: "preferred/get",
      networks: [ConsentNetwork(id: try #require(home.extendedPANID), name: "home")])
    try bridge.database.write {
      _ = try ledger.ask(
        ConsentRequest(
          subject, by: ConsentRequester(.mqttUser("anna"), team: "family"), reply: .socket),
        now: bridge.clock.now().milliseconds, $0)
    }
    #expect(try scene.waiting().count == 6)
  }
}

// SPDX-License-Identifier: Apache-2.0

import Broker
import KeychainCore
import TestKit
import Testing
import ThreadCredentialStore
import ThreadDataset

@testable import Bridge

@Suite("A router is given the preferred network's credentials")
struct AdoptionTests {
  private let scene: AdoptionScene
  private var bridge: TestBridge { scene.bridge }
  private var home: OperationalDataset { scene.home }
  private var guest: OperationalDataset { scene.guest }

  init() throws { scene = try AdoptionScene() }

  @Test("No person is asked before the mismatch is raised, and then once")
  func askedOnce() throws {
    try bridge.pass(29)
    #expect(try scene.waiting().isEmpty && scene.state == nil)
    try bridge.pass(1)
    try bridge.pass(1)
    let question = try #require(try scene.waiting().first)
    #expect(try scene.state == .asked)
    #expect(question.requester.description == "login anna (team family)")
    #expect(question.requester.team == "family")
    #expect(question.requester.fingerprint == scene.anna.keys.fingerprint)
    #expect(question.subject.command == "dataset/set")
    #expect(question.subject.names == "home")
    #expect(
      question.reason(namingHome: false).hasPrefix(
        #"\#(Agent.living) "Living room" is on "guest-thread"; give it the credentials of "home"?"#)
    )
    for _ in 0..<3 {
      try bridge.announce(Agent.living, .guest, at: 1)
      try scene.restart()
      try bridge.pass(1)
    }
    #expect(try scene.waiting().map(\.id) == [question.id])
    #expect(try scene.isMismatchFiring)
    #expect(try scene.failure == nil)
    #expect(try scene.stored == guest)
    #expect(bridge.delivered.isEmpty)
  }

  @Test("With `alert` no person is asked, and what was under way when it was set is undone")
  func switchedOff() throws {
    try scene.sent()
    bridge.configuration.adoptTimeout = nil
    try scene.restart()
    try bridge.pass(1)
    #expect(try scene.state == nil)
    #expect(try scene.stored == guest)
    #expect(try scene.adoption == nil)
    #expect(try scene.isMismatchFiring)
    try bridge.pass(300)
    #expect(try scene.waiting().isEmpty)
    bridge.configuration.adoptTimeout = 300
    try scene.restart()
    try bridge.pass(1)
    #expect(try scene.waiting().count == 1, "a mismatch of before is asked about, too")
  }

  @Test("Agreed: kept for it, sealed and sent; the router reports it, and the adoption is over")
  func adopted() throws {
    try scene.raised()
    _ = try bridge.takeEvents()
    try scene.approve()
    let approval = try bridge.takeEvents()
    #expect(TestBridge.names(approval).filter { $0 != "alert_updated" } == ["consent_approved"])
    #expect(approval.contains { $0.types.contains(.consentApproved) && $0.router != nil })
    #expect(try scene.state?.published == "agreed" && scene.given().isEmpty)
    try bridge.pass(1)
    let event = try #require(try bridge.takeEvents().first { $0.types.contains(.datasetSent) })
    #expect(event.user == "anna" && event.detail.networkName == "home")
    #expect(event.detail.consent?.hasPrefix("c-") == true)
    #expect(try scene.state == .sent)
    #expect(try scene.adoption?.preferred == home && scene.adoption?.reported == guest)
    #expect(try scene.stored == guest, "its own are what it has said")
    let message = try #require(try scene.opened().first)
    #expect(message.publication.topic == "threadkeeper/out/anna/dataset/set")
    #expect(!message.publication.retain && message.publication.qos == 1)
    #expect(message.body["border_agent_id"] as? String == Agent.living)
    #expect(message.body["dataset"] as? String == home.hex)
    #expect(message.body["id"] as? String == (try scene.adoption?.id))
    // The router has not said so yet.
    let state = try #require(try bridge.router(Agent.living)).state(home: "home")
    #expect(state.adoption == "sent" && state.preferred == "mismatch")
    #expect(state.networkName == "guest-thread")
    #expect(try scene.isMismatchFiring)
    #expect(try bridge.network(.home)?.routers == 1 && bridge.network(.guest)?.routers == 1)

    try bridge.announce(Agent.living, .home, at: 5)
    #expect(
      try bridge.takeNames().filter { $0 != "alert_updated" }
        == ["dataset_updated", "alert_resolved"])
    #expect(try scene.state == nil && scene.adoption == nil && scene.failure == nil)
    #expect(try scene.stored == home)
    #expect(try bridge.credential(Agent.living)?.followsPreferred == true)
    #expect(try !scene.isMismatchFiring)
    try bridge.pass(600)
    #expect(try scene.waiting().isEmpty && bridge.delivered.count == 1)
    try Recount(bridge: bridge, comment: "adopted").check()
    #expect(try scene.given().count == 1)
    #expect(try scene.given().first?.contains(#"dataset/set "home" (1111111122222222)"#) == true)
  }

  @Test("What it said before is no answer yet; something else is a disagreement, and is stored")
  func reports() throws {
    try scene.sent()
    try bridge.announce(Agent.living, .guest, at: 1)
    try bridge.say(.announce, Agent.living)
    try bridge.say(.heartbeat, Agent.living)
    #expect(try scene.state == .sent && scene.stored == guest)
    let other = SampleNetwork.guest.with { $0.extendedPANID = "5555555566666666" }
    try bridge.announce(Agent.living, other, at: 1)
    #expect(try scene.state == .disagreement)
    #expect(try scene.stored == other.dataset(at: 1))
    #expect(try scene.failure?.reason == "disagreement")
    #expect(try scene.isMismatchFiring)
    try bridge.announce(Agent.living, other, at: 1)
    try scene.restart()
    try bridge.pass(1)
    #expect(try scene.waiting().isEmpty, "no person is asked about just that")
    // Another one is news, and the alert of before goes with the new question.
    try bridge.announce(Agent.living, .guest, at: 1)
    try bridge.pass(1)
    #expect(try scene.waiting().count == 1)
    #expect(try scene.failure == nil && scene.state == .asked)
  }

  @Test(
    "The publisher's reason is the alert's, with words of its own, and not a disagreement",
    arguments: AdoptionState.reported)
  func reasons(reason: AdoptionState) throws {
    try scene.sent()
    let other = SampleNetwork.guest.with { $0.extendedPANID = "5555555566666666" }
    try bridge.announce(Agent.living, other, at: 1, ["reason": reason.rawValue])
    #expect(try scene.state == reason && scene.failure?.reason == reason.rawValue)
    #expect(try scene.stored == other.dataset(at: 1))
    let delivered = bridge.delivered.count
    try bridge.pass(600)
    #expect(try scene.state == reason && scene.waiting().isEmpty)
    #expect(bridge.delivered.count == delivered)
    try bridge.announce(Agent.living, .home, at: 5)
    #expect(try scene.state == nil && scene.failure == nil)
  }

  @Test("While there is time, an order that a pending change has held up is sent again")
  func pendingForLong() throws {
    bridge.configuration.adoptTimeout = 900
    try scene.sent()
    func holdUp() throws {
      try bridge.announce(Agent.living, .guest, at: 1, ["reason": "pending_change"])
    }
    for count in 1...2 {
      try bridge.pass(290)
      try holdUp()
      #expect(try scene.state == .sent && scene.failure == nil)
      #expect(bridge.delivered.count == count)
      try bridge.pass(11)
      #expect(bridge.delivered.count == count + 1)
    }
    try bridge.pass(285)
    try holdUp()
    #expect(try scene.failure?.reason == "pending_change")
    try bridge.announce(Agent.living, .home, at: 5)
    #expect(try scene.state == nil && scene.failure == nil)
  }

  @Test("While it is agreed to and under way, the alert of the mismatch says so")
  func underWay() throws {
    func remedy() throws -> String? {
      try bridge.alert(.preferredNetworkMismatch, Agent.living)?.facts.remedy
    }
    try scene.raised()
    #expect(try remedy()?.contains("threadkeeper consent list") == true)
    try scene.approve()
    #expect(try remedy()?.contains("is under way") == true)
    try bridge.pass(1)
    #expect(try scene.state == .sent && remedy()?.contains("is under way") == true)
    try bridge.announce(Agent.living, .guest, at: 1, ["reason": "refused"])
    #expect(try remedy()?.contains("is under way") == false)
  }

  @Test("A report that is not stored by the usual rules leaves what was stored before")
  func disagreementOfOld() throws {
    try scene.sent()
    try bridge.announce(Agent.living, SampleNetwork.guest.with { $0.channel = 20 }, at: 1)
    #expect(try scene.stored == guest)
    #expect(try bridge.router(Agent.living)?.credential == .conflict)
    #expect(try scene.failure?.reason == "disagreement")
  }

  @Test("Time is up: what the router has said is stored as before, and it is said")
  func timeout() throws {
    try scene.sent()
    try bridge.pass(299)
    #expect(try scene.state == .sent)
    try bridge.pass(1)
    #expect(try scene.state == .timeout && scene.stored == guest)
    let facts = try #require(try scene.failure)
    #expect(facts.reason == "timeout")
    #expect(facts.remedy.contains("out/anna/dataset/set"))
    #expect(try scene.isMismatchFiring)
    try scene.restart()
    try bridge.pass(300)
    #expect(try scene.waiting().isEmpty && scene.state == .timeout)
    // Too late is not too late for the router itself.
    try bridge.announce(Agent.living, .home, at: 5)
    #expect(try scene.failure == nil && scene.state == nil && !scene.isMismatchFiring)
    #expect(try scene.adoption == nil)
  }

  @Test("A daemon that was away hears what waited for it before it says that time is up")
  func answeredMeanwhile() throws {
    try scene.sent()
    bridge.listeningSince = nil
    try bridge.pass(400)
    #expect(try scene.state == .sent)
    bridge.listeningSince = bridge.clock.now()
    try bridge.pass(9)
    #expect(try scene.state == .sent && bridge.delivered.count == 1)
    try bridge.announce(Agent.living, .home, at: 5)
    #expect(try scene.state == nil && scene.failure == nil)
    #expect(try bridge.alert(.adoptionFailed, Agent.living) == nil)
  }

  @Test("It is sent again to another connection and by another process, as the same message")
  func again() throws {
    bridge.connection = nil
    try scene.sent()
    #expect(bridge.delivered.isEmpty, "there is no connection to hand it to")
    bridge.connection = 1
    try bridge.pass(1)
    try bridge.pass(1)
    #expect(bridge.delivered.count == 1)
    bridge.connection = 2
    try bridge.pass(1)
    try scene.restart()
    try bridge.pass(1)
    let all = try scene.opened()
    #expect(all.count == 3)
    #expect(Set(all.compactMap { $0.body["id"] as? String }).count == 1)
  }
}

// SPDX-License-Identifier: Apache-2.0

import BridgeProtocol
import ConsentLedger
import KeychainCore
import TestKit
import Testing
import ThreadCredentialStore
import ThreadDataset
import ThreadRequests

@testable import Bridge

@Suite("A router is given the preferred network's credentials")
struct AdoptionTests {
  private let scene: AdoptionScene
  private var keeper: Keeper { scene.keeper }
  private let home: OperationalDataset
  private let guest: OperationalDataset

  init() throws {
    scene = try AdoptionScene()
    home = try SampleNetwork.home.dataset(at: 5)
    guest = try SampleNetwork.guest.dataset(at: 1)
  }

  /// What the audit says of credentials that were given.
  private func given() throws -> [String] {
    var subjects: [String] = []
    try keeper.temporary.keychain.forEachAuditRecord { record in
      subjects += record.lines.filter { $0.action == .credentialsGiven }.map(\.subject)
    }
    return subjects
  }

  @Test("Nobody is asked before the mismatch is raised, and then once")
  func askedOnce() throws {
    try keeper.pass(29)
    #expect(try scene.waiting().isEmpty && scene.state == nil)
    try keeper.pass(1)
    try keeper.pass(1)
    let question = try #require(try scene.waiting().first)
    #expect(try scene.state == .asked)
    #expect(question.requester.description == "mqtt user anna")
    #expect(question.requester.team == "family")
    #expect(question.subject.command == "dataset/set")
    #expect(question.subject.names == "home")
    #expect(
      question.reason.hasPrefix(
        "Living room (\(Agent.living)) is on guest-thread; give it the credentials of home?"))
    for _ in 0..<3 {
      try keeper.announce(Agent.living, .guest, at: 1)
      try scene.restart()
      try keeper.pass(1)
    }
    #expect(try scene.waiting().map(\.id) == [question.id])
    #expect(try scene.isMismatchFiring)
    #expect(try scene.failure == nil)
    #expect(try scene.stored == guest)
    #expect(keeper.mailed.isEmpty)
  }

  @Test("With `alert` nobody is asked, and what was under way when it was set is undone")
  func switchedOff() throws {
    try scene.sent()
    keeper.configuration.adoptTimeout = nil
    try scene.restart()
    try keeper.pass(1)
    #expect(try scene.state == nil)
    #expect(try scene.stored == guest)
    #expect(try scene.adoption == nil)
    #expect(try scene.isMismatchFiring)
    try keeper.pass(300)
    #expect(try scene.waiting().isEmpty)
    keeper.configuration.adoptTimeout = 300
    try scene.restart()
    try keeper.pass(1)
    #expect(try scene.waiting().count == 1, "a mismatch of before is asked about, too")
  }

  @Test("Agreed: stored, kept, sealed and sent; the router says so, and all is well")
  func adopted() throws {
    try scene.raised()
    _ = try keeper.takeEvents()
    try scene.approve()
    let events = try keeper.takeEvents()
    #expect(try keeper.takeNames().isEmpty)
    #expect(events.contains { $0.types.contains(.consentApproved) && $0.router != nil })
    let event = try #require(events.first { $0.types.contains(.datasetSent) })
    #expect(event.user == "anna" && event.detail.networkName == "home")
    try keeper.pass(1)
    #expect(try scene.state == .sent)
    #expect(try scene.stored == home)
    #expect(try scene.adoption?.reported == guest)
    let message = try #require(try scene.opened().first)
    #expect(message.publication.topic == "threadkeeper/out/anna/dataset/set")
    #expect(!message.publication.retain && message.publication.qos == 1)
    #expect(message.body["border_agent_id"] as? String == Agent.living)
    #expect(message.body["dataset"] as? String == home.hex)
    #expect(message.body["id"] as? String == (try scene.adoption?.id))
    // The router has not said so yet.
    let state = try #require(try keeper.router(Agent.living)).state(home: "home")
    #expect(state.adoption == "sent" && state.preferred == "mismatch")
    #expect(state.networkName == "guest-thread")
    #expect(try scene.isMismatchFiring)
    #expect(try keeper.network(.home)?.routers == 1 && keeper.network(.guest)?.routers == 1)

    try keeper.announce(Agent.living, .home, at: 5)
    #expect(
      try keeper.takeNames().filter { $0 != "alert_updated" }
        == ["dataset_updated", "alert_resolved"])
    #expect(try scene.state == nil && scene.adoption == nil && scene.failure == nil)
    #expect(try scene.stored == home)
    #expect(try keeper.credential(Agent.living)?.followsPreferred == true)
    #expect(try !scene.isMismatchFiring)
    try keeper.pass(600)
    #expect(try scene.waiting().isEmpty && keeper.mailed.count == 1)
    try Recount(keeper: keeper, comment: "adopted").check()
    #expect(try given().count == 1)
    #expect(try given().first?.contains("dataset/set home (1111111122222222)") == true)
  }

  @Test("What it said before is no answer yet; something else is a disagreement, and is stored")
  func reports() throws {
    try scene.sent()
    try keeper.announce(Agent.living, .guest, at: 1)
    try keeper.say(.announce, Agent.living)
    try keeper.say(.heartbeat, Agent.living)
    #expect(try scene.state == .sent && scene.stored == home)
    let other = SampleNetwork.guest.with { $0.extendedPANID = "5555555566666666" }
    try keeper.announce(Agent.living, other, at: 1)
    #expect(try scene.state == .disagreement)
    #expect(try scene.stored == other.dataset(at: 1))
    #expect(try scene.failure?.reason == "disagreement")
    #expect(try scene.isMismatchFiring)
    try keeper.announce(Agent.living, other, at: 1)
    try scene.restart()
    try keeper.pass(1)
    #expect(try scene.waiting().isEmpty, "nobody is asked about just that")
    // Another one is news, and the alert of before goes with the new question.
    try keeper.announce(Agent.living, .guest, at: 1)
    try keeper.pass(1)
    #expect(try scene.waiting().count == 1)
    #expect(try scene.failure == nil && scene.state == .asked)
  }

  @Test("A report that is not stored by the usual rules leaves what was stored before")
  func disagreementOfOld() throws {
    try scene.sent()
    try keeper.announce(Agent.living, SampleNetwork.guest.with { $0.channel = 20 }, at: 1)
    #expect(try scene.stored == guest)
    #expect(try keeper.router(Agent.living)?.credential == .conflict)
    #expect(try scene.failure?.reason == "disagreement")
  }

  @Test("Time is up: what the router had before is stored again, and it is said")
  func timeout() throws {
    try scene.sent()
    try keeper.pass(298)
    #expect(try scene.state == .sent)
    try keeper.pass(1)
    #expect(try scene.state == .timeout && scene.stored == guest)
    let facts = try #require(try scene.failure)
    #expect(facts.reason == "timeout")
    #expect(facts.remedy.contains("out/anna/dataset/set"))
    #expect(try scene.isMismatchFiring)
    try scene.restart()
    try keeper.pass(300)
    #expect(try scene.waiting().isEmpty && scene.state == .timeout)
    // Too late is not too late for the router itself.
    try keeper.announce(Agent.living, .home, at: 5)
    #expect(try scene.failure == nil && scene.state == nil && !scene.isMismatchFiring)
    #expect(try scene.adoption == nil)
  }

  @Test("Denied or not decided: said, and not asked again before something changes")
  func denied() throws {
    try scene.raised()
    try scene.desk.deny(try #require(try scene.waiting().first).id.description, by: 0)
    #expect(try scene.failure?.reason == "denied")
    #expect(try scene.state?.published == "failed")
    try scene.restart()
    try keeper.pass(300)
    #expect(try scene.waiting().isEmpty && scene.failure?.reason == "denied")
    // The first SSID is only remembered, another one is a change.
    try keeper.say(.ssid, Agent.living, ["ssid": "a"])
    try keeper.pass(1)
    #expect(try scene.waiting().isEmpty)
    try keeper.say(.ssid, Agent.living, ["ssid": "b"])
    try keeper.pass(1)
    #expect(try scene.waiting().count == 1 && scene.failure == nil)
    try keeper.pass(120)
    #expect(try scene.failure?.reason == "expired")
    // It ended, and comes back.
    try keeper.announce(Agent.living, .home, at: 5)
    #expect(try scene.failure == nil)
    try keeper.announce(Agent.living, .guest, at: 1)
    try scene.raised()
    #expect(try scene.waiting().count == 1)
  }

  @Test("Another SSID asks at once, without the hold")
  func ssid() throws {
    try keeper.say(.ssid, Agent.living, ["ssid": "b", "previous_ssid": "a"])
    try keeper.pass(1)
    #expect(try scene.waiting().count == 1)
  }

  @Test("Another preferred network makes a question, and what was sent, void; it is asked anew")
  func preferredChanges() throws {
    let other = SampleNetwork.home.with { $0.extendedPANID = "7777777788888888" }
    try scene.raised()
    let first = try #require(try scene.waiting().first)
    try keeper.prefer(other)
    try keeper.pass(1)
    try keeper.pass(1)
    let second = try #require(try scene.waiting().first)
    #expect(second.id != first.id && second.subject.onlyNetwork?.description == other.extendedPANID)
    #expect(throws: ConsentRefusal.self) {
      try scene.desk.approve(first.id.description, .once, by: 0)
    }
    try scene.approve()
    try keeper.pass(1)
    #expect(try scene.stored == other.dataset(at: 5))
    try keeper.prefer(.home)
    try keeper.pass(1)
    #expect(try scene.stored == guest)
    try keeper.pass(1)
    #expect(try scene.waiting().first?.subject.onlyNetwork?.description == "1111111122222222")
    // A person agrees before the walk has come to the router.
    try keeper.prefer(other)
    try scene.approve()
    #expect(try scene.stored == guest && scene.state == .due)
  }

  @Test("Nobody is asked about a login without a key; once it is enrolled, somebody is")
  func notEnrolled() throws {
    let scene = try AdoptionScene(isEnrolled: false)
    try scene.raised()
    #expect(try scene.waiting().isEmpty)
    let facts = try #require(try scene.failure)
    #expect(facts.reason == "not_enrolled" && facts.user == "anna")
    #expect(facts.remedy.contains("threadkeeper clients enroll anna"))
    try scene.restart()
    try scene.keeper.pass(1)
    #expect(try scene.failure?.reason == "not_enrolled")
    try scene.enroll()
    try scene.keeper.pass(1)
    #expect(try scene.waiting().count == 1 && scene.failure == nil)
  }

  @Test("`always` gives the next router of this login what it needs without a question")
  func always() throws {
    try scene.raised()
    try scene.approve(.always)
    try keeper.announce(Agent.garage, .guest, at: 1)
    try scene.raised()
    #expect(try scene.waiting().isEmpty)
    #expect(try keeper.router(Agent.garage)?.adoption == .sent)
    try keeper.pass(1)
    #expect(
      try Set(scene.opened().compactMap { $0.body["border_agent_id"] as? String })
        == [Agent.living, Agent.garage])
    #expect(try given().count == 2)
  }

  @Test("Two routers of one login are two questions")
  func twoRouters() throws {
    try keeper.announce(Agent.garage, .guest, at: 1)
    try scene.raised()
    #expect(try Set(scene.waiting().map { $0.subject.router?.agent.description }).count == 2)
    try scene.approve()
    #expect(try scene.waiting().count == 1)
  }

  @Test("Of many routers of one login, those are asked about that may wait, and then the next")
  func many() throws {
    let agents = (1...7).map { "a1b2c3d4e5f6000\($0)" }
    for agent in agents { try keeper.announce(agent, .guest, at: 1) }
    try scene.raised()
    #expect(try scene.waiting().count == 5)
    #expect(try agents.filter { try keeper.router($0)?.adoption == .due }.count == 3)
    try scene.approve()
    try keeper.pass(1)
    #expect(try scene.waiting().count == 5)
    #expect(try agents.filter { try keeper.router($0)?.adoption == .due }.count == 2)
  }

  @Test("A keeper that was away hears what waited for it before it says that time is up")
  func answeredMeanwhile() throws {
    try scene.sent()
    keeper.listeningSince = nil
    try keeper.pass(400)
    #expect(try scene.state == .sent)
    keeper.listeningSince = keeper.clock.now()
    try keeper.pass(9)
    #expect(try scene.state == .sent && keeper.mailed.count == 1)
    try keeper.announce(Agent.living, .home, at: 5)
    #expect(try scene.state == nil && scene.failure == nil)
    #expect(try keeper.alert(.adoptionFailed, Agent.living) == nil)
  }

  @Test("Neither the login nor its team approves it over MQTT; another approver does")
  func approvers() throws {
    keeper.configuration.isApprover = { ["anna", "ben", "carol"].contains($0) }
    try scene.raised()
    let id = try #require(try scene.waiting().first).id.description
    for user in ["anna", "ben"] {
      #expect(
        try keeper.ask(.approveConsent, user: user, ["id": id, "scope": "once"]).code
          == "not_authorized")
    }
    #expect(try scene.state == .asked)
    #expect(
      try keeper.ask(.approveConsent, user: "carol", ["id": id, "scope": "once"]).code == nil)
    #expect(try scene.state == .sent && scene.stored == home)
  }

  @Test("It is sent again to another connection and by another process, as the same message")
  func again() throws {
    keeper.connection = nil
    try scene.sent()
    #expect(keeper.mailed.isEmpty, "there is nobody to hand it to")
    keeper.connection = 1
    try keeper.pass(1)
    try keeper.pass(1)
    #expect(keeper.mailed.count == 1)
    keeper.connection = 2
    try keeper.pass(1)
    try scene.restart()
    try keeper.pass(1)
    let all = try scene.opened()
    #expect(all.count == 3)
    #expect(Set(all.compactMap { $0.body["id"] as? String }).count == 1)
  }

  @Test(
    "A router that leaves takes its adoption along, and so does one whose credentials are deleted")
  func gone() throws {
    try scene.sent()
    try keeper.say(.leave, Agent.living)
    #expect(try scene.adoption == nil && scene.stored == nil)
    try keeper.announce(Agent.living, .guest, at: 1)
    try scene.sent()
    #expect(try keeper.removeCredential(of: Agent.living))
    #expect(try scene.adoption == nil && scene.state == nil)
    try keeper.pass(400)
    #expect(try scene.stored == nil && scene.failure == nil)
  }

  @Test("What somebody else stores for the router counts, and moves no preferred network")
  func storedOtherwise() throws {
    keeper.configuration.following = .any
    try scene.sent()
    let other = try SampleNetwork.guest.with { $0.extendedPANID = "5555555566666666" }.dataset(
      at: 1)
    _ = try keeper.ask(
      .storeCredentials, ["border_agent_id": Agent.living, "dataset": other.hex]
    ).answer.result()
    #expect(try keeper.preferred() == home)
    #expect(try scene.stored == other && scene.adoption == nil)
    try keeper.pass(400)
    #expect(try scene.stored == other)
  }

  @Test("A router that is away is asked about when it is back")
  func away() throws {
    try keeper.say(.offline, Agent.living)
    try scene.raised()
    #expect(try scene.waiting().isEmpty && scene.state == .due)
    try keeper.say(.heartbeat, Agent.living)
    try keeper.pass(1)
    #expect(try scene.waiting().count == 1)
  }

  @Test("A row without a record under the seal sends nothing, and a person is asked anew")
  func rowWithoutRecord() throws {
    try scene.raised()
    // Somebody who can write the registry, but not under the seal.
    try keeper.database.write { try $0.execute("UPDATE router SET adoption = 'sent'") }
    try keeper.pass(1)
    #expect(keeper.mailed.isEmpty)
    #expect(try scene.stored == guest && scene.state == .due)
  }
}

extension Keeper {
  /// `threadkeeper preferred set`.
  fileprivate func prefer(_ network: SampleNetwork) throws {
    var request = ThreadRequest(.setPreferred)
    request.dataset = try network.dataset(at: 5)
    _ = try command(request).result()
  }
}

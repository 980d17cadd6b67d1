// SPDX-License-Identifier: Apache-2.0

import Broker
import TestKit
import Testing
import ThreadCredentialStore
import ThreadDataset
import ThreadRequests

@testable import Bridge

/// The router belongs to the preferred network, which a person then sets to an older dataset of it.
@Suite("A member is given what a person has chosen, which is older than what it has")
struct AdoptionMemberTests {
  private let scene: AdoptionScene
  private var bridge: TestBridge { scene.bridge }
  private let chosen = SampleNetwork.home.with { $0.channel = 20 }
  private let other = SampleNetwork.home.with { $0.channel = 11 }

  init() throws {
    scene = try AdoptionScene()
    try bridge.announce(Agent.living, .home, at: 9)
    try bridge.announce(Agent.attic, .home, at: 9, user: "hub")
    var request = ThreadRequest(.setPreferred)
    request.dataset = try chosen.dataset(at: 3)
    _ = try bridge.command(request).result()
    try bridge.pass(1)
    try scene.raised()
  }

  private func send() throws {
    let question = try #require(
      try scene.waiting().first { $0.subject.router?.agent.description == Agent.living })
    try scene.consents.approve(question.id.description, .once, by: .commandLine(user: 0))
    try bridge.pass(1)
    #expect(try scene.state == .sent)
  }

  @Test(
    "That it uses what it was sent counts also when it comes late",
    arguments: [AdoptionState.timeout, .disagreement])
  func late(state: AdoptionState) throws {
    try send()
    if state == .timeout {
      try bridge.pass(301)
    } else {
      try bridge.announce(Agent.living, other, at: 12)
    }
    #expect(try scene.state == state && scene.failure?.reason == state.rawValue)
    try scene.restart()
    try bridge.announce(Agent.living, chosen, at: 3)
    #expect(try scene.state == nil && scene.adoption == nil && scene.failure == nil)
    #expect(try scene.stored == chosen.dataset(at: 3))
    #expect(try bridge.router(Agent.living)?.credential == .stored)
    #expect(try bridge.credential(Agent.living)?.followsPreferred == true)
    try bridge.pass(31)
    #expect(try bridge.firing().filter { $0.hasSuffix(Agent.living) }.isEmpty)
  }

  @Test("What it says again after the time is up leaves the failure as it is")
  func lateRepetition() throws {
    try send()
    try bridge.pass(301)
    try bridge.announce(Agent.living, .home, at: 9)
    #expect(try scene.state == .timeout && scene.failure?.reason == "timeout")
  }

  @Test(
    "What else it says than what it was sent moves no preferred network, however often it is said")
  func disagreeing() throws {
    try send()
    for seconds in [UInt64(12), 13] {
      try bridge.announce(Agent.living, other, at: seconds)
      #expect(try bridge.preferred() == chosen.dataset(at: 3))
      #expect(try scene.state == .disagreement && scene.failure?.reason == "disagreement")
      #expect(try scene.stored == other.dataset(at: seconds))
    }
  }

  @Test(
    "From the question on, what it says moves no preferred network",
    arguments: [AdoptionState.due, .asked, .denied, .timeout])
  func waiting(state: AdoptionState) throws {
    switch state {
    case .denied:
      for question in try scene.waiting() {
        try scene.consents.deny(question.id.description, by: .commandLine(user: 0))
      }
    case .timeout:
      try send()
      try bridge.pass(301)
    default: break
    }
    if state == .due {
      // Another dataset is another question, which waits for the next tick.
      try bridge.announce(Agent.living, .home, at: 10)
      try bridge.announce(Agent.living, other, at: 11)
    }
    #expect(try scene.state == state)
    try bridge.announce(Agent.living, other, at: 12)
    #expect(try scene.stored == other.dataset(at: 12))
    #expect(try bridge.preferred() == chosen.dataset(at: 3))
    try bridge.pass(1)
    #expect(try bridge.preferred() == chosen.dataset(at: 3) && scene.isMismatchFiring)
  }

  @Test("Somebody who edits the registry's rows does not let it move the preferred network")
  func editedRow() throws {
    try bridge.database.write { try $0.execute("UPDATE router SET adoption = NULL") }
    try bridge.announce(Agent.living, other, at: 12)
    #expect(try scene.stored == other.dataset(at: 12))
    #expect(try bridge.preferred() == chosen.dataset(at: 3))
  }

  @Test("Nor does it with new keys that another member confirms")
  func editedRowAndNewKeys() throws {
    let rekeyed = SampleNetwork.home.with { $0.networkKey = "00000000000000000000000000000001" }
    for (agent, user) in [(Agent.living, "anna"), (Agent.attic, "hub")] {
      try bridge.database.write { try $0.execute("UPDATE router SET adoption = NULL") }
      try bridge.announce(agent, rekeyed, at: 12, user: user)
    }
    #expect(try bridge.credential(Agent.attic)?.dataset == rekeyed.dataset(at: 12))
    #expect(try bridge.preferred() == chosen.dataset(at: 3))
    #expect(try bridge.alert(.preferredKeyDisputed) == nil)
  }

  @Test("Once it is on the preferred network, it moves it as any member")
  func leadsAgain() throws {
    try send()
    try bridge.announce(Agent.living, chosen, at: 14)
    #expect(try scene.state == nil)
    #expect(try bridge.preferred() == chosen.dataset(at: 14))
    try bridge.announce(Agent.living, other, at: 15)
    #expect(try bridge.preferred() == other.dataset(at: 15))
  }
}

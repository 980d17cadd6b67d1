// SPDX-License-Identifier: Apache-2.0

import BridgeProtocol
import MosquittoClient
import TestKit
import Testing
import ThreadCredentialStore
import ThreadDataset

@testable import Bridge

@Suite("What settings, clocks and a full queue are to an adoption")
struct AdoptionClockTests {
  private let scene: AdoptionScene
  private var keeper: Keeper { scene.keeper }

  init() throws {
    scene = try AdoptionScene()
  }

  /// `threadkeeper preferred set`, before any router has been looked at.
  private func preferUnseen(_ network: SampleNetwork) throws {
    try keeper.prefer(network)
    try keeper.database.write {
      try HomeLedger.setReevaluation(after: nil, of: try keeper.home().id, $0)
    }
  }

  @Test("Set back to `alert`, nobody is asked and nothing sent, before any walk has come by")
  func alertOnly() throws {
    // The walk of the start comes before.
    try keeper.pass(1)
    try keeper.pass(29)
    #expect(try scene.state == .due)
    keeper.configuration.adoptTimeout = nil
    try keeper.pass(1)
    #expect(try scene.state == nil && scene.waiting().isEmpty)
    keeper.configuration.adoptTimeout = 300
    try keeper.announce(Agent.living, .guest, at: 1)
    try keeper.pass(1)
    try scene.approve()
    keeper.configuration.adoptTimeout = nil
    try keeper.pass(1)
    #expect(keeper.delivered.isEmpty)
    #expect(try scene.state == nil && scene.adoption == nil)
  }

  @Test("An approval that comes after the setting is back on `alert` gives nothing")
  func approvedUnderAlert() throws {
    try scene.raised()
    keeper.configuration.adoptTimeout = nil
    try scene.approve()
    #expect(try scene.state == nil && scene.adoption == nil && scene.given().isEmpty)
    try keeper.pass(1)
    #expect(keeper.delivered.isEmpty)
  }

  @Test("Nothing is sent of a network that is preferred no more, before any walk has come by")
  func preferredMeanwhile() throws {
    keeper.connection = nil
    try scene.sent()
    keeper.connection = 1
    try preferUnseen(SampleNetwork.home.with { $0.extendedPANID = "7777777788888888" })
    try keeper.pass(1)
    #expect(keeper.delivered.isEmpty)
    try keeper.pass(1)
    #expect(try scene.state == .asked)
  }

  @Test("A clock that is set back neither ends the wait at once nor makes it endless")
  func setBack() throws {
    keeper.clock.advance(seconds: 50_000)
    keeper.listeningSince = keeper.clock.now()
    try keeper.announce(Agent.living, .guest, at: 1)
    try scene.sent()
    #expect(keeper.delivered.count == 1)
    try keeper.pass(-40_000)
    #expect(try scene.state == .sent)
    #expect(keeper.delivered.count == 2, "when the first is over nobody knows")
    try keeper.pass(298)
    #expect(try scene.state == .sent)
    try keeper.pass(3)
    #expect(try scene.state == .timeout)
  }

  @Test("A lowered time-out leaves a router the new time, and no more")
  func lowered() throws {
    try scene.sent()
    keeper.configuration.adoptTimeout = 20
    try keeper.pass(1)
    try keeper.pass(18)
    #expect(try scene.state == .sent)
    try keeper.pass(3)
    #expect(try scene.state == .timeout)
  }

  @Test("A message that a full queue drops is counted, and handed out when there is room")
  func fullQueue() throws {
    try scene.raised()
    try scene.approve()
    let now = keeper.clock.now()
    let other = Answer.publication(
      Publication(topic: "threadkeeper/out/x/response/ping", payload: [1]),
      expires: now.adding(seconds: 30))
    _ = keeper.answerQueue.add(Array(repeating: other, count: AnswerQueue.most), now: now)
    try keeper.pass(1)
    #expect(keeper.delivered.isEmpty && keeper.dropped == 1)
    try keeper.pass(1)
    #expect(keeper.delivered.count == 1 && keeper.dropped == 1)
    try keeper.pass(1)
    #expect(keeper.delivered.count == 1)
  }
}

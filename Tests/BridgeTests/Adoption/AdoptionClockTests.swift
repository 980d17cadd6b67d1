// SPDX-License-Identifier: Apache-2.0

import Broker
import TestKit
import Testing
import ThreadCredentialStore
import ThreadDataset

@testable import Bridge

@Suite("What settings, clocks and a full queue are to an adoption")
struct AdoptionClockTests {
  private let scene: AdoptionScene
  private var bridge: TestBridge { scene.bridge }

  init() throws {
    scene = try AdoptionScene()
  }

  /// `threadkeeper preferred set`, before any router has been looked at.
  private func preferUnseen(_ network: SampleNetwork) throws {
    try bridge.prefer(network)
    try bridge.database.write {
      try HomeLedger.setReevaluation(after: nil, of: try bridge.home().id, $0)
    }
  }

  @Test("Set back to `alert`, no person is asked and nothing sent, before any walk has come by")
  func alertOnly() throws {
    // The walk of the start comes before.
    try bridge.pass(1)
    try bridge.pass(29)
    #expect(try scene.state == .due)
    bridge.configuration.adoptTimeout = nil
    try bridge.pass(1)
    #expect(try scene.state == nil && scene.waiting().isEmpty)
    bridge.configuration.adoptTimeout = 300
    try bridge.announce(Agent.living, .guest, at: 1)
    try bridge.pass(1)
    try scene.approve()
    bridge.configuration.adoptTimeout = nil
    try bridge.pass(1)
    #expect(bridge.delivered.isEmpty)
    #expect(try scene.state == nil && scene.adoption == nil)
  }

  @Test("An approval that comes after the setting is back on `alert` gives nothing")
  func approvedUnderAlert() throws {
    try scene.raised()
    bridge.configuration.adoptTimeout = nil
    try scene.approve()
    #expect(try scene.state == nil && scene.adoption == nil && scene.given().isEmpty)
    try bridge.pass(1)
    #expect(bridge.delivered.isEmpty)
  }

  @Test("Nothing is sent of a network that is preferred no more, before any walk has come by")
  func preferredMeanwhile() throws {
    bridge.connection = nil
    try scene.sent()
    bridge.connection = 1
    try preferUnseen(SampleNetwork.home.with { $0.extendedPANID = "7777777788888888" })
    try bridge.pass(1)
    #expect(bridge.delivered.isEmpty)
    try bridge.pass(1)
    #expect(try scene.state == .asked)
  }

  @Test("A clock that is set back neither ends the wait at once nor makes it endless")
  func setBack() throws {
    bridge.clock.advance(seconds: 50_000)
    bridge.listeningSince = bridge.clock.now()
    try bridge.announce(Agent.living, .guest, at: 1)
    try scene.sent()
    #expect(bridge.delivered.count == 1)
    bridge.clock.jump(seconds: -40_000)
    try bridge.pass()
    #expect(try scene.state == .sent)
    #expect(bridge.delivered.count == 2, "when the first is over it is not known")
    try bridge.pass(298)
    #expect(try scene.state == .sent)
    try bridge.pass(3)
    #expect(try scene.state == .timeout)
  }

  @Test("A lowered time-out leaves a router the new time, and no more")
  func lowered() throws {
    try scene.sent()
    bridge.configuration.adoptTimeout = 20
    try bridge.pass(1)
    try bridge.pass(18)
    #expect(try scene.state == .sent)
    try bridge.pass(3)
    #expect(try scene.state == .timeout)
  }

  @Test("A message that a full queue drops is counted, and handed out when there is room")
  func fullQueue() throws {
    try scene.raised()
    try scene.approve()
    let now = bridge.clock.now()
    let other = Answer.publication(
      Publication(topic: "threadkeeper/out/x/response/ping", payload: [1]),
      expires: now.adding(seconds: 30))
    _ = bridge.answerQueue.add(Array(repeating: other, count: AnswerQueue.most), now: now)
    try bridge.pass(1)
    #expect(bridge.delivered.isEmpty && bridge.dropped == 1)
    try bridge.pass(1)
    #expect(bridge.delivered.count == 1 && bridge.dropped == 1)
    try bridge.pass(1)
    #expect(bridge.delivered.count == 1)
  }
}

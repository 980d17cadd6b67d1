// SPDX-License-Identifier: Apache-2.0

import Broker
import ConsentLedger
import KeychainCore
import TestKit
import Testing
import ThreadCredentialStore
import ThreadDataset

@testable import Bridge

@Suite("What a person has agreed to is called sent when it is sent")
struct AdoptionSendingTests {
  private let scene: AdoptionScene
  private var bridge: TestBridge { scene.bridge }

  init() throws {
    scene = try AdoptionScene()
    try scene.raised()
  }

  private func notGiven() throws -> Int {
    var count = 0
    try bridge.temporary.keychain.forEachAuditRecord { record in
      count += record.lines.count { $0.action == .credentialsNotGiven }
    }
    return count
  }

  @Test("Agreed while the broker is away: it waits, and the router's time begins when it is sent")
  func brokerAway() throws {
    bridge.connection = nil
    try scene.approve()
    try bridge.pass(400)
    #expect(try scene.state == .agreed && scene.failure == nil && bridge.delivered.isEmpty)
    #expect(try scene.adoptionsSent.isEmpty && scene.given().isEmpty)
    try scene.restart()
    try bridge.pass(400)
    #expect(try scene.state == .agreed && scene.failure == nil)
    bridge.connection = 1
    try bridge.pass(1)
    #expect(try scene.state == .sent && bridge.delivered.count == 1)
    #expect(try scene.adoptionsSent.count == 1 && scene.given().count == 1)
    try bridge.pass(298)
    #expect(try scene.state == .sent)
    try bridge.pass(3)
    #expect(try scene.failure?.reason == "timeout")
  }

  @Test("What ends it before it is sent is said in the audit: nothing was given", arguments: 0..<4)
  func endedBefore(end: Int) throws {
    bridge.connection = nil
    try scene.approve()
    #expect(try scene.state == .agreed)
    switch end {
    case 0: try scene.revoke()
    case 1: try bridge.prefer(SampleNetwork.home.with { $0.extendedPANID = "7777777788888888" })
    case 2: bridge.configuration.adoptTimeout = nil
    default: try bridge.announce(Agent.living, .home, at: 5)
    }
    bridge.connection = 1
    try bridge.pass(1)
    try bridge.pass(1)
    #expect(try bridge.delivered.isEmpty && scene.given().isEmpty && notGiven() == 1)
    #expect(try scene.state == [.notEnrolled, .asked, nil, nil][end])
  }

  @Test("Another dataset of the router before it is sent is another question")
  func reported() throws {
    bridge.connection = nil
    try scene.approve()
    try bridge.announce(Agent.living, SampleNetwork.guest.with { $0.channel = 20 }, at: 2)
    bridge.connection = 1
    try bridge.pass(1)
    #expect(try scene.state == .asked && bridge.delivered.isEmpty && notGiven() == 1)
  }

  @Test("`always` that is taken back before anything is sent counts no more")
  func grantRevoked() throws {
    try scene.approve(.always)
    try bridge.announce(Agent.garage, .guest, at: 1)
    bridge.connection = nil
    try scene.raised()
    #expect(try bridge.router(Agent.garage)?.adoption == .agreed)
    let grant = try bridge.database.read {
      try #require(try ConsentLedger(bridge.temporary.keychain).grants($0).first)
    }
    try scene.consents.revoke(grant.id.description, by: .commandLine(user: 0))
    bridge.connection = 1
    for _ in 0..<2 { try bridge.pass(1) }
    #expect(try bridge.router(Agent.garage)?.adoption == .asked)
  }

  @Test("The same for the router that a person was asked about")
  func ownGrantRevoked() throws {
    bridge.connection = nil
    try scene.approve(.always)
    #expect(try scene.state == .agreed)
    let grant = try bridge.database.read {
      try #require(try ConsentLedger(bridge.temporary.keychain).grants($0).first)
    }
    try scene.consents.revoke(grant.id.description, by: .commandLine(user: 0))
    bridge.connection = 1
    for _ in 0..<2 { try bridge.pass(1) }
    #expect(try scene.state == .asked && bridge.delivered.isEmpty && notGiven() == 1)
  }

  @Test("What the broker never answered to is sent again, and the router's time begins then")
  func unanswered() throws {
    try scene.approve()
    bridge.isAcknowledging = false
    try bridge.pass(1)
    #expect(try scene.state == .sent && bridge.delivered.count == 1)
    bridge.connection = nil
    try bridge.pass(400)
    #expect(try scene.state == .sent && scene.failure == nil)
    (bridge.isAcknowledging, bridge.connection) = (true, 2)
    try bridge.pass(1)
    #expect(bridge.delivered.count == 2)
    try bridge.pass(298)
    #expect(try scene.state == .sent)
    try bridge.pass(3)
    #expect(try scene.failure?.reason == "timeout")
  }

  @Test(
    "A daemon that was away longer than the router's time sends it once more before that is over")
  func daemonAway() throws {
    try scene.approve()
    try bridge.pass(1)
    try scene.restart()
    try bridge.pass(400)
    #expect(try scene.state == .sent && scene.failure == nil && bridge.delivered.count == 2)
    try bridge.pass(301)
    #expect(try scene.failure?.reason == "timeout")
  }

  @Test(
    "`always` that is taken back is not sent by again: by no other process, on no other connection")
  func revokedSince() throws {
    for isProcess in [true, false] {
      let scene = try AdoptionScene()
      try scene.raised()
      let bridge = scene.bridge
      try scene.approve(.always)
      bridge.isAcknowledging = isProcess
      try bridge.pass(1)
      #expect(try scene.state == .sent && bridge.delivered.count == 1)
      let grant = try bridge.database.read {
        try #require(try ConsentLedger(bridge.temporary.keychain).grants($0).first)
      }
      try scene.consents.revoke(grant.id.description, by: .commandLine(user: 0))
      if isProcess { try scene.restart() } else { bridge.connection = 2 }
      try bridge.pass(400)
      try bridge.pass(1)
      #expect(try scene.state == .asked && bridge.delivered.count == 1, "\(isProcess)")
    }
  }

  @Test(
    "What the broker refuses is sent as soon as it takes such again, and the router has its time then"
  )
  func refused() throws {
    try scene.approve()
    bridge.isAcknowledging = false
    try bridge.pass(1)
    try bridge.pass(200)
    #expect(bridge.delivered.count == 1)
    bridge.isAcknowledging = true
    bridge.answerQueue.deliveries.becomeDue()
    try bridge.pass(1)
    #expect(bridge.delivered.count == 2)
    bridge.answerQueue.deliveries.becomeDue()
    try bridge.pass(298)
    #expect(try scene.state == .sent && bridge.delivered.count == 2)
    try bridge.pass(3)
    #expect(try scene.failure?.reason == "timeout")
  }

  @Test("A queue that is full does not have the store written every second")
  func fullQueue() throws {
    try scene.approve()
    let other = Answer.publication(
      Publication(topic: "threadkeeper/out/x/response/ping", payload: [1]),
      expires: bridge.clock.now().adding(seconds: 3_600))
    bridge.answerQueue.add(
      Array(repeating: other, count: AnswerQueue.most), now: bridge.clock.now())
    bridge.isTaking = false
    try bridge.pass(1)
    let deadline = try scene.adoption?.deadline
    for _ in 0..<20 { try bridge.pass(1) }
    #expect(try scene.state == .sent && scene.adoption?.deadline == deadline)
    try bridge.pass(200)
    #expect(try scene.adoption?.deadline != deadline)
  }

  /// Sent on a connection that is lost before it has taken the message.
  private func lose() throws {
    try scene.approve()
    bridge.isTaking = false
    try bridge.pass(1)
    #expect(try scene.state == .sent)
    bridge.connection = nil
  }

  @Test("A message that its connection did not take any more does not count as sent by the time")
  func lost() throws {
    try lose()
    try bridge.pass(400)
    #expect(try scene.state == .sent && scene.failure == nil)
    bridge.isTaking = true
    bridge.connection = 2
    try bridge.pass(1)
    #expect(bridge.delivered.count == 1)
    try bridge.pass(299)
    #expect(try scene.state == .sent)
    try bridge.pass(2)
    #expect(try scene.failure?.reason == "timeout")
  }

  @Test("A message that waits when its connection is lost is not sent on the next one, if it ended")
  func takenBack() throws {
    try lose()
    try scene.revoke()
    bridge.isTaking = true
    bridge.connection = 2
    try bridge.pass(1)
    #expect(try bridge.delivered.isEmpty && scene.failure?.reason == "not_enrolled")
  }
}

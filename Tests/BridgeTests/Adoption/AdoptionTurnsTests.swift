// SPDX-License-Identifier: Apache-2.0

import Broker
import ConsentLedger
import TestKit
import Testing

@testable import Bridge

@Suite("Several logins of one team speak for one router")
struct AdoptionTurnsTests {
  private let scene: AdoptionScene
  private var bridge: TestBridge { scene.bridge }

  init() throws {
    scene = try AdoptionScene()
  }

  @Test(
    "Logins of one team that take turns are asked about once, and one of them is sent the message")
  func turns() throws {
    let ben = try Identity()
    try bridge.enroll("ben", ben.keys)
    try scene.raised()
    let question = try #require(try scene.waiting().first)
    func takeTurns() throws {
      for user in ["ben", "anna", "ben"] {
        try bridge.say(.heartbeat, Agent.living, user: user)
        try bridge.announce(Agent.living, .guest, at: 1, user: user)
        try bridge.pass(1)
      }
    }
    try takeTurns()
    #expect(try scene.waiting().map(\.id) == [question.id])
    try scene.approve()
    try takeTurns()
    #expect(bridge.delivered.map(\.topic) == ["threadkeeper/out/anna/dataset/set"])
    #expect(try scene.state == .sent && scene.waiting().isEmpty)
    try bridge.pass(300)
    let facts = try #require(try scene.failure)
    #expect(facts.reason == "timeout" && facts.user == "anna")
    #expect(facts.remedy.contains("out/anna/dataset/set"))
    try takeTurns()
    #expect(try scene.state == .timeout && scene.waiting().isEmpty)
    #expect(try scene.failure?.remedy.contains("out/anna/dataset/set") == true)
    // It is another's turn when the one that was asked about has no key.
    try scene.revoke()
    try bridge.pass(1)
    try bridge.pass(1)
    #expect(try scene.waiting().map(\.requester.fingerprint) == [ben.keys.fingerprint])
  }

  @Test(
    "After a refusal, and after an expiry, turns ask no person again", arguments: [true, false])
  func turnsAfterwards(isDenied: Bool) throws {
    try bridge.enroll("ben", Identity().keys)
    try scene.raised()
    if isDenied {
      try scene.consents.deny(
        try #require(try scene.waiting().first).id.description, by: .commandLine(user: 0))
    }
    try bridge.pass(130)
    for user in ["ben", "anna", "ben"] {
      try bridge.announce(Agent.living, .guest, at: 1, user: user)
      try bridge.pass(130)
      #expect(try scene.waiting().isEmpty)
      #expect(try scene.state == (isDenied ? .denied : .expired))
    }
  }
}

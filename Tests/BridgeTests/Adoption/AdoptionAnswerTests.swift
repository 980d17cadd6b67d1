// SPDX-License-Identifier: Apache-2.0

import Broker
import ConsentLedger
import KeychainCore
import TestKit
import Testing
import ThreadCredentialStore
import ThreadDataset

@testable import Bridge

@Suite("What a person's answer about a router comes to")
struct AdoptionAnswerTests {
  private let scene: AdoptionScene
  private var bridge: TestBridge { scene.bridge }

  init() throws {
    scene = try AdoptionScene()
  }

  @Test("Denied or not decided: said, and not asked again before something changes")
  func denied() throws {
    try scene.raised()
    try scene.consents.deny(
      try #require(try scene.waiting().first).id.description, by: .commandLine(user: 0))
    #expect(try scene.failure?.reason == "denied")
    #expect(try scene.state?.published == "failed")
    try scene.restart()
    try bridge.pass(300)
    #expect(try scene.waiting().isEmpty && scene.failure?.reason == "denied")
    // The first SSID is only remembered, another one is a change.
    try bridge.say(.ssid, Agent.living, ["ssid": "a"])
    try bridge.pass(1)
    #expect(try scene.waiting().isEmpty)
    try bridge.say(.ssid, Agent.living, ["ssid": "b"])
    try bridge.pass(1)
    #expect(try scene.waiting().count == 1 && scene.failure == nil)
    try bridge.pass(120)
    #expect(try scene.failure?.reason == "expired")
    // It ended, and comes back.
    try bridge.announce(Agent.living, .home, at: 5)
    #expect(try scene.failure == nil)
    try bridge.announce(Agent.living, .guest, at: 1)
    try scene.raised()
    #expect(try scene.waiting().count == 1)
  }

  @Test("After a refusal, no person is asked for 120 seconds, however long the question had waited")
  func quietAfterwards() throws {
    try scene.raised()
    try bridge.pass(100)
    try scene.consents.deny(
      try #require(try scene.waiting().first).id.description, by: .commandLine(user: 0))
    for ssid in ["a", "b"] { try bridge.say(.ssid, Agent.living, ["ssid": ssid]) }
    try bridge.pass(1)
    #expect(try scene.state == .due)
    try bridge.pass(118)
    #expect(try scene.waiting().isEmpty)
    try bridge.pass(1)
    #expect(try scene.waiting().count == 1)
  }

  @Test("No is a person's word and no warning; while a question waits, the mismatch points to it")
  func words() throws {
    try scene.raised()
    #expect(
      try bridge.alert(.preferredNetworkMismatch, Agent.living)?.facts.remedy
        .contains("threadkeeper consent list") == true)
    func counts() throws -> [AlertName.Severity: Int] {
      let home = try bridge.home().id
      return try bridge.database.read { try AlertLedger.countsBySeverity(home: home, $0) }
    }
    let before = try counts()
    try scene.consents.deny(
      try #require(try scene.waiting().first).id.description, by: .commandLine(user: 0))
    #expect(try scene.failure?.reason == "denied")
    #expect(try counts()[.warning] == before[.warning])
    #expect(try counts()[.info] == (before[.info] ?? 0) + 1)
    let alert = try #require(try bridge.alert(.adoptionFailed, Agent.living))
    #expect(alert.state(home: "home").severity == .info)
    #expect(
      try bridge.alert(.preferredNetworkMismatch, Agent.living)?.facts.remedy
        .contains("in its own app or page") == true)
  }

  @Test("Agreed, but what was asked for has changed: history and audit say that nothing was given")
  func notGiven() throws {
    try scene.raised()
    try scene.changeKeyUnseen()
    let past = try scene.consents.approve(
      try #require(try scene.waiting().first).id.description, .once, by: .commandLine(user: 0))
    #expect(past.given == false && past.obstacle == .changed)
    var told: [String] = []
    try bridge.temporary.keychain.forEachAuditRecord { record in
      told += record.lines.filter { $0.action == .credentialsNotGiven }.map(\.subject)
    }
    #expect(told.count == 1 && told.first?.hasSuffix("what was asked for has changed") == true)
    #expect(try scene.given().isEmpty)
    try bridge.pass(1)
    try scene.consents.approve(
      try #require(try scene.waiting().first).id.description, .once, by: .commandLine(user: 0))
    try bridge.pass(1)
    #expect(try scene.given().count == 1)
  }
}

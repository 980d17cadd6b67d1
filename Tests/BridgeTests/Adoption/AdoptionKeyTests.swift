// SPDX-License-Identifier: Apache-2.0

import Broker
import ClientEnrolment
import ConsentLedger
import TestKit
import Testing
import ThreadCredentialStore
import ThreadDataset

@testable import Bridge

@Suite("A person agrees to one key of one login")
struct AdoptionKeyTests {
  private let scene: AdoptionScene
  private var bridge: TestBridge { scene.bridge }
  private let guest: OperationalDataset

  init() throws {
    scene = try AdoptionScene()
    guest = try SampleNetwork.guest.dataset(at: 1)
  }

  private func fingerprints() throws -> [String?] {
    try scene.waiting().map(\.requester.fingerprint)
  }

  @Test("Another key while a question waits: it ends, and a person is asked about the new key")
  func otherKeyAsked() throws {
    try scene.raised()
    let first = try #require(try scene.waiting().first)
    let other = try Identity()
    try scene.changeKey(other)
    try bridge.pass(1)
    #expect(try fingerprints() == [other.keys.fingerprint])
    #expect(try scene.waiting().first?.id != first.id && scene.state == .asked)
    #expect(try scene.failure == nil)
    try scene.approve()
    try bridge.pass(1)
    #expect(try scene.adoption?.key == other.keys.fingerprint && bridge.delivered.count == 1)
  }

  @Test("Another key that no command has announced is none that was agreed to, either")
  func approvedTooLate() throws {
    try scene.raised()
    try scene.enroll(Identity())
    try scene.approve()
    #expect(try scene.state == .due && scene.stored == guest)
    try bridge.pass(1)
    #expect(bridge.delivered.isEmpty)
    #expect(try scene.waiting().count == 1)
  }

  @Test("Revoked while a question waits: said at once, and asked when there is another key")
  func revokedAsked() throws {
    try scene.raised()
    try scene.revoke()
    try bridge.pass(1)
    #expect(try scene.waiting().isEmpty && scene.adoption == nil)
    #expect(try scene.failure?.reason == "not_enrolled")
    try bridge.pass(300)
    #expect(try scene.failure?.reason == "not_enrolled")
    try scene.changeKey(Identity())
    try bridge.pass(1)
    #expect(try scene.waiting().count == 1 && scene.failure == nil)
  }

  @Test("Revoked when it was sent: said at once, nothing more is sent, and the remedy is a key")
  func revokedSent() throws {
    try scene.sent()
    try scene.revoke()
    try bridge.pass(1)
    let facts = try #require(try scene.failure)
    #expect(facts.reason == "not_enrolled" && facts.remedy.contains("clients enroll anna"))
    #expect(try scene.adoption == nil && scene.stored == guest)
    bridge.connection = 2
    try bridge.pass(1)
    #expect(bridge.delivered.count == 1)
    try scene.changeKey(Identity())
    try bridge.pass(1)
    #expect(try scene.waiting().count == 1 && scene.failure == nil)
  }

  @Test("Another key when it was sent: nothing is sent to it, and a person is asked")
  func otherKeySent() throws {
    try scene.sent()
    try scene.changeKey(Identity())
    bridge.connection = 2
    try bridge.pass(1)
    #expect(bridge.delivered.count == 1)
    try bridge.pass(1)
    #expect(try scene.waiting().count == 1 && scene.state == .asked)
  }

  @Test(
    "What has failed is asked about again with another key, and named when there is none",
    arguments: [AdoptionState.denied, .expired, .timeout, .disagreement])
  func failed(state: AdoptionState) throws {
    func fail() throws {
      switch state {
      case .denied:
        try scene.raised()
        try scene.consents.deny(
          try #require(try scene.waiting().first).id.description, by: .commandLine(user: 0))
      case .expired:
        try scene.raised()
        try bridge.pass(130)
      case .timeout:
        try scene.sent()
        try bridge.pass(400)
      default:
        try scene.sent()
        let other = SampleNetwork.guest.with { $0.extendedPANID = "5555555566666666" }
        try bridge.announce(Agent.living, other, at: 1)
      }
    }
    try fail()
    #expect(try scene.state == state)
    try bridge.pass(1)
    #expect(try scene.state == state)
    try scene.changeKey(Identity())
    try bridge.pass(1)
    try bridge.pass(1)
    #expect(try scene.state == .asked && scene.failure == nil)
    try scene.revoke()
    try bridge.pass(1)
    #expect(try scene.failure?.reason == "not_enrolled")
  }

  @Test("Keys that cannot be read are not called missing, and asked about when they can be again")
  func damaged() throws {
    try scene.raised()
    /// As after a start that could not read the daemon's own.
    func loseKeys() {
      bridge.parts.sealer = EnrolledExchange(
        ClientEnrolmentStore(bridge.temporary.keychain))
    }
    loseKeys()
    try bridge.pass(1)
    let facts = try #require(try scene.failure)
    #expect(facts.reason == "damaged_enrolment")
    #expect(facts.remedy.contains("store verify") && !facts.remedy.contains("keygen"))
    try scene.revoke()
    loseKeys()
    try bridge.pass(1)
    #expect(try scene.failure?.reason == "not_enrolled")
    try scene.enroll()
    try scene.knowKeys()
    try bridge.pass(1)
    #expect(try scene.waiting().count == 1 && scene.failure == nil)
  }

  @Test("A command without a daemon, which knows no keys, leaves a question as it is")
  func withoutDaemon() throws {
    try scene.raised()
    let question = try #require(try scene.waiting().first)
    bridge.parts.sealer = NoEnrolledClients()
    try bridge.prefer(.home)
    _ = try bridge.ask(
      .storeCredentials, ["border_agent_id": Agent.living, "dataset": guest.hex])
    #expect(try scene.state == .asked)
    try scene.knowKeys()
    try bridge.pass(1)
    #expect(try scene.waiting().map(\.id) == [question.id])
  }
}

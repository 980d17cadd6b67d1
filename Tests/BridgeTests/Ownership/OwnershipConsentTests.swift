// SPDX-License-Identifier: Apache-2.0

import Broker
import ConsentLedger
import CredentialService
import Foundation
import Logging
import SQLiteDatabase
import TestKit
import Testing
import ThreadDataset
import ThreadRequests

@testable import Bridge

@Suite("What was agreed to about the previous team's credentials ends when another team has the id")
struct OwnershipConsentTests {
  let bridge: TestBridge

  init() throws {
    bridge = try TestBridge()
    bridge.parts.sealer = PlainSealer()
    try bridge.announce(Agent.attic, .home, at: 5, user: "hub")
    try bridge.announce(Agent.living, .guest, at: 1, user: "anna")
  }

  /// Everybody is enrolled, and nothing is sealed.
  private struct PlainSealer: AnswerSealer {
    func fingerprint(of user: String, in home: String, _ tx: ReadTransaction) -> String? { "key" }

    func seal(
      _ body: [UInt8], to user: String, in home: String, _ place: AnswerPlace, now: WireTime,
      _ tx: ReadTransaction
    ) -> SealedText? {
      SealedText(v: 1, typ: "sealed", alg: "none", kid: user, ct: Data(body).base64EncodedString())
    }
  }

  private let answers = AnswerQueue()

  private var consents: ConsentDecisions {
    ConsentDecisions(bridge.runner(answers: answers))
  }

  /// The tablet asks for the network of anna's router.
  private func ask() throws {
    try bridge.receive([
      try bridge.request(
        "network/get", user: "tablet", ["ext_pan_id": SampleNetwork.guest.extendedPANID])
    ])
  }

  private func waiting() throws -> [PendingConsent] {
    try bridge.database.read {
      try ConsentLedger(bridge.temporary.keychain).pending(
        now: bridge.clock.now().milliseconds, $0)
    }
  }

  private func handOver() throws {
    try bridge.remove(Agent.living)
    try bridge.announce(Agent.living, .guest, at: 1, user: "bert")
  }

  @Test("An approval for good asks again")
  func always() throws {
    try ask()
    try consents.approve(
      try #require(try waiting().first).id.description, .always, by: .commandLine(user: 0))
    try ask()
    #expect(bridge.published.first?.data?.sealed != nil, "agreed to for good")
    try handOver()
    try ask()
    #expect(bridge.published.isEmpty)
    #expect(try waiting().first?.subject.networks.map(\.team) == ["bert"])
  }

  @Test("A question that waits gives nothing when it is approved after that")
  func pending() throws {
    try ask()
    try handOver()
    let record = try consents.approve(
      try #require(try waiting().first).id.description, .once, by: .commandLine(user: 0))
    #expect(record.given == false)
    #expect(record.obstacle?.code == "conflict")
  }

  @Test("The previous team is refused what it has stored, and the new one gets it")
  func ownCredentials() throws {
    try handOver()
    let fields = ["border_agent_id": Agent.living]
    #expect(try bridge.ask(.getCredentials, user: "anna", fields).code == "not_found")
    #expect(try bridge.ask(.getCredentials, user: "bert", fields).data?.sealed != nil)
    #expect(
      try bridge.storeCredentials(Agent.living, .guest, at: 9, user: "anna").code
        == "not_authorized")
  }
}

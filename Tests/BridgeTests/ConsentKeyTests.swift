// SPDX-License-Identifier: Apache-2.0

import ConsentLedger
import Foundation
import MosquittoClient
import SealedEnvelope
import TestKit
import Testing
import ThreadDataset
import ThreadRequests

@testable import Bridge

@Suite("A consent holds for the key that it was given for")
struct ConsentKeyTests {
  private let keeper: Keeper
  private let old: Identity
  private let new: Identity
  private let preferred = "preferred/get"

  init() throws {
    keeper = try Keeper {
      $0.isApprover = { $0 == "anna" }
      $0.approversMustSign = false
    }
    (old, new) = (try Identity(), try Identity())
    try keeper.useEnrolments()
    try keeper.announce(Agent.living, .home, at: 1, user: "hub")
    try keeper.enroll("phone", old.keys)
    _ = try keeper.takeEvents()
  }

  private func ask(_ command: String, user: String, _ fields: [String: Any] = [:]) throws
    -> [Answered]
  {
    try keeper.receive([keeper.request(command, user: user, fields)])
    return keeper.published
  }

  private func waiting() throws -> [PendingConsent] {
    try keeper.database.read {
      try ConsentLedger(keeper.temporary.keychain).pending(
        now: keeper.clock.now().milliseconds, $0)
    }
  }

  private func approve(_ scope: String = "once") throws -> [Answered] {
    let id = try #require(try waiting().first).id.description
    return try ask("consent/approve", user: "anna", ["id": id, "scope": scope])
  }

  /// Behind the back of the ledger, as an import does it.
  private func enrollNew() throws { try keeper.enroll("phone", new.keys) }

  private func datasets(_ answered: Answered?, for reader: Identity) throws -> [String] {
    let answered = try #require(answered)
    let sealed = try JSONEncoder().encode(try #require(answered.data?.sealed))
    let opened = try Envelope.open(
      Array(sealed), with: reader, from: [try #require(keeper.enrolments.identity).keys],
      topic: answered.publication.topic, now: keeper.clock.now().milliseconds / 1_000)
    let data = try JSONDecoder().decode(AnswerData.self, from: Data(opened.body))
    return (data.credentials ?? []).compactMap { $0.dataset?.hex }
  }

  @Test("The question shows whose key the answer will be sealed to, wherever it is shown")
  func shown() throws {
    let log = RecordingLog()
    var reader = MessageReader(topics: keeper.configuration.topics)
    let message = try keeper.request(preferred, user: "phone")
    let (_, outcome) = try keeper.transaction {
      try $0.apply(reader.read(message), keeper.sealed)
    }
    outcome.news.log(to: log.logger)
    let fingerprint = old.keys.fingerprint
    #expect(try waiting().map(\.requester.fingerprint) == [fingerprint])
    #expect(log.lines.contains { $0.contains(fingerprint) })
    #expect(try keeper.takeEvents().map(\.detail.fingerprint).contains(fingerprint))
    let overview = ConsentOverviewSource(
      topics: keeper.configuration.topics, keychain: keeper.temporary.keychain,
      clock: keeper.clock)
    let published = try keeper.database.read { overview.publications($0) }
    #expect(
      published.allSatisfy { String(decoding: $0.payload, as: UTF8.self).contains(fingerprint) })
    #expect(published.count == 1)
    let home = try SampleNetwork.home.dataset(at: 1).hex
    #expect(try datasets(approve().first, for: old) == [home])
  }

  @Test("Always is for the key of then: with another one a person is asked anew")
  func always() throws {
    let home = try SampleNetwork.home.dataset(at: 1).hex
    #expect(try ask(preferred, user: "phone").isEmpty)
    #expect(try datasets(approve("always").first, for: old) == [home])
    #expect(try datasets(ask(preferred, user: "phone").first, for: old) == [home])
    try enrollNew()
    #expect(try ask(preferred, user: "phone").isEmpty)
    #expect(try waiting().map(\.requester.fingerprint) == [new.keys.fingerprint])
    #expect(try datasets(approve().first, for: new) == [home])
    try keeper.enroll("phone", old.keys)
    #expect(try datasets(ask(preferred, user: "phone").first, for: old) == [home])
  }

  @Test("What was asked with a key that has gone since is told to nobody")
  func keyIsGone() throws {
    #expect(try ask(preferred, user: "phone").isEmpty)
    try enrollNew()
    #expect(try approve().map(\.code) == ["not_enrolled", nil])
    #expect(try ask(preferred, user: "phone").isEmpty, "another question")
    #expect(try keeper.database.write { try keeper.enrolments.revoke("phone", in: "home", $0) })
    #expect(try approve().map(\.code) == ["not_enrolled", nil])
  }
}

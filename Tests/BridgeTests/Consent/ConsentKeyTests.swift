// SPDX-License-Identifier: Apache-2.0

import Broker
import ConsentLedger
import Foundation
import TestKit
import Testing
import ThreadDataset
import ThreadRequests

@testable import Bridge

@Suite("A consent holds for the key that it was given for")
struct ConsentKeyTests {
  private let bridge: TestBridge
  private let old: Identity
  private let new: Identity
  private let preferred = "preferred/get"

  init() throws {
    bridge = try TestBridge {
      $0.approvers = ["anna"]
      $0.approversMustSign = false
    }
    (old, new) = (try Identity(), try Identity())
    try bridge.useEnrolments()
    try bridge.announce(Agent.living, .home, at: 1, user: "hub")
    try bridge.enroll("phone", old.keys)
    _ = try bridge.takeEvents()
  }

  private func ask(_ command: String, user: String, _ fields: [String: Any] = [:]) throws
    -> [Answered]
  {
    try bridge.receive([bridge.request(command, user: user, fields)])
    return bridge.published
  }

  private func waiting() throws -> [PendingConsent] {
    try bridge.database.read {
      try ConsentLedger(bridge.temporary.keychain).pending(
        now: bridge.clock.now().milliseconds, $0)
    }
  }

  private func approve(_ scope: String = "once") throws -> [Answered] {
    let id = try #require(try waiting().first).id.description
    return try ask("consent/approve", user: "anna", ["id": id, "scope": scope])
  }

  /// Behind the back of the ledger.
  private func enrollNew() throws { try bridge.enroll("phone", new.keys) }

  private func datasets(_ answered: Answered?, for reader: Identity) throws -> [String] {
    let answered = try #require(answered)
    let sealed = try JSONEncoder().encode(try #require(answered.data?.sealed))
    let opened = try Envelope.open(
      Array(sealed), with: reader, from: [try #require(bridge.enrolments.identity).keys],
      topic: answered.publication.topic, now: bridge.clock.now().milliseconds / 1_000)
    let data = try JSONDecoder().decode(AnswerData.self, from: Data(opened.body))
    return (data.credentials ?? []).compactMap { $0.dataset?.hex }
  }

  @Test("The question shows whose key the answer will be sealed to, wherever it is shown")
  func shown() throws {
    let log = RecordingLog()
    var reader = MessageReader(topics: bridge.configuration.topics)
    let message = try bridge.request(preferred, user: "phone")
    let (_, outcome) = try bridge.transaction {
      try $0.messages.apply(reader.read(message), bridge.sealed)
    }
    outcome.news.log(to: log.logger)
    let fingerprint = old.keys.fingerprint
    #expect(try waiting().map(\.requester.fingerprint) == [fingerprint])
    #expect(log.lines.contains { $0.contains(fingerprint) })
    #expect(try bridge.takeEvents().map(\.detail.fingerprint).contains(fingerprint))
    let overview = bridge.consentOverviews
    let published = try bridge.database.read { overview.publications($0) }
    #expect(
      published.allSatisfy { String(decoding: $0.payload, as: UTF8.self).contains(fingerprint) })
    #expect(published.count == 1)
    let home = try SampleNetwork.home.dataset(at: 1).hex
    #expect(try datasets(approve().first, for: old) == [home])
  }

  @Test("Always is for the key at that time: with another one a person is asked again")
  func always() throws {
    let home = try SampleNetwork.home.dataset(at: 1).hex
    #expect(try ask(preferred, user: "phone").isEmpty)
    #expect(try datasets(approve("always").first, for: old) == [home])
    #expect(try datasets(ask(preferred, user: "phone").first, for: old) == [home])
    try enrollNew()
    #expect(try ask(preferred, user: "phone").isEmpty)
    #expect(try waiting().map(\.requester.fingerprint) == [new.keys.fingerprint])
    #expect(try datasets(approve().first, for: new) == [home])
    try bridge.enroll("phone", old.keys)
    #expect(try datasets(ask(preferred, user: "phone").first, for: old) == [home])
  }

  @Test("What was asked with a key that is not enrolled any more is answered with nothing")
  func keyIsGone() throws {
    #expect(try ask(preferred, user: "phone").isEmpty)
    try enrollNew()
    #expect(try approve().map(\.code) == ["not_enrolled", nil])
    #expect(try ask(preferred, user: "phone").isEmpty, "another question")
    #expect(try bridge.database.write { try bridge.enrolments.revoke("phone", in: "home", $0) })
    #expect(try approve().map(\.code) == ["not_enrolled", nil])
  }
}

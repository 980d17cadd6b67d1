// SPDX-License-Identifier: Apache-2.0

import ClientEnrolment
import Foundation
import MosquittoClient
import SealedEnvelope
import TestKit
import Testing
import ThreadRequests

@testable import Bridge

@Suite("Sealed requests count once")
struct SealedRequestTests {
  private let keeper: Keeper
  private let phone: Identity
  private let topic = "threadkeeper/in/phone/request/ping"

  private struct Failed: Error {}

  init() throws {
    keeper = try Keeper(teams: ["hub": "phone"])
    phone = try Identity()
    try keeper.database.write { tx in
      _ = try keeper.enrolments.makeIdentity(tx)
      _ = try keeper.enrolments.enroll(
        EnrolledClient(
          home: "home", user: "phone", keys: phone.keys, trust: .signed, enrolledAt: 0,
          enrolledBy: "test"), tx)
    }
    useEnrolments()
  }

  /// As at a start.
  private func useEnrolments() {
    let exchange = EnrolledExchange(keeper.enrolments)
    keeper.configuration.requests.sealer = exchange
    keeper.configuration.requests.opener = exchange
  }

  private func restart() throws {
    try keeper.restart()
    _ = try keeper.database.read { try keeper.enrolments.loadIdentity($0) }
    useEnrolments()
  }

  private func ping(
    _ id: String = "r-1", by signer: Identity? = nil, on topic: String? = nil
  ) throws -> IncomingMessage {
    let envelope = try Envelope.seal(
      Array(#"{"transaction":"\#(id)"}"#.utf8), to: try #require(keeper.enrolments.identity).keys,
      from: signer ?? phone,
      at: .init(
        topic: self.topic, order: .identifier(id), now: keeper.clock.now().milliseconds / 1_000,
        lifetime: 30))
    return IncomingMessage(
      topic: topic ?? self.topic, payload: Array(#"{"sealed":"#.utf8) + envelope + Array("}".utf8))
  }

  /// The codes of what is answered; nil for one that is fulfilled.
  private func codes(_ messages: IncomingMessage...) throws -> [String?] {
    try keeper.receive(messages)
    return keeper.published.map(\.code)
  }

  @Test("Repeated in the same batch, in the next one, or after a restart: it has come")
  func repeated() throws {
    let message = try ping()
    #expect(try codes(message, message) == [nil, "replayed"])
    #expect(try codes(message) == ["replayed"])
    try restart()
    #expect(try codes(message) == ["replayed"])
    keeper.clock.advance(seconds: 90)
    #expect(try codes(message) == ["expired"])
    keeper.clock.advance(seconds: -80)
    #expect(try codes(message) == ["replayed"])
  }

  @Test("What was sealed before a start, and came after it, is answered")
  func sealedBefore() throws {
    let message = try ping()
    try restart()
    #expect(try codes(message) == [nil])
  }

  @Test("A batch that failed has not come: delivered again, it is answered")
  func rolledBack() throws {
    let message = try ping()
    #expect(throws: Failed.self) {
      try keeper.database.write { tx in
        var reader = MessageReader(topics: keeper.configuration.topics)
        let batch = try BatchApplier(
          configuration: keeper.configuration, store: keeper.store, now: keeper.clock.now(), tx)
        try batch.apply(reader.read(message), keeper.sealed)
        #expect(batch.counts.requestsAnswered == 1)
        throw Failed()
      }
    }
    #expect(try codes(message, message) == [nil, "replayed"])
  }

  @Test("A request whose fulfilment failed has been answered, and does not count again")
  func failed() throws {
    let topic = "threadkeeper/in/phone/request/credentials/get"
    try keeper.announce(Agent.living, .home, at: 1, user: "hub")
    let envelope = try Envelope.seal(
      Array(#"{"border_agent_id":"\#(Agent.living)"}"#.utf8),
      to: try #require(keeper.enrolments.identity).keys, from: phone,
      at: .init(
        topic: topic, order: .identifier("r-2"), now: keeper.clock.now().milliseconds / 1_000,
        lifetime: 30))
    let message = IncomingMessage(
      topic: topic, payload: Array(#"{"sealed":"#.utf8) + envelope + Array("}".utf8))
    let sealer = keeper.configuration.requests.sealer
    keeper.configuration.requests.sealer = FailingSealer()
    #expect(try codes(message) == ["store"])
    keeper.configuration.requests.sealer = sealer
    #expect(try codes(message) == ["replayed"])
  }

  @Test("Moved to another topic, or signed by another key, it is refused by name")
  func moved() throws {
    let elsewhere = "threadkeeper/in/phone/request/routers/list"
    #expect(try codes(ping(on: elsewhere)) == ["wrong_topic"])
    #expect(try codes(ping(by: Identity())) == ["unknown_issuer"])
    #expect(try codes(ping(on: "threadkeeper/in/tablet/request/ping")) == ["not_enrolled"])
    #expect(try codes(ping()) == [nil], "what was refused has not come")
  }
}

// SPDX-License-Identifier: Apache-2.0

import Broker
import TestKit
import Testing

@testable import Bridge

@Suite("Sealed requests count once")
struct SealedRequestTests {
  private let bridge: TestBridge
  private let phone: Identity

  private struct Failed: Error {}

  init() throws {
    bridge = try TestBridge(teams: ["hub": "phone"])
    phone = try Identity()
    try bridge.useEnrolments()
    try bridge.enroll("phone", phone.keys, .signed)
  }

  private func restart() throws {
    try bridge.restart()
    _ = try bridge.database.read { try bridge.enrolments.loadIdentity($0) }
    try bridge.useEnrolments()
  }

  private func ping(by signer: Identity? = nil, on topic: String? = nil) throws -> IncomingMessage {
    var message = try bridge.sealedRequest("ping", user: "phone", by: signer ?? phone)
    if let topic { message.topic = topic }
    return message
  }

  /// The codes of what is answered; nil for one that is fulfilled.
  private func codes(_ messages: IncomingMessage...) throws -> [String?] {
    try bridge.receive(messages)
    return bridge.published.map(\.code)
  }

  @Test("Repeated in the same batch, in the next one, or after a restart: it has come")
  func repeated() throws {
    let message = try ping()
    #expect(try codes(message, message) == [nil, "replayed"])
    #expect(try codes(message) == ["replayed"])
    try restart()
    #expect(try codes(message) == ["replayed"])
    bridge.clock.advance(seconds: 90)
    #expect(try codes(message) == ["expired"])
    bridge.clock.jump(seconds: -80)
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
      _ = try bridge.transaction { transaction in
        var reader = MessageReader(topics: bridge.configuration.topics)
        try transaction.messages.apply(reader.read(message), bridge.sealed)
        #expect(transaction.progress.outcome.counts.requestsAnswered == 1)
        throw Failed()
      }
    }
    #expect(try codes(message, message) == [nil, "replayed"])
  }

  @Test("A request whose fulfilment failed has been answered, and does not count again")
  func failed() throws {
    try bridge.announce(Agent.living, .home, at: 1, user: "hub")
    let message = try bridge.sealedRequest(
      "credentials/get", user: "phone", by: phone, ["border_agent_id": Agent.living])
    let sealer = bridge.parts.sealer
    bridge.parts.sealer = FailingSealer()
    #expect(try codes(message) == ["store"])
    bridge.parts.sealer = sealer
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

// SPDX-License-Identifier: Apache-2.0

import Broker
import ClientEnrolment
import ConsentLedger
import CredentialService
import SQLiteDatabase
import TestKit
import Testing
import ThreadDataset
import ThreadRequests

@testable import Bridge

@Suite("A request that fails does not fail its batch")
struct RequestFailureTests {
  private let bridge: TestBridge

  private struct Unforeseen: Error {}

  init() throws {
    bridge = try TestBridge {
      $0.approvers = ["anna"]
      $0.approversMustSign = false
    }
    bridge.parts.sealer = FailingSealer()
    try bridge.announce(Agent.living, .home, at: 1, user: "hub")
    _ = try bridge.takeEvents()
  }

  private func announcement(_ agent: String, _ network: SampleNetwork) throws -> IncomingMessage {
    try bridge.message(
      .announce, agent, user: "hub", ["dataset": try network.dataset(at: 1).hex])
  }

  private func onlyID() throws -> String {
    let waiting = try bridge.database.read {
      try ConsentLedger(bridge.temporary.keychain).pending(
        now: bridge.clock.now().milliseconds, $0)
    }
    return try #require(waiting.first).id.description
  }

  @Test("The events beside it are stored, and the requester is answered `store`")
  func batch() throws {
    let counts = try bridge.receive([
      announcement(Agent.attic, .home),
      bridge.request("credentials/get", user: "hub", ["border_agent_id": Agent.living]),
      announcement(Agent.garage, .guest),
    ])
    #expect(bridge.published.map(\.code) == ["store"])
    #expect(counts.requestsRefused == 1 && counts.requestsAnswered == 0)
    #expect(try bridge.credential(Agent.attic) != nil)
    #expect(try bridge.credential(Agent.garage) != nil)
    try Recount(bridge: bridge, comment: "after the batch").check()
  }

  @Test(
    "An answer that fails after the consent: the decision stands, and the requester is answered")
  func settled() throws {
    try bridge.receive([bridge.request("preferred/get", user: "tablet")])
    let id = try onlyID()
    let counts = try bridge.receive([
      bridge.request("consent/approve", ["id": id]), announcement(Agent.attic, .home),
    ])
    #expect(bridge.published.map(\.code) == ["store", nil])
    #expect(bridge.published.first?.publication.topic.contains("/out/tablet/") == true)
    #expect(counts.requestsRefused == 1 && counts.requestsAnswered == 1)
    #expect(try bridge.credential(Agent.attic) != nil)
    #expect(try bridge.takeNames().contains("consent_approved"))
  }

  @Test("What it had done is undone, in the store and in the counts")
  func undone() throws {
    let log = RecordingLog()
    var reader = MessageReader(topics: bridge.configuration.topics)
    let messages = try [
      announcement(Agent.attic, .guest), announcement(Agent.garage, .guest),
      announcement("0011223344556677", .home),
    ]
    let (_, outcome) = try bridge.transaction { transaction in
      try transaction.messages.apply(reader.read(messages[0]), bridge.sealed)
      let error = #expect(throws: AnswerFailure.self) {
        try TransactionStep(context: transaction.context, progress: transaction.progress).run {
          try transaction.messages.apply(reader.read(messages[1]), bridge.sealed)
          throw Unforeseen()
        }
      }
      #expect(error?.code == "store")
      try transaction.messages.apply(reader.read(messages[2]), bridge.sealed)
    }
    #expect(outcome.counts.received == 2)
    outcome.news.log(to: log.logger)
    #expect(try bridge.router(Agent.garage) == nil)
    #expect(try bridge.credential(Agent.garage) == nil)
    #expect(!log.lines.contains { $0.contains(Agent.garage) })
    #expect(log.lines.contains { $0.contains("a request failed") })
    let ids = try bridge.takeEvents().map(\.id)
    #expect(ids == Array((ids.first ?? 0)..<(ids.first ?? 0) + Int64(ids.count)))
    try Recount(bridge: bridge, comment: "after a step that was undone").check()
  }

  @Test("What a refusal had noted stays, and the store's own failures are everybody's")
  func passed() throws {
    _ = try bridge.transaction { transaction in
      #expect(throws: AnswerFailure.self) {
        try TransactionStep(context: transaction.context, progress: transaction.progress).run {
          transaction.progress.outcome.counts.duplicates += 1
          throw AnswerFailure(.conflict, "no")
        }
      }
      #expect(transaction.progress.outcome.counts.duplicates == 1)
      #expect(throws: SQLiteError.self) {
        try TransactionStep(context: transaction.context, progress: transaction.progress).run {
          throw SQLiteError(kind: .full, message: "full")
        }
      }
    }
  }

  @Test("An answer that no envelope can hold is too_large at once, and no person is asked about it")
  func tooLarge() throws {
    try bridge.useEnrolments()
    try bridge.enroll("tablet", Identity().keys)
    try bridge.receive((0..<300).map { try announcement(agent($0), .home) })
    #expect(try bridge.ask(.nearbyNetworks, user: "tablet").code == "too_large")
    #expect(try !bridge.takeNames().contains("consent_requested"))
    try bridge.receive([bridge.request("preferred/get", user: "tablet")])
    #expect(try onlyID().hasPrefix("c-"))
  }

  private func agent(_ number: Int) -> String {
    "a1b2c3d4e5f6" + String(0x1000 + number, radix: 16)
  }

  @Test("What has grown too large while a person thought is too_large, and the batch continues")
  func grown() throws {
    try bridge.useEnrolments()
    try bridge.enroll("tablet", Identity().keys)
    try bridge.receive([bridge.request("networks/nearby", user: "tablet")])
    try bridge.receive((0..<300).map { try announcement(agent($0), .home) })
    try bridge.receive([
      bridge.request("consent/approve", ["id": onlyID()]), announcement(Agent.attic, .home),
    ])
    #expect(bridge.published.map(\.code) == ["too_large", nil])
    #expect(try bridge.credential(Agent.attic) != nil)
  }

  @Test("A question is in the log, however many routers the batch has")
  func news() throws {
    let log = RecordingLog()
    var reader = MessageReader(topics: bridge.configuration.topics)
    let messages = try (0..<20).map { try announcement(agent($0), .home) }
    let request = try bridge.request("preferred/get", user: "tablet")
    let (_, outcome) = try bridge.transaction { transaction in
      for message in messages {
        try transaction.messages.apply(reader.read(message), bridge.sealed)
      }
      try transaction.messages.apply(reader.read(request), bridge.sealed)
    }
    outcome.news.log(to: log.logger)
    #expect(log.lines.filter { $0.hasPrefix("border router announced") }.count == 10)
    #expect(log.lines.contains { $0.hasPrefix("consent is asked for") })
  }
}

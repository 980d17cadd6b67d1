// SPDX-License-Identifier: Apache-2.0

import Broker
import CredentialService
import KeychainCore
import Logging
import TestKit
import Testing
import ThreadDataset
import ThreadRequests

@testable import Bridge

/// Requests between the two connections, and by the other way.
@Suite("Requests and the connections")
struct RequestIntakeTests {
  let bridge: TestBridge
  let monitor = BridgeMonitor()
  let answers = AnswerQueue()
  let outbox: Outbox
  let intake: Intake
  private let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

  init() throws {
    bridge = try TestBridge()
    outbox = try bridge.outbox(monitor)
    intake = try bridge.intake(bridge.runner(monitor, answers: answers), outbox: outbox)
  }

  private var waiting: [ThreadAnswer] {
    answers.next(10_000, connection: 1, now: bridge.clock.now()).compactMap {
      ThreadAnswer(json: $0.payload)
    }
  }

  @Test("What was not committed is not answered; the broker brings it again")
  func afterCommit() throws {
    let message = try bridge.request(
      "credentials/store",
      ["border_agent_id": Agent.living, "dataset": try SampleNetwork.home.dataset(at: 1).hex])
    try intake.received([message])
    #expect(waiting.map(\.data?.change) == [.stored])
    // The same again, as after a lost connection.
    try intake.received([message])
    #expect(waiting.map(\.data?.change) == [.unchanged])
    bridge.temporary.keychain.close()
    #expect(throws: (any Error).self) { try intake.received([message]) }
    #expect(waiting.isEmpty)
  }

  @Test("Of a flood the first are answered, some are refused, the rest is counted")
  func flood() throws {
    let flood = try (0..<200).map { try bridge.request("ping", ["transaction": "\($0)"]) }
    try intake.received(flood + [try bridge.request("ping", user: "bob")])
    let all = waiting
    #expect(all.filter { $0.status == .ok }.count == RequestLimiter.burst + 1)
    let refused = all.filter { $0.error?.known == .rateLimited }
    #expect(refused.count == RequestLimiter.rate)
    #expect(refused.first?.transaction == "50")
    #expect(monitor.snapshot.requestsAnswered == 51)
    #expect(monitor.snapshot.requestsRefused == 150)
    #expect(monitor.snapshot.received == 201)
    #expect(monitor.snapshot.rejected == 0)
  }

  @Test("Answers leave before the outbox, no more than was asked for")
  func publications() throws {
    try bridge.announce(Agent.living, .home, at: 1)
    let overview = AlertsOverviewSource(topics: bridge.configuration.topics, monitor: monitor)
    let status = StatusConnection(
      outbox: outbox, pace: PublicationPace(fullBatch: 500, portion: 10), answers: answers,
      monitor: monitor,
      reports: BridgeReports(
        database: bridge.database, configuration: bridge.configuration, instanceID: "instance",
        identity: { nil }, overview: overview, consents: bridge.consentOverviews, monitor: monitor,
        startedAt: bridge.clock.now()),
      topics: bridge.configuration.topics, clock: bridge.clock, logger: logger)
    try intake.received(try (0..<3).map { _ in try bridge.request("ping") })
    #expect(status.publications(upTo: 0).isEmpty)
    let first = status.publications(upTo: 2)
    #expect(first.map(\.topic) == Array(repeating: "threadkeeper/out/anna/response/ping", count: 2))
    #expect(first.allSatisfy { $0.messageExpiry == 30 && !$0.retain })
    let next = status.publications(upTo: 2)
    #expect(next.count == 2)
    #expect(next.first?.topic == "threadkeeper/out/anna/response/ping")
    #expect(next.last?.topic == "threadkeeper/router/\(Agent.living)")
  }

  @Test("A store that takes no changes refuses them, and still answers what it has")
  func readOnly() throws {
    try bridge.announce(Agent.living, .home, at: 1)
    try bridge.announce(Agent.attic, .home, at: 1)
    let path = bridge.temporary.location.databasePath
    try bridge.temporary.reopen {
      _ = try Program.check(
        "sqlite3", [path, "DELETE FROM items WHERE id = (SELECT max(id) FROM items)"])
    }
    #expect(bridge.temporary.keychain.condition != .healthy)
    var request = ThreadRequest(.storeCredentials)
    request.agent = BorderAgentID(hex: Agent.garage)
    request.dataset = try SampleNetwork.home.dataset(at: 1)
    let refused = try bridge.command(request)
    #expect(refused.error?.known == .readOnly)
    let list = ThreadRequest(.isPreferredAvailable)
    #expect(try bridge.command(list).data?.available == true)
    // A store that is closed fails, in words.
    bridge.temporary.keychain.close()
    #expect(
      RequestService.closedAnswer(bridge)?.error?.known == .store)
  }
}

extension RequestService {
  /// What a request to a store comes to that is closed meanwhile.
  fileprivate static func closedAnswer(_ bridge: TestBridge) -> ThreadAnswer? {
    let service = RequestService(bridge.runner())
    guard
      case .answer(let answer) = service.answer(
        ThreadRequest(.ping), from: .systemUser(0), team: "uid/0")
    else { return nil }
    return answer
  }
}

// SPDX-License-Identifier: Apache-2.0

import Broker
import Logging
import Synchronization
import TestKit
import Testing
import ThreadDataset
import ThreadRequests

@testable import Bridge

@Suite("What follows from a transaction, whoever asked for it")
struct TransactionRunnerTests {
  private let bridge: TestBridge
  private let monitor = BridgeMonitor()
  private let answers: AnswerQueue
  private let runner: TransactionRunner

  init() throws {
    bridge = try TestBridge()
    try bridge.announce(Agent.living, .home, at: 1, user: "hub")
    answers = AnswerQueue(monitor: monitor)
    runner = bridge.runner(monitor, answers: answers)
  }

  private struct Unexpected: Error {}
  private struct Failed: Error {}

  /// How a person decides.
  enum Way: CaseIterable, CustomTestStringConvertible {
    case command, socket

    var testDescription: String { "\(self)" }
  }

  /// A program on this machine waits for consent.
  private func ask() throws -> WaitingCallers.Place {
    guard
      case .waiting(let place) = RequestService(runner).answer(
        ThreadRequest(.getPreferred), from: .systemUser(1000), team: "user/uid-1000")
    else { throw Unexpected() }
    return place
  }

  private func decide(_ id: String, _ way: Way, approves: Bool) throws {
    switch way {
    case .command:
      let consents = ConsentDecisions(runner)
      if approves {
        try consents.approve(id, .once, by: .commandLine(user: 0))
      } else {
        try consents.deny(id, by: .commandLine(user: 0))
      }
    case .socket:
      var request = ThreadRequest(approves ? .approveConsent : .denyConsent)
      request.id = id
      let outcome = RequestService(runner).answer(
        request, from: .systemUser(0), team: "user/root", isAdministrator: true)
      guard case .answer(let answer) = outcome, answer.error == nil else { throw Unexpected() }
    }
  }

  @Test(
    "An answer that has waited for a person is counted, whoever lets it go", arguments: Way.allCases
  )
  func answered(_ way: Way) throws {
    let place = try ask()
    #expect(monitor.snapshot.requestsAnswered == 0)
    try decide(place.consent, way, approves: true)
    #expect(answers.callers.answer(at: place)?.data?.credentials?.count == 1)
    // By the socket, the decision is a request of its own.
    #expect(monitor.snapshot.requestsAnswered == (way == .socket ? 2 : 1))
    #expect(monitor.snapshot.requestsRefused == 0)
  }

  @Test(
    "A refusal that has waited for a person is counted, whoever says no", arguments: Way.allCases)
  func refused(_ way: Way) throws {
    let place = try ask()
    try decide(place.consent, way, approves: false)
    #expect(answers.callers.answer(at: place)?.error?.code == "consent_denied")
    #expect(monitor.snapshot.requestsRefused == 1)
  }

  @Test("An answer that no person decided about in time is counted by the clock")
  func expired() throws {
    let place = try ask()
    bridge.clock.advance(seconds: 120)
    try runner.run { try $0.apply($0.context.consents.expire()) }
    #expect(answers.callers.answer(at: place)?.error?.code == "consent_expired")
    #expect(monitor.snapshot.requestsRefused == 1)
  }

  @Test("Of a transaction that fails nothing follows: no count, no answer, no line, no wake-up")
  func failed() throws {
    let log = RecordingLog()
    let wakes = Mutex(0)
    let runner = bridge.runner(monitor, answers: answers, logger: log.logger) {
      wakes.withLock { $0 += 1 }
    }
    var reader = MessageReader(topics: bridge.configuration.topics)
    let message = try bridge.request("ping", user: "tablet")
    #expect(throws: Failed.self) {
      try runner.run { transaction in
        try transaction.messages.apply(reader.read(message), bridge.sealed)
        transaction.progress.outcome.news.add(.info, "a line", [:])
        throw Failed()
      }
    }
    #expect(monitor.snapshot.received == 0 && monitor.snapshot.requestsAnswered == 0)
    #expect(answers.next(10, connection: 1, now: bridge.clock.now()).isEmpty)
    #expect(log.lines.isEmpty && wakes.withLock { $0 } == 0)
    try runner.run { try $0.messages.apply(reader.read(message), bridge.sealed) }
    #expect(monitor.snapshot.received == 1 && monitor.snapshot.requestsAnswered == 1)
    #expect(answers.next(10, connection: 1, now: bridge.clock.now()).count == 1)
    #expect(wakes.withLock { $0 } == 1)
  }

  @Test("A request that changes nothing that is published does not wake the publisher")
  func reading() throws {
    let wakes = Mutex(0)
    let requests = RequestService(
      bridge.runner(monitor, answers: answers) { wakes.withLock { $0 += 1 } })
    func ask(_ request: ThreadRequest) throws {
      let outcome = requests.answer(
        request, from: .systemUser(1000), team: "uid/1000", isAdministrator: true)
      guard case .answer(let answer) = outcome, answer.error == nil else { throw Unexpected() }
    }
    try ask(ThreadRequest(.listRouters))
    #expect(wakes.withLock { $0 } == 0)
    var deletion = ThreadRequest(.deleteCredentials)
    deletion.agent = BorderAgentID(hex: Agent.living)
    try ask(deletion)
    #expect(wakes.withLock { $0 } == 1)
  }

  @Test("What is decided while the store is found altered is undone, unless it only reads")
  func altered() throws {
    let message = try bridge.request("ping", user: "tablet")
    var reader = MessageReader(topics: bridge.configuration.topics)
    #expect(throws: (any Error).self) {
      try runner.run { transaction in
        try transaction.messages.apply(reader.read(message), bridge.sealed)
        bridge.store.keychain.noteFileDamaged()
      }
    }
    #expect(monitor.snapshot.requestsAnswered == 0)
    #expect(throws: (any Error).self) { try runner.run { _ in } }
    #expect(try runner.run(writes: false) { _ in 1 } == 1)
  }

  @Test("A flood of messages does not take the lines of what a person or the clock does")
  func paced() throws {
    let log = RecordingLog()
    let runner = bridge.runner(logger: log.logger)
    for number in 0..<5 {
      try runner.run(isPaced: true) { transaction in
        for line in 0..<10 {
          transaction.progress.outcome.news.add(.info, "flood", ["\(number)": "\(line)"])
        }
      }
    }
    #expect(log.lines.count { $0.hasPrefix("flood") } == 10)
    try runner.run(isPaced: true) { $0.progress.outcome.news.add(.error, "failure", [:]) }
    try runner.run { $0.progress.outcome.news.add(.info, "person", [:]) }
    #expect(log.lines.contains { $0.hasPrefix("failure") })
    #expect(log.lines.contains { $0.hasPrefix("person") })
  }

  @Test("Who made a change is in the audit; what follows has a bounded number of lines")
  func actor() throws {
    let log = RecordingLog()
    let runner = bridge.runner(logger: log.logger)
    try runner.run(as: "somebody") { transaction in
      try bridge.store.keychain.note(.routerRemoved, "a test", in: transaction.tx)
      for number in 0..<30 {
        transaction.progress.outcome.news.add(.info, "line", ["number": "\(number)"])
      }
    }
    var actors: [String] = []
    try bridge.temporary.keychain.forEachAuditRecord { record in
      if record.lines.contains(where: { $0.subject == "a test" }) { actors.append(record.actor) }
    }
    #expect(actors == ["somebody"])
    #expect(log.lines.count { $0.hasPrefix("line") } == 10)
  }
}

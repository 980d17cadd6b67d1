// SPDX-License-Identifier: Apache-2.0

import Foundation
import LocalAPI
import Synchronization
import TestKit
import Testing
import ThreadRequests

/// A program at a terminal, and a daemon of the test's own: what else waits, and which decision is
/// refused, a real one leaves to chance.
@Suite("The question of a call, among others", .inTurns, .timeLimit(.minutes(30)))
struct QuestionOfTheCallTests {
  private static let prompt = "Allow it? [once/always/no] "

  private final class ScriptedDaemon: Sendable {
    struct State {
      var transaction: String?
      var decisions: [RequestFields] = []
      var isAnswered = false
    }

    let path: String
    private let directory: TemporaryDirectory
    private let state = Mutex(State())
    private let listener = Mutex<VarlinkServer?>(nil)
    /// What waits after so many decisions, for the transaction of the call.
    private let waiting: @Sendable (_ decisions: Int, _ transaction: String) -> [WaitingQuestion]
    /// What is answered to each decision, by its number.
    private let verdict: @Sendable (_ number: Int) -> ThreadAnswer

    init(
      waiting: @escaping @Sendable (Int, String) -> [WaitingQuestion],
      verdict: @escaping @Sendable (Int) -> ThreadAnswer = { _ in ThreadAnswer(AnswerData()) }
    ) throws {
      directory = try TemporaryDirectory()
      path = directory.file("client.sock")
      self.waiting = waiting
      self.verdict = verdict
      let endpoints = RequestMethods.interfaces.flatMap { RequestMethods.methods(of: $0) }
        .map { command, method in
          method.answered { [weak self] parameters, caller in
            var fields = parameters.fields
            fields.command = command.rawValue
            let answer = self?.answer(fields, caller)
            do throws(AnswerFailure) {
              return try answer?.result() ?? AnswerData()
            } catch {
              throw VarlinkError(error)
            }
          }
        }
      let listener = try VarlinkServer(
        path: path,
        service: VarlinkService(
          .init(vendor: "a", product: "a", version: "1", url: ""),
          interfaces: RequestMethods.interfaces, endpoints: endpoints,
          failure: { _ in VarlinkError("io.threadkeeper.Failed") }))
      self.listener.withLock { $0 = listener }
    }

    deinit { listener.withLock { $0?.stop() } }

    var decisions: [RequestFields] { state.withLock { $0.decisions } }

    /// What the call waits for.
    func answer() { state.withLock { $0.isAnswered = true } }

    private func answer(_ fields: RequestFields, _ caller: VarlinkCaller) -> ThreadAnswer {
      switch fields.command.flatMap(RequestCommand.init) {
      case .isPreferredAvailable:
        var data = AnswerData()
        data.available = true
        return ThreadAnswer(data)
      case .getPreferred:
        state.withLock { $0.transaction = fields.transaction }
        while !state.withLock({ $0.isAnswered }) {
          do { try caller.wait(until: .now + .milliseconds(5)) } catch { break }
        }
        return ThreadAnswer(AnswerFailure(.consentDenied, "a person has refused it"))
      case .pendingConsents:
        let (transaction, count) = state.withLock { ($0.transaction, $0.decisions.count) }
        var data = AnswerData()
        data.pending = transaction.map { waiting(count, $0) } ?? []
        return ThreadAnswer(data)
      default:
        let number = state.withLock { state in
          state.decisions.append(fields)
          return state.decisions.count
        }
        return verdict(number)
      }
    }
  }

  private static func question(
    _ id: String, _ transactions: String..., reason: String
  ) -> WaitingQuestion {
    WaitingQuestion(
      id: id, command: "preferred/get", extendedPANID: nil, expiresAt: "2026-11-21T04:38:00Z",
      transactions: transactions, reason: reason)
  }

  private func program(of installation: ScriptedDaemon) throws -> TerminalSession {
    try TerminalSession(
      program: ThreadClientExampleTests.program, ["preferred"],
      environment: [
        "PATH": "/usr/bin:/bin", "HOME": "/dev/null", "THREADKEEPER_SOCKET": installation.path,
        "THREADKEEPER_NETWORK_HOME": "cabin",
      ])
  }

  @Test("Of several that ask the same, the person is asked what this call waits for, and no other")
  func own() async throws {
    let installation = try ScriptedDaemon { decisions, transaction in
      let other = Self.question("c-other", "somebody's", reason: "another would get it")
      guard decisions == 0 else { return [other] }
      return [
        Self.question("c-own", "joined", transaction, reason: "this one would get it"), other,
      ]
    }
    let session = try program(of: installation)
    try await session.until(Self.prompt)
    #expect(session.screen.contains("this one would get it"))
    session.type("always\n")
    try await eventually("the decision") { installation.decisions.count == 1 }
    installation.answer()
    #expect(try await session.end() == 77)
    #expect(!session.screen.contains("another would get it"))
    let decision = try #require(installation.decisions.first)
    #expect(decision.command == "consent/approve" && decision.id == "c-own")
    #expect(
      decision.scope == "always" && decision.asAdministrator == true && decision.home == "cabin")
  }

  @Test("A decision for which the daemon has no time is brought again, without a question")
  func busy() async throws {
    let installation = try ScriptedDaemon { decisions, transaction in
      decisions > 1 ? [] : [Self.question("c-own", transaction, reason: "this one would get it")]
    } verdict: { number in
      number > 1
        ? ThreadAnswer(AnswerData()) : ThreadAnswer(AnswerFailure(.rateLimited, "too many"))
    }
    let session = try program(of: installation)
    try await session.until(Self.prompt)
    session.type("no\n")
    try await eventually("the decision") { installation.decisions.count == 2 }
    installation.answer()
    #expect(try await session.end() == 77)
    #expect(installation.decisions.map(\.command) == ["consent/deny", "consent/deny"])
    #expect(session.screen.components(separatedBy: Self.prompt).count == 2)
  }

  @Test("While there is no answer the person is asked again, where another question waits for it")
  func again() async throws {
    let installation = try ScriptedDaemon { decisions, transaction in
      // The first one is still shown when it is decided already.
      [Self.question("c-1", transaction, reason: "the first would get it")]
        + (decisions == 0
          ? [] : [Self.question("c-2", transaction, reason: "the second would get it")])
    }
    let session = try program(of: installation)
    try await session.until(Self.prompt)
    session.type("once\n")
    try await session.until("the second would get it")
    try await session.until(Self.prompt, count: 2)
    session.type("once\n")
    try await eventually("the decisions") { installation.decisions.count == 2 }
    installation.answer()
    #expect(try await session.end() == 77)
    #expect(installation.decisions.map(\.id) == ["c-1", "c-2"])
  }
}

// SPDX-License-Identifier: Apache-2.0

import Broker
import ConsentLedger
import CredentialService
import KeychainCore
import Logging
import SQLiteDatabase
import ThreadCredentialStore
import ThreadRequests

/// Requests that do not come over the broker: from the socket, or from a command that has the store for
/// itself. Each has a transaction of its own, in turn with the batches of the intake.
package final class RequestService: Sendable {
  private let transactions: TransactionRunner

  init(_ transactions: TransactionRunner) { self.transactions = transactions }

  /// For a command that has the store for itself: what there is to publish, the next daemon does.
  package convenience init(
    _ configuration: BridgeConfiguration, keychain: Keychain, parts: RequestParts = RequestParts(),
    clock: any Clock = SystemClock()
  ) throws {
    var parts = parts
    // No person could be asked, and nothing would wait for the answer.
    parts.gate = parts.gate ?? NoConsentGate()
    self.init(
      try TransactionRunner(configuration, keychain: keychain, parts: parts, clock: clock))
  }

  package var callers: WaitingCallers { transactions.answers.callers }

  package enum Outcome: Sendable {
    case answer(ThreadAnswer)
    /// A person is asked first: `callers.answer(at:)` has the answer, and `callers.forget(_:)` must follow.
    case waiting(WaitingCallers.Place)
  }

  /// Fulfils it, or returns why not. May wait for the disk, so not for an executor's thread.
  ///
  /// - Parameters:
  ///   - requester: with the team and the name of the user, as the caller knows them for certain.
  ///   - isAdministrator, administrator: see `RequestContext`.
  ///   - isThere: whether the caller still waits for the answer; asked from any thread.
  ///   - wake: called when what it waits for is decided.
  package func answer(
    _ request: ThreadRequest, from requester: Requester, team: String, userName: String? = nil,
    isAdministrator: Bool = false, administrator: String? = nil,
    isThere: @escaping @Sendable () -> Bool = { true }, wake: @escaping @Sendable () -> Void = {}
  ) -> Outcome {
    let now = transactions.clock.now()
    var expected: WaitingCallers.Place?
    do {
      var context = RequestContext(
        requester: requester, team: team, home: try home(request), reply: .caller, now: now.date)
      context.isAdministrator = isAdministrator
      context.administrator = administrator
      context.userName = userName
      context.program = request.program
      context.listsSecrets = true
      context.version = transactions.configuration.version
      let reply = try transactions.run(at: now, writes: request.command.writes) { transaction in
        let fulfilled = try transaction.context.requests.reply(to: request, context)
        try transaction.apply(fulfilled.effects)
        let reply = try fulfilled.result.get()
        if fulfilled.granted != nil, !isThere() {
          throw AnswerFailure(.expired, "nobody waits for the answer any more")
        }
        if case .data = reply {
          try transaction.context.consents.noteDisclosure(fulfilled.granted)
        }
        if case .waiting(let id) = reply {
          expected = callers.expect(
            id, request.transaction, isOwnUser: requester.isDaemonUser, isThere: isThere,
            wake: wake)
          guard expected != nil else {
            throw AnswerFailure(.rateLimited, "too many wait for consent already")
          }
        }
        return reply
      }
      if let expected { return .waiting(expected) }
      switch reply {
      case .data(let data): return answered(ThreadAnswer(data, transaction: request.transaction))
      case .decided, .waiting:
        return answered(ThreadAnswer(AnswerData(), transaction: request.transaction))
      }
    } catch {
      if let expected { callers.forget(expected) }
      if StoreFailure.isDamage(error) { transactions.monitor.requestCheck(at: now) }
      return refused(failure(error), request)
    }
  }

  /// How many items are stored.
  package func itemCount() -> Int { transactions.store.itemCount() }

  /// Counts a request that was refused before it was looked at.
  package func countRefusal() { transactions.monitor.update { $0.requestsRefused += 1 } }

  private func home(_ request: ThreadRequest) throws -> String {
    let homes = transactions.configuration.topics.homes.map(\.name)
    guard let named = request.home else { return homes.first ?? "" }
    guard homes.contains(named) else {
      throw AnswerFailure(
        .invalidPayload, field: "home", "there is no such home",
        help: "homes: \(homes.joined(separator: ", "))")
    }
    return named
  }

  private func failure(_ error: any Error) -> AnswerFailure {
    switch error {
    case let failure as AnswerFailure: failure
    case let error as KeychainError where error.status == .readOnly:
      AnswerFailure(.readOnly, error.message)
    default:
      AnswerFailure(
        .store, StoreFailure.reason(error, path: transactions.store.keychain.location.directory))
    }
  }

  private func answered(_ answer: ThreadAnswer) -> Outcome {
    transactions.monitor.update { $0.requestsAnswered += 1 }
    return .answer(answer)
  }

  private func refused(_ failure: AnswerFailure, _ request: ThreadRequest) -> Outcome {
    countRefusal()
    return .answer(ThreadAnswer(failure, transaction: request.transaction))
  }
}

// SPDX-License-Identifier: Apache-2.0

import Home
import HomeStore
import Synchronization
import ThreadRequests

/// Callers that wait on connections of theirs for what people decide.
///
/// | a caller | what follows |
/// |---|---|
/// | asks for what needs consent | `reserve`: it has a place, or is refused |
/// | has a place, and its question waits | `wait`: it waits for it, or is refused |
/// | waits | `deliver`: it has its answer |
/// | has its answer, has hung up, or is refused | `forget` |
///
/// They are in memory only: who waited in an earlier process is gone.
package final class WaitingCallers: Sendable {
  package struct Place: Hashable, Sendable {
    fileprivate let number: Int
  }

  /// At a time: each holds a connection, and a person must still get through.
  static let most = 12
  /// Of these, for callers of the daemon's own user and root.
  static let reserved = 4
  static let mostOfQuestion = 2

  private struct Caller {
    /// Of its request.
    let transaction: String?
    let isOwnUser: Bool
    let isThere: @Sendable () -> Bool
    let wake: @Sendable () -> Void
    /// What it waits for.
    var question: ConsentID?
    var answer: ThreadAnswer?
  }

  private let callers = Mutex<(last: Int, places: [Int: Caller])>((0, [:]))

  package init() {}

  /// Before the request is handled: what a person decides finds the caller then.
  ///
  /// - Parameters:
  ///   - isOwnUser: whether the daemon's own user or root calls.
  ///   - isThere: whether it still waits on its connection; asked from any thread.
  ///   - wake: called when its answer has come, by any thread.
  /// - Throws: `rate_limited` when too many wait.
  package func reserve(
    transaction: String?, isOwnUser: Bool, isThere: @escaping @Sendable () -> Bool,
    wake: @escaping @Sendable () -> Void = {}
  ) throws(AnswerFailure) -> Place {
    try callers.withLock { callers throws(AnswerFailure) in
      let others = callers.places.values.count { !$0.isOwnUser }
      guard callers.places.count < Self.most, isOwnUser || others < Self.most - Self.reserved else {
        throw .tooManyWait
      }
      callers.last += 1
      callers.places[callers.last] = Caller(
        transaction: transaction, isOwnUser: isOwnUser, isThere: isThere, wake: wake)
      return Place(number: callers.last)
    }
  }

  /// - Throws: `rate_limited` when too many wait for this question.
  package func wait(at place: Place, for question: ConsentID) throws(AnswerFailure) {
    try callers.withLock { callers throws(AnswerFailure) in
      guard callers.places.values.count(where: { $0.question == question }) < Self.mostOfQuestion
      else { throw .tooManyWait }
      callers.places[place.number]?.question = question
    }
  }

  package func forget(_ place: Place) {
    callers.withLock { callers in _ = callers.places.removeValue(forKey: place.number) }
  }

  /// Whether a caller waits for what is decided: for `HomeRules.isAwaited`.
  package func isAwaited(_ question: ConsentID) -> Bool {
    let waiting = callers.withLock { callers in
      callers.places.values.filter { $0.question == question }.map(\.isThere)
    }
    return waiting.contains { $0() }
  }

  /// Of those who wait for a question, in the order in which they came.
  package func transactions(of question: ConsentID) -> [String] {
    callers.withLock { callers in
      callers.places.filter { $0.value.question == question }.sorted { $0.key < $1.key }
        .compactMap(\.value.transaction)
    }
  }

  /// Answers all that wait for a question, each with its own transaction.
  package func deliver(_ answer: Result<AnswerData, AnswerFailure>, for question: ConsentID) {
    let woken = callers.withLock { callers in
      var woken: [@Sendable () -> Void] = []
      for (number, caller) in callers.places
      where caller.question == question && caller.answer == nil {
        callers.places[number]?.answer = ThreadAnswer(answer, transaction: caller.transaction)
        woken.append(caller.wake)
      }
      return woken
    }
    for wake in woken { wake() }
  }

  /// - Returns: nil for as long as nothing is decided.
  package func answer(at place: Place) -> ThreadAnswer? {
    callers.withLock { callers in callers.places[place.number]?.answer }
  }
}

extension ThreadAnswer {
  package init(_ answer: Result<AnswerData, AnswerFailure>, transaction: String?) {
    switch answer {
    case .success(let data): self.init(data, transaction: transaction)
    case .failure(let failure): self.init(failure, transaction: transaction)
    }
  }
}

extension AnswerFailure {
  static let tooManyWait = AnswerFailure(.rateLimited, "too many wait for consent already")
}

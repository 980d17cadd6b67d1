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
/// | waits | `deliver`, then `wake`: it has its answer |
/// | has its answer, has hung up, or is refused | `forget` |
///
/// They are in memory only: who waited in an earlier process is gone.
package final class WaitingCallers: Sendable {
  package struct Place: Hashable, Sendable { fileprivate let number: Int }

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
    var hasHungUp = false
    /// What it waits for.
    var question: ConsentID?
    var answer: ThreadAnswer?
  }

  private struct State {
    var last = 0
    var places: [Int: Caller] = [:]
    /// Of those who have their answers.
    var toWake: [@Sendable () -> Void] = []
  }

  private let callers = Mutex(State())

  package init() {}

  /// Before the request is handled: what a person decides finds the caller then.
  ///
  /// - Parameters:
  ///   - isOwnUser: whether the daemon's own user or root calls.
  ///   - isThere: whether it still waits on its connection; asked by `look()`.
  ///   - wake: called by `wake()` when its answer has come.
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
      guard callers.places.values.count(where: { $0.question == question }) < Self.mostOfQuestion else {
        throw .tooManyWait
      }
      callers.places[place.number]?.question = question
    }
  }

  package func forget(_ place: Place) {
    callers.withLock { callers in _ = callers.places.removeValue(forKey: place.number) }
  }

  /// Finds out who has hung up. It asks code of others: no lock may be held.
  package func look() {
    let asked = callers.withLock { $0.places.mapValues(\.isThere) }
    for (number, isThere) in asked where !isThere() { callers.withLock { $0.places[number]?.hasHungUp = true } }
  }

  /// Whether a caller waits for what is decided, as of the last look: for `HomeRules.isAwaited`.
  package func isAwaited(_ question: ConsentID) -> Bool {
    callers.withLock { callers in callers.places.values.contains { $0.question == question && !$0.hasHungUp } }
  }

  /// Of those who wait for a question, in the order in which they came.
  package func transactions(of question: ConsentID) -> [String] {
    callers.withLock { callers in
      callers.places.filter { $0.value.question == question }.sorted { $0.key < $1.key }.compactMap(\.value.transaction)
    }
  }

  /// Answers all that wait for a question, each with its own transaction. `wake()` must follow.
  package func deliver(_ answer: Result<AnswerData, AnswerFailure>, for question: ConsentID) {
    callers.withLock { callers in
      for (number, caller) in callers.places where caller.question == question && caller.answer == nil {
        callers.places[number]?.answer = ThreadAnswer(answer, transaction: caller.transaction)
        callers.toWake.append(caller.wake)
      }
    }
  }

  /// Wakes those who have their answers. It calls code of others: no lock may be held.
  package func wake() {
    let woken = callers.withLock { callers in
      defer { callers.toWake = [] }
      return callers.toWake
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

extension AnswerFailure { static let tooManyWait = AnswerFailure(.rateLimited, "too many wait for consent already") }

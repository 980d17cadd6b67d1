// SPDX-License-Identifier: Apache-2.0

import Synchronization
import ThreadRequests

/// Callers that wait on connections of theirs for what people decide.
///
/// They are in memory only: who waited in an earlier process is gone.
package final class WaitingCallers: Sendable {
  /// Of one caller, from before its question is stored until it has its answer or has given up.
  package struct Place: Hashable, Sendable {
    /// The id of what it waits for.
    package let consent: String
    fileprivate let number: Int
  }

  /// At a time: each holds a connection, and a person must still get through.
  static let most = 12
  /// Of these, for callers of the daemon's own user and root.
  static let reserved = 4
  static let mostOfOne = 2

  private struct Caller {
    /// Of its request.
    let transaction: String?
    let isOwnUser: Bool
    var isThere: @Sendable () -> Bool
    var waiting: CheckedContinuation<ThreadAnswer?, Never>?
    /// The answer that came before it had begun to wait.
    var early: ThreadAnswer?
  }

  private struct State {
    /// By the consent that they wait for.
    var callers: [String: [Int: Caller]] = [:]
    var last = 0

    func caller(_ place: Place) -> Caller? { callers[place.consent]?[place.number] }

    mutating func remove(_ place: Place) -> Caller? {
      let caller = callers[place.consent]?.removeValue(forKey: place.number)
      if callers[place.consent]?.isEmpty == true { callers[place.consent] = nil }
      return caller
    }
  }

  private let state = Mutex(State())

  init() {}

  /// Announces a caller, before the answer can come: `answer(at:)` or `forget(_:)` must follow.
  ///
  /// - Parameters:
  ///   - transaction: of its request.
  ///   - isOwnUser: whether the daemon's own user or root calls.
  ///   - isThere: whether it still waits on its connection; asked from any thread.
  /// - Returns: nil when too many wait.
  func expect(
    _ consent: String, _ transaction: String?, isOwnUser: Bool = false,
    isThere: @escaping @Sendable () -> Bool
  ) -> Place? {
    state.withLock { state in
      let callers = state.callers.values.flatMap(\.values)
      let others = callers.count { !$0.isOwnUser }
      guard isOwnUser ? callers.count < Self.most : others < Self.most - Self.reserved,
        callers.count < Self.most, state.callers[consent]?.count ?? 0 < Self.mostOfOne
      else {
        return nil
      }
      state.last += 1
      state.callers[consent, default: [:]][state.last] = Caller(
        transaction: transaction, isOwnUser: isOwnUser, isThere: isThere)
      return Place(consent: consent, number: state.last)
    }
  }

  func forget(_ place: Place) { state.withLock { _ = $0.remove(place) } }

  /// Whether a caller waits for what is decided.
  package func isAwaited(_ consent: String) -> Bool {
    let callers = state.withLock { $0.callers[consent]?.values.map(\.isThere) ?? [] }
    return callers.contains { $0() }
  }

  /// Of those who wait for a consent, in the order in which they came.
  func transactions(of consent: String) -> [String] {
    state.withLock { state in
      (state.callers[consent] ?? [:]).sorted { $0.key < $1.key }.compactMap(\.value.transaction)
    }
  }

  /// Callers whose `answer(at:)` has begun to wait.
  var waiting: Int {
    state.withLock { state in
      state.callers.values.reduce(0) { $0 + $1.values.count { $0.waiting != nil } }
    }
  }

  /// Answers all that wait for a consent, or are about to.
  func deliver(_ answer: ThreadAnswer, for consent: String) {
    state.withLock { state in
      for (number, caller) in state.callers[consent] ?? [:] {
        if let waiting = caller.waiting {
          _ = state.remove(Place(consent: consent, number: number))
          waiting.resume(returning: answer)
        } else {
          state.callers[consent]?[number]?.early = answer
        }
      }
    }
  }

  /// Waits for what is decided, as a caller that was announced.
  ///
  /// - Returns: nil when the task is cancelled.
  package func answer(at place: Place) async -> ThreadAnswer? {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let now = state.withLock { state -> ThreadAnswer?? in
          guard !Task.isCancelled, let caller = state.caller(place), caller.early == nil else {
            return .some(state.remove(place)?.early)
          }
          state.callers[place.consent]?[place.number]?.waiting = continuation
          return nil
        }
        if let now { continuation.resume(returning: now) }
      }
    } onCancel: {
      let caller = state.withLock { state in
        state.caller(place)?.waiting == nil ? nil : state.remove(place)
      }
      caller?.waiting?.resume(returning: nil)
    }
  }
}

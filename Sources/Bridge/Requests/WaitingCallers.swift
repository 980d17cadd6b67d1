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
    let isThere: @Sendable () -> Bool
    let wake: @Sendable () -> Void
    var answer: ThreadAnswer?
  }

  private struct State {
    /// By the consent that they wait for.
    var callers: [String: [Int: Caller]] = [:]
    var last = 0

    mutating func remove(_ place: Place) {
      callers[place.consent]?[place.number] = nil
      if callers[place.consent]?.isEmpty == true { callers[place.consent] = nil }
    }
  }

  private let state = Mutex(State())

  init() {}

  /// Announces a caller, before the answer can come: `forget(_:)` must follow.
  ///
  /// - Parameters:
  ///   - transaction: of its request.
  ///   - isOwnUser: whether the daemon's own user or root calls.
  ///   - isThere: whether it still waits on its connection; asked from any thread.
  ///   - wake: called when its answer has come, by any thread.
  /// - Returns: nil when too many wait.
  func expect(
    _ consent: String, _ transaction: String?, isOwnUser: Bool = false,
    isThere: @escaping @Sendable () -> Bool, wake: @escaping @Sendable () -> Void = {}
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
        transaction: transaction, isOwnUser: isOwnUser, isThere: isThere, wake: wake)
      return Place(consent: consent, number: state.last)
    }
  }

  package func forget(_ place: Place) { state.withLock { $0.remove(place) } }

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

  /// Answers all that wait for a consent.
  func deliver(_ answer: ThreadAnswer, for consent: String) {
    state.withLock { state in
      for (number, caller) in state.callers[consent] ?? [:] where caller.answer == nil {
        state.callers[consent]?[number]?.answer = answer
        caller.wake()
      }
    }
  }

  /// What was decided.
  ///
  /// - Returns: nil for as long as nothing is.
  package func answer(at place: Place) -> ThreadAnswer? {
    state.withLock { $0.callers[place.consent]?[place.number]?.answer }
  }
}

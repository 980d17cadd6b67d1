// SPDX-License-Identifier: Apache-2.0

import BridgeProtocol
import MosquittoClient
import Synchronization
import ThreadRequests

/// Answers that wait for the connection that speaks, and callers that wait for an answer.
///
/// They are in memory only: an answer may hold secrets, and is of use for seconds. Who gets none asks
/// again; to do the same once more changes nothing.
package final class AnswerQueue: Sendable {
  /// Answers, and octets of them, that wait at most.
  static let most = 1_000
  static let mostOctets = 4 << 20

  private struct State {
    var waiting: [(publication: Publication, expires: WireTime)] = []
    var octets = 0
    /// By the consent that they wait for.
    var callers: [String: Callers] = [:]
    var places = 0
  }

  /// Those who wait for one consent on connections of theirs.
  private struct Callers {
    /// All of them, also who has not begun to wait yet.
    var count = 0
    var waiting: [Int: CheckedContinuation<ThreadAnswer?, Never>] = [:]
    /// The answer that came before all of them had begun to wait.
    var early: ThreadAnswer?
  }

  /// Callers that wait at a time: each holds a connection, and a person must still get through.
  static let mostCallers = 12
  static let mostCallersOfOne = 2

  private let state = Mutex(State())

  package init() {}

  /// - Returns: how many were dropped, because too many wait.
  @discardableResult
  func add(_ answers: [Answer], now: WireTime) -> Int {
    guard !answers.isEmpty else { return 0 }
    return state.withLock { state in
      var dropped = 0
      if state.waiting.count + answers.count > Self.most {
        state.waiting.removeAll { $0.expires <= now }
        state.octets = state.waiting.reduce(0) { $0 + $1.publication.octets }
      }
      for answer in answers {
        switch answer {
        case .publication(let publication, let expires):
          guard state.waiting.count < Self.most,
            state.octets + publication.octets <= Self.mostOctets
          else {
            dropped += 1
            continue
          }
          state.waiting.append((publication, expires))
          state.octets += publication.octets
        case .caller(let id, let answer):
          // Who waited in an earlier process is gone.
          guard var callers = state.callers.removeValue(forKey: id) else { continue }
          for caller in callers.waiting.values { caller.resume(returning: answer) }
          callers.count -= callers.waiting.count
          callers.waiting = [:]
          callers.early = answer
          if callers.count > 0 { state.callers[id] = callers }
        }
      }
      return dropped
    }
  }

  /// The next ones, at most `limit`, each with the seconds that are left to it.
  func next(_ limit: Int, now: WireTime) -> [Publication] {
    state.withLock { state in
      guard limit > 0, !state.waiting.isEmpty else { return [] }
      var taken: [Publication] = []
      var index = 0
      while index < state.waiting.count, taken.count < limit {
        var (publication, expires) = state.waiting[index]
        index += 1
        state.octets -= publication.octets
        let left = expires.milliseconds - now.milliseconds
        guard left > 0 else { continue }
        publication.messageExpiry = UInt32((min(left, 86_400_000) + 999) / 1_000)
        taken.append(publication)
      }
      state.waiting.removeFirst(index)
      return taken
    }
  }

  /// Announces a caller, before the answer can come: `answer(to:)` or `forget(_:)` must follow.
  ///
  /// - Returns: false when too many wait.
  func expect(_ id: String) -> Bool {
    state.withLock { state in
      let all = state.callers.values.reduce(0) { $0 + $1.count }
      guard all < Self.mostCallers, state.callers[id]?.count ?? 0 < Self.mostCallersOfOne else {
        return false
      }
      state.callers[id, default: Callers()].count += 1
      return true
    }
  }

  func forget(_ id: String) { state.withLock { Self.leave(id, &$0) } }

  /// Waits for the answer to a consent that is pending, as a caller that was announced.
  ///
  /// - Returns: nil when the task is cancelled.
  package func answer(to id: String) async -> ThreadAnswer? {
    let place = state.withLock { state in
      state.places += 1
      return state.places
    }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let now = state.withLock { state -> ThreadAnswer?? in
          guard !Task.isCancelled, let callers = state.callers[id] else {
            Self.leave(id, &state)
            return .some(nil)
          }
          if let early = callers.early {
            Self.leave(id, &state)
            return .some(early)
          }
          state.callers[id]?.waiting[place] = continuation
          return nil
        }
        if let now { continuation.resume(returning: now) }
      }
    } onCancel: {
      let caller = state.withLock { state in
        let caller = state.callers[id]?.waiting.removeValue(forKey: place)
        if caller != nil { Self.leave(id, &state) }
        return caller
      }
      caller?.resume(returning: nil)
    }
  }

  private static func leave(_ id: String, _ state: inout State) {
    guard var callers = state.callers.removeValue(forKey: id) else { return }
    callers.count -= 1
    if callers.count > 0 { state.callers[id] = callers }
  }
}

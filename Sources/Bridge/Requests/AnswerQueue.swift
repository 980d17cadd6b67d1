// SPDX-License-Identifier: Apache-2.0

import Broker
import Synchronization
import ThreadRequests

/// Answers that wait for the status connection, and messages of adoptions.
///
/// They are in memory only: an answer may hold secrets, and is of use for seconds. Who gets none asks
/// again; to do the same once more changes nothing. A message of an adoption is of use for minutes, in which
/// what it is sent by may end: so it waits for one connection only, and for the next one the clock makes it
/// again, if it still holds.
package final class AnswerQueue: Sendable {
  /// Answers, and bytes of them, that wait at most.
  static let most = 2 * Bridge.batchMessages
  static let mostBytes = 4 << 20

  private struct State {
    var waiting: [Waiting] = []
    var bytes = 0
  }

  private struct Waiting {
    var publication: Publication
    let expires: WireTime
    /// Of an adoption.
    var message: (id: String, connection: Int64)?
  }

  private let state = Mutex(State())

  /// Those on connections of their own get theirs at once.
  package let callers = WaitingCallers()
  let deliveries = AdoptionDeliveries()

  /// Counts those that are dropped.
  private let monitor: BridgeMonitor?

  package init(monitor: BridgeMonitor? = nil) { self.monitor = monitor }

  /// - Returns: how many were dropped, because too many wait.
  @discardableResult
  func add(_ answers: [Answer], now: WireTime) -> Int {
    guard !answers.isEmpty else { return 0 }
    let dropped = put(answers, now: now)
    if dropped > 0 { monitor?.update { $0.answersDropped += Int64(dropped) } }
    return dropped
  }

  private func put(_ answers: [Answer], now: WireTime) -> Int {
    state.withLock { state in
      var dropped = 0
      let bytes = answers.reduce(0) { $0 + $1.waitingBytes }
      if state.waiting.count + answers.count > Self.most || state.bytes + bytes > Self.mostBytes {
        state.waiting.removeAll { $0.expires <= now }
        state.bytes = state.waiting.reduce(0) { $0 + $1.publication.bytes }
      }
      for answer in answers {
        let waiting: Waiting
        switch answer {
        case .publication(let publication, let expires):
          waiting = Waiting(publication: publication, expires: expires)
        case .adoption(let message):
          waiting = Waiting(
            publication: message.publication, expires: message.expires,
            message: (message.id, message.connection))
        case .caller(let id, let answer):
          callers.deliver(answer, for: id)
          continue
        }
        let bytes = waiting.publication.bytes
        guard state.waiting.count < Self.most, state.bytes + bytes <= Self.mostBytes else {
          dropped += 1
          continue
        }
        state.waiting.append(waiting)
        state.bytes += bytes
      }
      return dropped
    }
  }

  /// The next ones, at most `limit`, each with the seconds that are left to it. What is for another
  /// connection goes.
  ///
  /// - Parameter connection: the number of the one that takes them.
  func next(_ limit: Int, connection: Int64, now: WireTime) -> [Publication] {
    state.withLock { state in
      guard limit > 0, !state.waiting.isEmpty else { return [] }
      var taken: [Publication] = []
      var index = 0
      while index < state.waiting.count, taken.count < limit {
        let waiting = state.waiting[index]
        var publication = waiting.publication
        index += 1
        state.bytes -= publication.bytes
        let left = waiting.expires.milliseconds - now.milliseconds
        guard left > 0, waiting.message.map({ $0.connection == connection }) ?? true else {
          continue
        }
        if let message = waiting.message { publication.token = deliveries.taken(message.id) }
        publication.messageExpiry = UInt32((min(left, 86_400_000) + 999) / 1_000)
        taken.append(publication)
      }
      state.waiting.removeFirst(index)
      return taken
    }
  }
}

// SPDX-License-Identifier: Apache-2.0

import BridgeProtocol
import SealedEnvelope
import Synchronization

/// Which messages were handed to which connection. In memory only: another process, or another
/// connection, hands them out again, because nobody knows whether they have arrived.
final class AdoptionDeliveries: Sendable {
  private struct Delivery {
    /// Nil where it was dropped on the way there.
    var connection: Int64?
    var until: WireTime
    /// Whether any connection has taken it, this one or an earlier one.
    var hasLeft: Bool
  }

  /// Each is remembered for so long; seconds. Nothing is waited for longer, once it has been taken.
  private static let retention = 86_400

  private let deliveries = Mutex<[String: Delivery]>([:])

  /// Whether a message was not handed to this connection yet, or is over there.
  func isDue(_ id: String, connection: Int64, now: WireTime) -> Bool {
    deliveries.withLock { deliveries in
      guard let last = deliveries[id] else { return true }
      // One that lives longer than any is from before the clock was set back.
      return last.connection != connection || last.until <= now
        || last.until > now.adding(seconds: Int(Envelope.longestLifetime))
    }
  }

  /// Whether a message was made and no connection has taken it.
  func isStuck(_ id: String) -> Bool {
    deliveries.withLock { $0[id].map { !$0.hasLeft } ?? false }
  }

  /// One that is dropped, because too many answers wait, is as due as before.
  func deliver(_ messages: [AdoptionMessage], to answers: AnswerQueue, now: WireTime) {
    for message in messages {
      // Before it can leave.
      began(message.id, to: message.connection, until: message.expires, now: now)
      guard answers.add([.adoption(message)], now: now) > 0 else { continue }
      deliveries.withLock { $0[message.id]?.connection = nil }
    }
  }

  func began(_ id: String, to connection: Int64, until: WireTime, now: WireTime) {
    deliveries.withLock { deliveries in
      deliveries = deliveries.filter { $0.value.until.adding(seconds: Self.retention) > now }
      deliveries[id] = Delivery(
        connection: connection, until: until, hasLeft: deliveries[id]?.hasLeft ?? false)
    }
  }

  /// Its connection has taken it.
  func left(_ id: String) { deliveries.withLock { $0[id]?.hasLeft = true } }
}

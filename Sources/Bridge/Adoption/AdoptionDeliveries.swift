// SPDX-License-Identifier: Apache-2.0

import Broker
import Synchronization

/// Which messages were handed to which connection. In memory only: another process, or another
/// connection, hands them out again, because it is not known whether they have arrived.
final class AdoptionDeliveries: Sendable {
  private struct Delivery {
    /// Nil where it was dropped on the way there.
    var connection: Int64?
    var until: WireTime
    /// By which the broker's acknowledgement is known; nil while it waits.
    var token: UInt64?
    /// Whether the broker has taken it, on this connection or an earlier one.
    var hasArrived: Bool
  }

  /// Those of the outbox count from 1, those without a name from 1 << 63.
  private static let firstToken: UInt64 = 1 << 62
  /// Each is remembered for so long; seconds. Nothing is waited for longer, once it has arrived.
  private static let retention = 86_400

  private let deliveries = Mutex<[String: Delivery]>([:])
  private let nextToken = Atomic<UInt64>(firstToken)

  /// Whether a message was not handed to this connection yet, or is over there.
  func isDue(_ id: String, connection: Int64, now: WireTime) -> Bool {
    deliveries.withLock { deliveries in
      guard let last = deliveries[id] else { return true }
      // One that lives longer than any is from before the clock was set back.
      return last.connection != connection || last.until <= now
        || last.until > now.adding(seconds: Int(Envelope.longestLifetime))
    }
  }

  /// Whether this process knows that the broker has a message.
  func hasArrived(_ id: String) -> Bool { deliveries.withLock { $0[id]?.hasArrived ?? false } }

  /// One that is dropped, because too many answers wait, is as due as before.
  func deliver(_ messages: [AdoptionMessage], to answers: AnswerQueue, now: WireTime) {
    for message in messages {
      // Before it can be sent.
      began(message.id, to: message.connection, until: message.expires, now: now)
      guard answers.add([.adoption(message)], now: now) > 0 else { continue }
      deliveries.withLock { $0[message.id]?.connection = nil }
    }
  }

  func began(_ id: String, to connection: Int64, until: WireTime, now: WireTime) {
    deliveries.withLock { deliveries in
      deliveries = deliveries.filter { $0.value.until.adding(seconds: Self.retention) > now }
      deliveries[id] = Delivery(
        connection: connection, until: until, hasArrived: deliveries[id]?.hasArrived ?? false)
    }
  }

  /// Its connection takes it.
  ///
  /// - Returns: the token that it is sent with.
  func taken(_ id: String) -> UInt64 {
    let token = nextToken.add(1, ordering: .relaxed).oldValue
    deliveries.withLock { $0[id]?.token = token }
    return token
  }

  /// The broker has taken what was sent with this token. What it refuses is due again when its time on the broker
  /// would be over, or as soon as the broker takes again what it has refused.
  func acknowledge(_ token: UInt64) {
    guard token >= Self.firstToken else { return }
    deliveries.withLock { deliveries in
      guard let id = deliveries.first(where: { $0.value.token == token })?.key else { return }
      deliveries[id]?.hasArrived = true
    }
  }

  /// The broker may take now what it has not.
  func becomeDue() {
    deliveries.withLock { deliveries in
      for id in deliveries.keys where deliveries[id]?.hasArrived == false {
        deliveries[id]?.connection = nil
      }
    }
  }
}

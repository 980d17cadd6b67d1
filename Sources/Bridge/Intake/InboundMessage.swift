// SPDX-License-Identifier: Apache-2.0

import Broker
import ConsentLedger
import ThreadkeeperSupport

/// A message after everything that can be found out without the store.
enum InboundMessage: Sendable {
  /// Where a message came from, as far as its topic tells.
  struct Origin: Sendable {
    var home: String
    var user: String?
    var topic: String
    /// Where the publisher asks for what became of its event; nil where it does not.
    var answer: ReplyTopic?
  }

  /// An event in an envelope. Only the store knows who may have signed it.
  struct Sealed: Sendable {
    var event: SealedEvent
    var envelope: [UInt8]
    /// All of it, which the envelope is bound to.
    var topic: String
  }

  /// Indirect, because an event is large and a message is passed on a few times.
  indirect case event(InboundEvent, user: String, Origin)
  indirect case sealed(Sealed, user: String, Origin)
  case rejected(Rejection, Origin)
  indirect case request(InboundRequest, Origin)
  /// A request of a user who asks too often, and whose limit was published before.
  case ignored
  /// An event of a login that publishes too many, and whose rejection was published before.
  case dropped
  /// A probe of `threadkeeper doctor`, a retained topic that was cleared, or below no base topic: the broker sent what
  /// was not subscribed to.
  case skipped
}

// SPDX-License-Identifier: Apache-2.0

import Broker
import ThreadRequests

/// An answer on its way, when the transaction is committed.
enum Answer: Sendable {
  /// Worth nothing after `expires`.
  case publication(Publication, expires: WireTime)
  /// To a router, and worth nothing on another connection.
  case adoption(AdoptionMessage)
  /// To who waits on a connection for this consent.
  case caller(id: String, ThreadAnswer)

  /// That it takes of the queue.
  var waitingBytes: Int {
    switch self {
    case .publication(let publication, _): publication.bytes
    case .adoption(let message): message.publication.bytes
    case .caller: 0
    }
  }
}

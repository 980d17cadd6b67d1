// SPDX-License-Identifier: Apache-2.0

import Broker
import ConsentLedger
import ThreadRequests

/// A request as it came from the broker, after everything that can be found out without the store.
struct InboundRequest: Sendable {
  let user: String
  /// Nil for one that this version does not know.
  let command: RequestCommand?
  /// The whole topic: a sealed request is bound to it.
  let topic: String
  /// The fields of the payload, or why it cannot be read.
  var fields: Result<RequestFields, AnswerFailure>
  /// What an answer repeats, also where the rest cannot be read.
  let transaction: String?
  /// Where the answer goes.
  let reply: ReplyTopic
  /// Seconds for which the requester waits for the answer.
  let timeout: UInt32
}

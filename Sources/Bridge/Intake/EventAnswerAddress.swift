// SPDX-License-Identifier: Apache-2.0

import BridgeProtocol
import MosquittoClient

/// Where a publisher wants to know what became of its event: its Response Topic and Correlation Data.
struct EventAnswerAddress: Sendable {
  let topic: String
  let correlation: [UInt8]?

  /// - Returns: nil without a Response Topic that only this user may read.
  init?(_ message: IncomingMessage, user: String, base: String) {
    guard let topic = message.responseTopic, OutboundTopic(base: base).isAnswer(topic, to: user)
    else { return nil }
    self.topic = topic
    let correlation = message.correlationData
    self.correlation =
      (correlation?.count ?? 0) <= RequestReader.correlationBytes ? correlation : nil
  }
}

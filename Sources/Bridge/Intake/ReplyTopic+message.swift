// SPDX-License-Identifier: Apache-2.0

import Broker
import ConsentLedger

extension ReplyTopic {
  /// Bytes of Correlation Data that an answer repeats. It is stored while a person is asked, so it has
  /// to be small; programs send a number or a UUID.
  static let correlationBytes = 128

  /// Where a publisher asks for the answer to its event.
  ///
  /// - Returns: nil without a Response Topic that only this user may read.
  init?(asked message: IncomingMessage, user: String, base: String) {
    guard let topic = message.responseTopic, OutboundTopic(base: base).isAnswer(topic, to: user)
    else { return nil }
    self.init(topic, message)
  }

  /// - Parameter message: whose Correlation Data is repeated; too long, it is left out.
  init(_ topic: String, _ message: IncomingMessage) {
    self.init(
      topic,
      correlation: message.correlationData.flatMap {
        $0.count <= Self.correlationBytes ? $0 : nil
      })
  }
}

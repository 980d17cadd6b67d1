// SPDX-License-Identifier: Apache-2.0

/// A message that the broker delivered.
package struct IncomingMessage: Sendable, Equatable {
  /// The topic it was published to.
  package var topic: String
  /// The payload, byte for byte; may be empty.
  package var payload: [UInt8]
  /// The quality of service of this delivery: the lower one of publisher and subscription.
  package var qos: QualityOfService
  /// True when the broker kept this message and sends it because the subscription is new.
  package var isRetained: Bool
  /// Where the publisher wants an answer (MQTT 5 only).
  package var responseTopic: String?
  /// What the answer must carry (MQTT 5 only).
  package var correlationData: [UInt8]?
  /// Seconds that were left until the message would have expired (MQTT 5 only).
  package var messageExpiry: UInt32?

  package init(
    topic: String, payload: [UInt8], qos: QualityOfService = 1, isRetained: Bool = false,
    responseTopic: String? = nil, correlationData: [UInt8]? = nil, messageExpiry: UInt32? = nil
  ) {
    self.topic = topic
    self.payload = payload
    self.qos = qos
    self.isRetained = isRetained
    self.responseTopic = responseTopic
    self.correlationData = correlationData
    self.messageExpiry = messageExpiry
  }
}

extension IncomingMessage {
  /// What it takes in memory, with what a publisher can make as large as the payload.
  var bytes: Int {
    topic.utf8.count + payload.count + (responseTopic?.utf8.count ?? 0)
      + (correlationData?.count ?? 0)
  }
}

extension IncomingMessage: CustomStringConvertible {
  /// Topic and size. The payload may hold a network key and is never shown.
  package var description: String {
    "\(topic) (\(payload.count) bytes\(isRetained ? ", retained" : ""))"
  }
}

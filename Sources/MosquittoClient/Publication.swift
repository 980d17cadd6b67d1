// SPDX-License-Identifier: Apache-2.0

/// A message that is to be published.
package struct Publication: Sendable, Equatable {
  package var topic: String
  /// At most 268,435,455 bytes less the header; a last will at most 65,535.
  package var payload: [UInt8]
  package var qos: QualityOfService
  /// Whether the broker keeps it for later subscribers. An empty retained payload deletes.
  package var retain: Bool
  /// Seconds after which the broker drops it (MQTT 5 only).
  package var messageExpiry: UInt32?
  /// The kind of payload, as a MIME type (MQTT 5 only).
  package var contentType: String?
  /// Echoed from the request that this answers (MQTT 5 only).
  package var correlationData: [UInt8]?
  /// Where an answer to this is wanted (MQTT 5 only).
  package var responseTopic: String?
  /// The caller's name for it: `MosquittoHandler.acknowledged` is told the same number.
  package var token: UInt64

  package init(
    topic: String, payload: [UInt8], qos: QualityOfService = 1, retain: Bool = false,
    messageExpiry: UInt32? = nil, contentType: String? = nil, correlationData: [UInt8]? = nil,
    responseTopic: String? = nil, token: UInt64 = 0
  ) {
    self.topic = topic
    self.payload = payload
    self.qos = qos
    self.retain = retain
    self.messageExpiry = messageExpiry
    self.contentType = contentType
    self.correlationData = correlationData
    self.responseTopic = responseTopic
    self.token = token
  }
}

extension Publication {
  /// What it takes in memory.
  package var bytes: Int {
    topic.utf8.count + payload.count + (contentType?.utf8.count ?? 0)
      + (correlationData?.count ?? 0) + (responseTopic?.utf8.count ?? 0)
  }
}

extension Publication: CustomStringConvertible {
  /// Topic and size; a payload may be sealed or private and is never shown.
  package var description: String {
    "\(topic) (\(payload.count) bytes\(retain ? ", retained" : ""))"
  }
}

/// What became of a publication.
package enum PublicationOutcome: Sendable, Equatable {
  /// The broker has acknowledged it, or it was written to the socket when it has QoS 0.
  ///
  /// An MQTT 3.1.1 broker also acknowledges what its access list then throws away: it has no way
  /// to say no.
  case delivered
  /// The broker or the library refused this one message; the connection lives on.
  case refused(MosquittoError)
}

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

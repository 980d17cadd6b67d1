// SPDX-License-Identifier: Apache-2.0

/// Where the answer goes once somebody has decided.
package struct ConsentReply: Sendable, Codable, Hashable {
  package enum Transport: String, Sendable, Codable {
    case mqtt, socket
  }

  package let transport: Transport
  /// Over MQTT: checked when the request came.
  package let responseTopic: String?
  package let correlationData: [UInt8]?
  package let transaction: String?

  /// For a program that waits on its connection. When it has gone, nobody is answered.
  package static let socket = ConsentReply(transport: .socket)

  package static func mqtt(
    responseTopic: String, correlationData: [UInt8]?, transaction: String?
  ) -> ConsentReply {
    ConsentReply(
      transport: .mqtt, responseTopic: responseTopic, correlationData: correlationData,
      transaction: transaction)
  }

  private init(
    transport: Transport, responseTopic: String? = nil, correlationData: [UInt8]? = nil,
    transaction: String? = nil
  ) {
    self.transport = transport
    self.responseTopic = responseTopic
    self.correlationData = correlationData
    self.transaction = transaction
  }

  enum CodingKeys: String, CodingKey {
    case transport
    case responseTopic = "response_topic"
    case correlationData = "correlation_data"
    case transaction
  }
}

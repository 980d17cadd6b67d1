// SPDX-License-Identifier: Apache-2.0

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

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
  package init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      transport: try fields.decode(Transport.self, forKey: .transport),
      responseTopic: try fields.decodeIfPresent(String.self, forKey: .responseTopic),
      correlationData: try fields.decodeIfPresent(Data.self, forKey: .correlationData).map {
        Array($0)
      },
      transaction: try fields.decodeIfPresent(String.self, forKey: .transaction))
  }

  /// An array would be a number of up to four characters for each byte: as `Data` it is Base64.
  package func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: CodingKeys.self)
    try fields.encode(transport, forKey: .transport)
    try fields.encodeIfPresent(responseTopic, forKey: .responseTopic)
    try fields.encodeIfPresent(correlationData.map { Data($0) }, forKey: .correlationData)
    try fields.encodeIfPresent(transaction, forKey: .transaction)
  }
}

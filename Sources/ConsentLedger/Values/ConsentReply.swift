// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials

/// Where the answer goes once a person has decided, and what it repeats.
package struct ConsentReply: Sendable, Hashable {
  /// Over MQTT: checked when the request came.
  package let address: ReplyAddress
  package let transaction: String?

  package init(_ address: ReplyAddress, transaction: String?) {
    self.address = address
    // All that wait on connections get the same, each with its own transaction.
    self.transaction = address == .caller ? nil : transaction
  }

  /// For a program that waits on its connection. When it has gone, no answer is sent.
  package static let socket = ConsentReply(.caller, transaction: nil)

  package static func mqtt(
    responseTopic: String, correlationData: [UInt8]?, transaction: String?
  ) -> ConsentReply {
    ConsentReply(
      .topic(ReplyTopic(responseTopic, correlation: correlationData)), transaction: transaction)
  }
}

extension ConsentReply: Codable {
  private enum Transport: String, Codable {
    case mqtt, socket
  }

  enum CodingKeys: String, CodingKey {
    case transport
    case responseTopic = "response_topic"
    case correlationData = "correlation_data"
    case transaction
  }

  package init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    let transport = try fields.decode(Transport.self, forKey: .transport)
    let topic = try fields.decodeIfPresent(String.self, forKey: .responseTopic)
    let correlation = try fields.decodeIfPresent(Data.self, forKey: .correlationData)
    let transaction = try fields.decodeIfPresent(String.self, forKey: .transaction)
    if transport == .mqtt, let topic {
      let reply = ReplyTopic(topic, correlation: correlation.map { Array($0) })
      self.init(.topic(reply), transaction: transaction)
    } else {
      self.init(.caller, transaction: transaction)
    }
  }

  /// An array would be a number of up to four characters for each byte: as `Data` it is Base64.
  package func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: CodingKeys.self)
    switch address {
    case .topic(let topic):
      try fields.encode(Transport.mqtt, forKey: .transport)
      try fields.encode(topic.name, forKey: .responseTopic)
      try fields.encodeIfPresent(topic.correlation.map { Data($0) }, forKey: .correlationData)
    case .caller: try fields.encode(Transport.socket, forKey: .transport)
    }
    try fields.encodeIfPresent(transaction, forKey: .transaction)
  }
}

// SPDX-License-Identifier: Apache-2.0

/// Where an answer goes, also one that a person must decide upon first.
package enum ReplyAddress: Hashable, Sendable {
  case topic(ReplyTopic)
  /// The callers that wait on connections for this consent. When there is none any more, the answer is dropped.
  case caller
}

/// A topic of the broker, with what the answer must carry: a Response Topic and Correlation Data (MQTT 5, 4.10).
package struct ReplyTopic: Hashable, Sendable {
  package let name: String
  package let correlation: [UInt8]?

  package init(_ name: String, correlation: [UInt8]?) {
    self.name = name
    self.correlation = correlation
  }
}

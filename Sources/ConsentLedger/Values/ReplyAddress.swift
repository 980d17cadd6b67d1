// SPDX-License-Identifier: Apache-2.0

/// Where an answer goes, also one that a person must decide upon first.
package enum ReplyAddress: Hashable, Sendable {
  /// A topic of the broker, with what the answer must carry.
  case topic(String, correlation: [UInt8]?)
  /// Whoever waits on a connection for this consent. When nobody does any more, the answer is dropped.
  case caller
}

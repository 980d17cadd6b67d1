// SPDX-License-Identifier: Apache-2.0

/// A network that was the preferred one of its home, without its keys.
package struct FormerNetworkRecord: Codable, Hashable, Sendable {
  /// `p-` and 8 hex digits.
  package var id: String
  package var networkName: String
  package var extendedPANID: String
  package var channel: UInt16?
  /// Seconds; nil where it is damaged.
  package var activeTimestamp: UInt64?
  /// When it was replaced; RFC 3339.
  package var until: String

  package init(
    id: String, networkName: String, extendedPANID: String, channel: UInt16?,
    activeTimestamp: UInt64?, until: String
  ) {
    self.id = id
    self.networkName = networkName
    self.extendedPANID = extendedPANID
    self.channel = channel
    self.activeTimestamp = activeTimestamp
    self.until = until
  }

  package enum CodingKeys: String, CodingKey {
    case id
    case networkName = "network_name"
    case extendedPANID = "ext_pan_id"
    case channel
    case activeTimestamp = "active_timestamp"
    case until
  }
}

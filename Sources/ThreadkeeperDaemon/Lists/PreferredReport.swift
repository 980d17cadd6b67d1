// SPDX-License-Identifier: Apache-2.0

import BridgeProtocol
import VarlinkSocket

/// The preferred network of a home as commands print it.
package struct PreferredReport: Codable, Sendable, VarlinkFieldNames {
  package let home: String
  package let networkName: String
  package let extendedPANID: String
  package let channel: UInt16?
  package let panID: UInt16?
  package let activeTimestamp: UInt64?
  package let changedAt: WireTime
  /// The TLVs in hex; only where secrets were asked for.
  package let dataset: String?

  enum CodingKeys: String, CodingKey {
    case home
    case networkName = "network_name"
    case extendedPANID = "ext_pan_id"
    case channel
    case panID = "pan_id"
    case activeTimestamp = "active_timestamp"
    case changedAt = "changed_at"
    case dataset
  }

  package var text: String {
    [
      "network     \(networkName.printable)", "ext pan id  \(extendedPANID)",
      "channel     \(channel.map { String($0) } ?? "")",
      "timestamp   \(activeTimestamp.map { String($0) } ?? "")",
      "changed     \(changedAt)",
      "dataset     \(dataset ?? "not shown; --show-secrets prints it")",
    ].map { $0 + "\n" }.joined()
  }
}

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
  /// Whether its dataset is here.
  package let credentials: Bool
  /// Border agent ids of routers that report credentials which nobody has vouched for.
  package let reportedBy: [String]
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
    case credentials
    case reportedBy = "reported_by"
    case dataset
  }

  /// - Parameter homeOption: for commands: ` --home NAME`, or nothing.
  package func text(homeOption: String) -> String {
    var lines = ["network     \(networkName.printable)", "ext pan id  \(extendedPANID)"]
    guard credentials else {
      lines += ["changed     \(changedAt)", "dataset     not here"]
      let command = "threadkeeper preferred set"
      lines += reportedBy.map {
        "            \($0) reports one; if it is right, run `\(command) \(extendedPANID) "
          + "--router \($0)\(homeOption)`"
      }
      if reportedBy.isEmpty {
        lines.append("            bring it with `\(command) @FILE\(homeOption)`")
      }
      return lines.map { $0 + "\n" }.joined()
    }
    lines += [
      "channel     \(channel.map { String($0) } ?? "")",
      "timestamp   \(activeTimestamp.map { String($0) } ?? "")",
      "changed     \(changedAt)",
      "dataset     \(dataset ?? "not shown; --show-secrets prints it")",
    ]
    return lines.map { $0 + "\n" }.joined()
  }
}

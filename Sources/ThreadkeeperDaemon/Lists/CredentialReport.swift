// SPDX-License-Identifier: Apache-2.0

import ThreadCredentialStore
import ThreadDataset
import VarlinkSocket

/// One credential as commands print it.
package struct CredentialReport: Codable, Sendable, VarlinkFieldNames {
  package let home: String
  package let borderAgentID: String
  package let team: String
  package let networkName: String?
  package let extendedPANID: String?
  package let panID: UInt16?
  package let channel: UInt16?
  package let activeTimestamp: UInt64?
  /// The TLVs in hex; only where secrets were asked for.
  package let dataset: String?

  init(_ credential: ThreadCredential, showingSecrets: Bool) {
    let dataset = credential.dataset
    home = credential.home
    borderAgentID = credential.agent.description
    team = credential.team
    networkName = dataset.networkName
    extendedPANID = dataset.extendedPANID?.description
    panID = dataset.panID
    channel = dataset.channel?.number
    activeTimestamp = dataset.activeTimestamp?.seconds
    self.dataset = showingSecrets ? dataset.hex : nil
  }

  enum CodingKeys: String, CodingKey {
    case home
    case borderAgentID = "border_agent_id"
    case team
    case networkName = "network_name"
    case extendedPANID = "ext_pan_id"
    case panID = "pan_id"
    case channel
    case activeTimestamp = "active_timestamp"
    case dataset
  }

  package var text: String {
    var lines = [
      "border agent id  \(borderAgentID)", "home             \(home)",
      "team             \(team.printable)", "network          \((networkName ?? "").printable)",
      "ext pan id       \(extendedPANID ?? "")",
      "channel          \(channel.map { String($0) } ?? "")",
      "timestamp        \(activeTimestamp.map { String($0) } ?? "")",
    ]
    lines.append("dataset          \(dataset ?? "not shown; --show-secrets prints it")")
    return lines.map { $0 + "\n" }.joined()
  }
}

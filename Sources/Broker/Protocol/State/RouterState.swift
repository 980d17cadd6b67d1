// SPDX-License-Identifier: Apache-2.0

import Home

/// `router/<border_agent_id>`, retained. No secret has a place here.
package struct RouterState: Codable, Sendable {
  package var v = 1
  package var home: String
  package var borderAgentID: String
  package var name: String?
  package var vendor: String?
  package var model: String?
  package var extendedAddress: String?
  /// The login that spoke for it last; nil where none did.
  package var user: String?
  /// `mqtt` where a login has announced it; `mdns` where only its record on the local network says that it is there.
  package var source: String
  /// `online` or `offline`.
  package var availability: String
  package var credentials: CredentialState
  package var extendedPANID: String?
  package var networkName: String?
  package var channel: Int?
  package var panID: Int?
  /// Seconds of the Active Timestamp.
  package var activeTimestamp: UInt64?
  /// `match`, `mismatch` or `none`.
  package var preferred: String
  /// `asked`, `agreed`, `sent` or `failed`; nil where nothing is to be adopted.
  package var adoption: String?
  /// The network that it reports to be on; nil where it does not say.
  package var currentExtendedPANID: String?
  /// `disabled`, `detached`, `child`, `router` or `leader`; nil where it does not say.
  package var threadState: String?
  package var threadStateSince: WireTime?
  /// `stopped`, `unreachable`, `frozen` or `silent`; nil while it is online, and where nobody knows.
  package var offlineReason: String?
  package var ssid: String?
  package var accessPoint: String?
  /// As it reports it, or by its record on the local network.
  package var partitionID: UInt32?
  /// By its record on the local network: `1.3.0`.
  package var threadVersion: String?
  package var firstSeen: WireTime
  package var datasetChangedAt: WireTime?

  package init(
    home: String, borderAgentID: String, user: String?, isOnline: Bool,
    credentials: CredentialState, preferred: String, source: String = "mqtt", firstSeen: WireTime
  ) {
    self.home = home
    self.borderAgentID = borderAgentID
    self.user = user
    self.availability = isOnline ? "online" : "offline"
    self.credentials = credentials
    self.preferred = preferred
    self.source = source
    self.firstSeen = firstSeen
  }

  enum CodingKeys: String, CodingKey {
    case v, home
    case borderAgentID = "border_agent_id"
    case name, vendor, model
    case extendedAddress = "ext_address"
    case user, source, availability, credentials
    case extendedPANID = "ext_pan_id"
    case networkName = "network_name"
    case channel
    case panID = "pan_id"
    case activeTimestamp = "active_timestamp"
    case currentExtendedPANID = "current_ext_pan_id"
    case threadState = "thread_state"
    case threadStateSince = "thread_state_since"
    case offlineReason = "offline_reason"
    case preferred, adoption, ssid
    case accessPoint = "access_point"
    case partitionID = "partition_id"
    case threadVersion = "thread_version"
    case firstSeen = "first_seen"
    case datasetChangedAt = "dataset_changed_at"
  }
}

/// `network/<ext_pan_id>`, retained. No secret has a place here.
package struct NetworkState: Codable, Sendable {
  package var v = 1
  package var home: String
  package var extendedPANID: String
  package var networkName: String
  package var channel: Int?
  package var panID: Int?
  package var activeTimestamp: UInt64?
  /// Border routers that are configured for this network, or on it by their records on the local network.
  package var routers: Int
  package var routersOnline: Int
  package var isPreferred: Bool
  /// Whether a person has said that routers are on it on purpose.
  package var isAccepted: Bool
  /// Logins that are no border routers and share credentials of it; nil: none.
  package var sharedBy: [String]?

  package init(
    home: String, extendedPANID: String, networkName: String, channel: Int?, panID: Int?,
    activeTimestamp: UInt64?, routers: Int, routersOnline: Int, isPreferred: Bool,
    isAccepted: Bool
  ) {
    self.home = home
    self.extendedPANID = extendedPANID
    self.networkName = networkName
    self.channel = channel
    self.panID = panID
    self.activeTimestamp = activeTimestamp
    self.routers = routers
    self.routersOnline = routersOnline
    self.isPreferred = isPreferred
    self.isAccepted = isAccepted
  }

  enum CodingKeys: String, CodingKey {
    case v, home
    case extendedPANID = "ext_pan_id"
    case networkName = "network_name"
    case channel
    case panID = "pan_id"
    case activeTimestamp = "active_timestamp"
    case routers
    case routersOnline = "routers_online"
    case isPreferred = "preferred"
    case isAccepted = "accepted"
    case sharedBy = "shared_by"
  }
}

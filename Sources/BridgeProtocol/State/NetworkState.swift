// SPDX-License-Identifier: Apache-2.0

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
  }
}

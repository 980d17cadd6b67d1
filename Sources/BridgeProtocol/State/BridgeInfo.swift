// SPDX-License-Identifier: Apache-2.0

/// `bridge/info`, retained. An allow-list: what is not named here is not published.
package struct BridgeInfo: Encodable, Sendable, Equatable {
  package struct Preferred: Encodable, Sendable, Equatable {
    package var networkName: String
    package var extendedPANID: String

    package init(networkName: String, extendedPANID: String) {
      self.networkName = networkName
      self.extendedPANID = extendedPANID
    }

    enum CodingKeys: String, CodingKey {
      case networkName = "network_name"
      case extendedPANID = "ext_pan_id"
    }
  }

  package var v = 1
  package var version: String
  package var instanceID: String
  package var home: String
  package var preferredNetwork: Preferred?
  package var routers: Int
  package var networks: Int
  /// Seconds for which a condition must last before its alert is raised.
  package var alertsHold: Int
  package var onMismatch: String
  package var offlineAfter: Int
  /// The daemon's public keys, to seal to and to verify with, and what two people compare of them.
  package var enrolmentLine: String?
  package var fingerprint: String?

  package init(
    version: String, instanceID: String, home: String, preferredNetwork: Preferred?,
    routers: Int, networks: Int, alertsHold: Int, onMismatch: String,
    offlineAfter: Int, enrolmentLine: String? = nil, fingerprint: String? = nil
  ) {
    self.version = version
    self.instanceID = instanceID
    self.home = home
    self.preferredNetwork = preferredNetwork
    self.routers = routers
    self.networks = networks
    self.alertsHold = alertsHold
    self.onMismatch = onMismatch
    self.offlineAfter = offlineAfter
    self.enrolmentLine = enrolmentLine
    self.fingerprint = fingerprint
  }

  enum CodingKeys: String, CodingKey {
    case v, version
    case instanceID = "instance_id"
    case home
    case preferredNetwork = "preferred_network"
    case routers, networks
    case alertsHold = "alerts_hold"
    case onMismatch = "on_mismatch"
    case offlineAfter = "offline_after"
    case enrolmentLine = "enrolment_line"
    case fingerprint
  }
}

/// `bridge/state` and `router/<id>/availability`, retained.
package struct BridgeState: Encodable, Sendable {
  package var state: String
  package var reason: String?

  package static let online = BridgeState(state: "online")
  package static let offline = BridgeState(state: "offline")
  package static let stopped = BridgeState(state: "offline", reason: "stopped")

  package init(state: String, reason: String? = nil) {
    self.state = state
    self.reason = reason
  }
}

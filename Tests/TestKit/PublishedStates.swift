// SPDX-License-Identifier: Apache-2.0

import Broker
import Home

// What is published of a home, field by field: to compare with what the daemon writes, and for templates to read.

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

/// `bridge/alerts`, retained: counts, and the newest of the active ones.
package struct AlertsOverview: Encodable, Sendable {
  /// Alerts that are listed at the most.
  package static let listed = 20

  package var v = 1
  package var active: Int
  package var critical: Int
  package var warning: Int
  package var info: Int
  package var alerts: [AlertState]

  package init(active: Int, critical: Int, warning: Int, info: Int, alerts: [AlertState]) {
    self.active = active
    self.critical = critical
    self.warning = warning
    self.info = info
    self.alerts = alerts
  }
}

/// `bridge/consent`, retained: how many requests wait for a person, and the one that waits longest. No
/// secret.
package struct ConsentOverview: Encodable, Sendable, Equatable {
  /// The request that waits longest.
  package struct Head: Sendable, Equatable {
    package var id: String
    package var requester: String
    /// Of the key that the answer is sealed to; nil where it is not sealed.
    package var fingerprint: String?
    /// `preferred/get` and the like.
    package var command: String
    /// Of several networks: their names.
    package var networkName: String
    /// Nil where several networks are asked for.
    package var extendedPANID: String?
    package var expiresAt: WireTime
    /// The router that would be given the credentials; nil where the requester asks for itself.
    package var borderAgentID: String?

    package init(
      id: String, requester: String, fingerprint: String? = nil, command: String,
      networkName: String, extendedPANID: String?, expiresAt: WireTime, borderAgentID: String? = nil
    ) {
      self.borderAgentID = borderAgentID
      self.id = id
      self.requester = requester
      self.fingerprint = fingerprint
      self.command = command
      self.networkName = networkName
      self.extendedPANID = extendedPANID
      self.expiresAt = expiresAt
    }
  }

  /// A request that Home Assistant is asked about.
  package struct Asked: Encodable, Sendable, Equatable {
    package var id: String
    /// A sentence for the person who decides.
    package var message: String
    package var expiresAt: WireTime
    /// What a decision through Home Assistant repeats.
    package var token: String

    package init(id: String, message: String, expiresAt: WireTime, token: String) {
      self.id = id
      self.message = message
      self.expiresAt = expiresAt
      self.token = token
    }

    enum CodingKeys: String, CodingKey {
      case id, message, token
      case expiresAt = "expires_at"
    }
  }

  package var v = 1
  package var pending: Int
  package var head: Head?
  /// Those that Home Assistant decides about, oldest first, as many as have buttons there.
  package var homeAssistant: [Asked]

  package init(pending: Int, head: Head?, homeAssistant: [Asked] = []) {
    self.pending = pending
    self.head = head
    self.homeAssistant = homeAssistant
  }

  enum CodingKeys: String, CodingKey {
    case v, pending, head, requester, fingerprint, command
    case networkName = "network_name"
    case extendedPANID = "ext_pan_id"
    case expiresAt = "expires_at"
    case borderAgentID = "border_agent_id"
    case homeAssistant = "home_assistant"
  }

  /// Flat, for templates of automations, but for what may be about another request.
  package func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: CodingKeys.self)
    try fields.encode(v, forKey: .v)
    try fields.encode(pending, forKey: .pending)
    guard let head else { return }
    try fields.encode(head.id, forKey: .head)
    try fields.encode(head.requester, forKey: .requester)
    try fields.encodeIfPresent(head.fingerprint, forKey: .fingerprint)
    try fields.encode(head.command, forKey: .command)
    try fields.encode(head.networkName, forKey: .networkName)
    try fields.encodeIfPresent(head.extendedPANID, forKey: .extendedPANID)
    try fields.encode(head.expiresAt, forKey: .expiresAt)
    try fields.encodeIfPresent(head.borderAgentID, forKey: .borderAgentID)
    if !homeAssistant.isEmpty { try fields.encode(homeAssistant, forKey: .homeAssistant) }
  }
}

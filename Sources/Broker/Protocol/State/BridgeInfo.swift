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

/// `bridge/health`, retained with a Message Expiry: flat numbers, and words where intake stands still.
package struct BridgeHealth: Encodable, Sendable {
  package static let intervalSeconds = 60
  package static let expirySeconds: UInt32 = 180

  package var v = 1
  /// `running`, `connecting` or `backing_off`.
  package var intake: String
  /// Why intake stands still: what is wrong and what to do.
  package var reason: String?
  package var uptimeSeconds: Int64
  package var routers: Int
  package var networks: Int
  package var alertsActive: Int
  package var messagesReceived: Int64
  package var messagesRejected: Int64
  package var retainedIgnored: Int64
  package var duplicatesIgnored: Int64
  package var requestsAnswered: Int64
  /// Among them those that were not even answered, because they were too many.
  package var requestsRefused: Int64
  /// Answers that nobody took in time, or that were too many.
  package var answersDropped: Int64
  package var eventsWaiting: Int64
  /// Publications that the broker's access list, or a limit of it, refused.
  package var publicationsRefused: Int64
  package var intakeReconnects: Int64

  package init(
    intake: String, reason: String?, uptimeSeconds: Int64, routers: Int, networks: Int,
    alertsActive: Int, messagesReceived: Int64, messagesRejected: Int64, retainedIgnored: Int64,
    duplicatesIgnored: Int64, requestsAnswered: Int64 = 0, requestsRefused: Int64 = 0,
    answersDropped: Int64 = 0, eventsWaiting: Int64, publicationsRefused: Int64,
    intakeReconnects: Int64
  ) {
    self.intake = intake
    self.reason = reason
    self.uptimeSeconds = uptimeSeconds
    self.routers = routers
    self.networks = networks
    self.alertsActive = alertsActive
    self.messagesReceived = messagesReceived
    self.messagesRejected = messagesRejected
    self.retainedIgnored = retainedIgnored
    self.duplicatesIgnored = duplicatesIgnored
    self.requestsAnswered = requestsAnswered
    self.requestsRefused = requestsRefused
    self.answersDropped = answersDropped
    self.eventsWaiting = eventsWaiting
    self.publicationsRefused = publicationsRefused
    self.intakeReconnects = intakeReconnects
  }

  enum CodingKeys: String, CodingKey {
    case v, intake, reason
    case uptimeSeconds = "uptime_seconds"
    case routers, networks
    case alertsActive = "alerts_active"
    case messagesReceived = "messages_received"
    case messagesRejected = "messages_rejected"
    case retainedIgnored = "retained_ignored"
    case duplicatesIgnored = "duplicates_ignored"
    case requestsAnswered = "requests_answered"
    case requestsRefused = "requests_refused"
    case answersDropped = "answers_dropped"
    case eventsWaiting = "events_waiting"
    case publicationsRefused = "publications_refused"
    case intakeReconnects = "intake_reconnects"
  }
}

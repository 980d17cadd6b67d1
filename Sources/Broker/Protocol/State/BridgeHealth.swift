// SPDX-License-Identifier: Apache-2.0

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

// SPDX-License-Identifier: Apache-2.0

import BridgeProtocol

/// What the settings decide for the bridge.
package struct BridgeConfiguration: Sendable {
  package var version: String
  package var topics: BaseTopics
  /// The team that a user of the broker speaks for.
  package var team: @Sendable (_ user: String) -> String = { $0 }
  /// The users of the broker who speak for the same team as this one, and this one.
  package var teammates: @Sendable (_ user: String) -> [String] = { [$0] }
  /// Events of one login: how many a second, and how many at once after a rest.
  package var eventsPerSecond = 100
  package var eventsBurst = 100_000
  /// Border routers that are present, of one team in one home.
  package var routersPerTeam = 10_000
  /// Seconds for which a condition must last before its alert is raised.
  package var alertsHold = 30
  /// Seconds in which a router that was sent the preferred credentials has to say that it uses them; nil:
  /// a router on another network is an alert and no more.
  package var adoptTimeout: Int?
  /// Seconds of silence after which a router that sends heartbeats counts as offline; 0 = never.
  package var offlineAfter = 300
  /// What a person can do when the broker refuses the daemon's login.
  package var loginRemedy = "Give the daemon the right user name and password."

  /// Whether a user of the broker may decide about what others ask for.
  package var isApprover: @Sendable (_ user: String) -> Bool = { _ in false }
  /// Whether only what it has sealed and signed counts of that. Else all rests on the broker's access list.
  package var approversMustSign = true
  /// Consent, and the keys of those who are answered.
  package var requests = RequestParts()

  package init(version: String, topics: BaseTopics) {
    self.version = version
    self.topics = topics
  }
}

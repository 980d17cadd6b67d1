// SPDX-License-Identifier: Apache-2.0

import Broker
import HomeStore

/// What the settings decide for the bridge. Values only.
package struct BridgeConfiguration: Sendable {
  package var version: String
  package var topics: BaseTopics
  /// The `instance_id` of a daemon that is gone, whose base topics this one takes over.
  package var takesOver: String?
  /// The teams that users of the broker speak for.
  package var teams = BrokerTeams()
  /// Events of one login: how many a second, and how many at once after a rest.
  package var eventsPerSecond = 100
  package var eventsBurst = 100_000
  /// Border agent ids of one team in one home.
  package var routersPerTeam = 64
  /// Border agent ids of all teams in one home, and as many networks that logins share.
  package var routersPerHome = 1_000
  /// Logins that may report the SSID of other teams' routers.
  package var reportersOfSSID: [String] = []
  /// Whether border routers are looked for on the local network.
  package var discoversRouters = false
  /// Seconds for which a condition must last before its alert is raised.
  package var alertsHold = 30
  /// Seconds in which a router that was sent the preferred credentials has to report that it uses them; nil:
  /// a router on another network is an alert and no more.
  package var adoptTimeout: Int?
  /// Seconds of silence after which a router that sends heartbeats counts as offline; 0 = never.
  package var offlineAfter = 300
  /// Settings of single homes that differ from those above, by name.
  package var ofHome: [String: HomeOverrides] = [:]
  /// What a person can do when the broker refuses the daemon's login.
  package var loginRemedy = "Give the daemon the right user name and password."
  package var homeAssistant = HomeAssistant()
  /// Of this process: what a button of Home Assistant has to publish.
  let buttonTokens = ButtonTokens()
  /// The users of the broker who may decide about what others ask for.
  package var approvers: [String] = []
  /// Whether a decision over MQTT counts only when it is sealed and signed. Else all rests on the broker's access list.
  package var approversMustSign = true

  /// Home Assistant's MQTT discovery.
  package struct HomeAssistant: Hashable, Sendable {
    /// Whether the daemon announces itself and its routers there.
    package var isOn = false
    /// Home Assistant's discovery prefix: a topic.
    package var prefix = "homeassistant"
    /// What its login may decide about without a signature.
    package var consent = Consent.off
    /// Its login at the broker; nil: it decides nothing.
    package var login: String?
    /// Logins whose credentials of the preferred network are used without a question.
    package var trusted: [String] = []

    package init() {}

    package enum Consent: String, Hashable, Sendable {
      case off
      /// Whether an enrolled router is given the preferred credentials.
      case adoptions
      /// Whatever waits for a person.
      case all
    }

    /// Where Home Assistant publishes that it has started.
    var birthTopic: String { "\(prefix)/status" }
  }

  package init(version: String, topics: BaseTopics) {
    self.version = version
    self.topics = topics
  }

  /// `adoptTimeout` where routers on another network are to be adopted.
  package static let adoptTimeoutSeconds = 300
}

/// Settings of one home that differ from those of all homes; nil: the same.
package struct HomeOverrides: Hashable, Sendable {
  package var alertsHold: Int?
  package var offlineAfter: Int?
  package var adopts: Bool?

  package init() {}
}

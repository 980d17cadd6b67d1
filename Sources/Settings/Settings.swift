// SPDX-License-Identifier: Apache-2.0

/// All that a person can set, checked: a value of this type is fit to run with.
///
/// `config/threadkeeper.yaml` tells every key with its default, its unit and its reason.
/// Paths are absolute.
package struct Settings: Sendable, Equatable {
  package var mqtt: MQTT
  package var store: Store
  package var alerts: Alerts
  package var preferred: Preferred
  package var presence: Presence
  package var discovery = Discovery()
  package var http = HTTP()
  package var log: Log
  package var consent: Consent
  package var limits = Limits()
  package var homeAssistant = HomeAssistant()
  /// Team → the broker's user names in it. No user is in two of them.
  package var teams: [String: [String]]
  /// Where programs of other users of this machine call.
  package var clients = Clients()
  /// User of this machine, by number → the team that its programs speak for.
  package var clientUsers: [UInt32: String] = [:]
  /// At least one; no base topic equals another or lies inside it.
  package var homes: [Home]
  /// Where state lies that has no path of its own; see `StateDirectory`.
  package var stateDirectory: String

  package init(
    mqtt: MQTT, store: Store, alerts: Alerts, preferred: Preferred, presence: Presence, log: Log,
    consent: Consent = Consent(), teams: [String: [String]], homes: [Home], stateDirectory: String
  ) {
    self.mqtt = mqtt
    self.store = store
    self.alerts = alerts
    self.preferred = preferred
    self.presence = presence
    self.log = log
    self.consent = consent
    self.teams = teams
    self.homes = homes
    self.stateDirectory = stateDirectory
  }

  package struct Alerts: Sendable, Equatable {
    /// How long a condition must hold before its alert is raised. Seconds, 0…86,400.
    package var holdSeconds: Int = 30

    package init() {}
  }

  package struct Presence: Sendable, Equatable {
    /// Silence after which a router counts as offline. Seconds, 0…604,800; 0 = never.
    package var offlineAfterSeconds: Int = 300

    package init() {}
  }

  /// What one login, or one team, may make of work and rows.
  package struct Limits: Sendable, Equatable {
    /// Events of one login, a second, 1…10,000.
    package var eventsPerSecond: Int = 100
    /// Events of one login at once, after a rest, 1…1,000,000.
    package var eventsBurst: Int = 100_000
    /// Border routers of one team in one home, 1…100,000.
    package var routersPerTeam: Int = 10_000

    package init() {}
  }

  /// A home: its credentials, routers and alerts are its own, and so is its base topic.
  package struct Home: Sendable, Equatable {
    package var name: String
    package var baseTopic: String

    package init(name: String, baseTopic: String) {
      self.name = name
      self.baseTopic = baseTopic
    }
  }
}

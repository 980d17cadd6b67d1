// SPDX-License-Identifier: Apache-2.0

import Settings

/// How the daemon is while it runs: what only its own process knows, and the local API tells.
package struct DaemonState: Equatable, Sendable {
  package struct Broker: Codable, Equatable, Sendable {
    package enum State: String, Codable, Sendable {
      case connecting, connected
      case notRunning = "not_running"
      case unknown
    }

    package var host: String
    package var port: Int
    package var embedded: Bool
    package var state: State
    package var problem: String?

    init(
      _ settings: Settings, state: State, problem: String? = nil, port: UInt16? = nil
    ) {
      switch settings.mqtt.host {
      case .embedded:
        host = "127.0.0.1"
        embedded = true
      case .named(let name):
        host = name
        embedded = false
      }
      self.port = Int(port ?? settings.mqtt.port)
      self.state = state
      self.problem = problem
    }
  }

  /// Whether events are taken up, in the words of `bridge/health`.
  package struct Intake: Codable, Equatable, Sendable {
    package enum State: String, Codable, Sendable {
      case running, connecting
      case backingOff = "backing_off"
      case notRunning = "not_running"
      case unknown
    }

    package var state: State
    package var reason: String?
  }

  package struct Login: Codable, Equatable, Sendable {
    package var username: String?
    package var source: LoginInUse.Source
  }

  /// What the broker does not take from the daemon.
  package struct Refused: Codable, Equatable, Sendable {
    package var topics: Int
    package var lastTopic: String
    /// Words of the last.
    package var problem: String
    package var remedy: String
  }

  package var pid: Int32
  package var broker: Broker
  /// Whom the daemon says it is to its broker. Its settings may be others than those of who asks.
  package var login: Login?
  package var intake: Intake
  /// Nil while it takes everything.
  package var refused: Refused?
  package var discovery: Discovery
  package var page: Page
}

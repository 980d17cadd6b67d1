// SPDX-License-Identifier: Apache-2.0

import Bridge
import Settings
import StatusPage

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

extension DaemonState {
  /// How the search for border routers on the local network is.
  package struct Discovery: Codable, Equatable, Sendable {
    package enum State: String, Codable, Sendable {
      case off, starting, running, unavailable
    }

    package var state: State
    /// Border routers that are advertised now.
    package var routers: Int?
    /// Records that are not listed: without an id, of a router that is listed already, or too many.
    package var refused: Int?
    package var problem: String?
    package var remedy: String?

    init(_ state: DiscoveryState) {
      switch state {
      case .off: self.state = .off
      case .starting: self.state = .starting
      case .running(let routers, let refused):
        self.state = .running
        (self.routers, self.refused) = (routers, refused)
      case .unavailable(let message, let remedy):
        self.state = .unavailable
        (problem, self.remedy) = (message, remedy)
      }
    }
  }
}

extension DaemonState {
  /// Whether a browser can open the status page.
  package struct Page: Codable, Equatable, Sendable {
    package enum State: String, Codable, Sendable {
      case off, starting, listening, unavailable
    }

    package var state: State
    /// Where a browser opens it, without the token; nil unless it is `listening`, and where only the trusted proxy
    /// opens it.
    package var url: String?
    /// Whether it is shown with the token only, or through the trusted proxy.
    package var needsToken: Bool?
    /// IP address of the trusted proxy that shows it; nil unless it is `listening`.
    package var trustedProxy: String?
    package var problem: String?
    package var remedy: String?

    init(_ state: State) { self.state = state }

    /// - Parameter server: nil where there is none, see `PageServer.init`.
    init(_ http: Settings.HTTP, besideStore store: String, _ server: PageServer?) {
      guard http.isEnabled else {
        self.init(.off)
        return
      }
      switch server?.condition.current {
      case .starting: self.init(.starting)
      case .listening(let port):
        self.init(.listening)
        var http = http
        http.port = UInt16(clamping: port)
        if http.token != nil || http.trustedProxy == nil { url = PageToken.address(http) }
        needsToken = http.token != nil || http.trustedProxy != nil
        trustedProxy = http.trustedProxy
      case .unavailable(let problem, let remedy):
        self.init(.unavailable)
        (self.problem, self.remedy) = (problem, remedy)
      case nil:
        self.init(.unavailable)
        problem = "the token cannot be read"
        remedy = "Let the daemon's user read \(http.tokenFile(besideStore: store)), and restart."
      }
    }
  }
}

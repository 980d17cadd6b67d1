// SPDX-License-Identifier: Apache-2.0

import Bridge

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

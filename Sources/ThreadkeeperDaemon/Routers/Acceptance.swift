// SPDX-License-Identifier: Apache-2.0

/// A network of a home, and whether routers are on it on purpose.
package struct NetworkSelection: Codable, Sendable {
  package var home: String
  /// 16 hexadecimal digits.
  package var extPanId: String
  package var accepted: Bool

  package init(home: String, extPanId: String, accepted: Bool) {
    self.home = home
    self.extPanId = extPanId
    self.accepted = accepted
  }
}

/// What has changed. Also what `networks accept --json` prints.
package struct NetworkAcceptance: Codable, Sendable {
  package var home: String
  package var extPanId: String
  package var changed: Bool
  /// Whether it is listed.
  package var known: Bool
}

/// What has changed. Also what `routers accept --json` prints.
package struct RouterAcceptance: Codable, Sendable {
  package var home: String
  package var borderAgentId: String
  package var changed: Bool
}

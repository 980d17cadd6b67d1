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

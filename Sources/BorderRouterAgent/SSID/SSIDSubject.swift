// SPDX-License-Identifier: Apache-2.0

import ThreadDataset

/// Whose Wi-Fi it is, as an `ssid` event names it.
package enum SSIDSubject: Equatable, Sendable, CustomStringConvertible {
  case router(BorderAgentID)
  /// The name that routers of the login's team have announced.
  case accessPoint(String)

  package var description: String {
    switch self {
    case .router(let agent): "router \(agent)"
    case .accessPoint(let name): "access point \(name)"
    }
  }
}

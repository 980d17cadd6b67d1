// SPDX-License-Identifier: Apache-2.0

/// What an alert says, in the words that people and scripts read. Holds names, never secrets.
package struct AlertFacts: Codable, Hashable, Sendable {
  package var router: String?
  package var routerName: String?
  package var networkName: String?
  package var extendedPANID: String?
  package var preferredNetworkName: String?
  package var preferredExtendedPANID: String?
  package var user: String?
  /// Names of the parameters that differ.
  package var differs: [String]?
  /// Of an adoption that failed: `denied`, `timeout`, …; of a router that is offline: `stopped`, `frozen`, …; of one
  /// on another network: `never_member`, or absent; of a home without a preferred network: `several_networks`, or absent.
  package var reason: String?
  /// What brought it up: `announce`, `dataset`, `ssid_changed`, `preferred_changed`, `start`, …
  package var trigger: String?
  package var summary: String
  package var remedy: String

  package init(summary: String, remedy: String) {
    self.summary = summary
    self.remedy = remedy
  }

  /// Equal but for what brought it up: then there is nothing new to tell.
  package func saysTheSame(as other: AlertFacts) -> Bool {
    var a = self
    var b = other
    a.trigger = nil
    b.trigger = nil
    return a == b
  }

  /// The summary as a headline. The name of a router or a login stays as it is.
  package var headline: String {
    let isName = [routerName, user].contains { $0.map { summary.hasPrefix($0) } ?? false }
    return isName ? summary : summary.capitalizedFirst
  }

  enum CodingKeys: String, CodingKey {
    case router
    case routerName = "router_name"
    case networkName = "network_name"
    case extendedPANID = "ext_pan_id"
    case preferredNetworkName = "preferred_network_name"
    case preferredExtendedPANID = "preferred_ext_pan_id"
    case user, differs, reason, trigger, summary, remedy
  }
}

extension String {
  package var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }
}

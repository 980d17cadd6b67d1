// SPDX-License-Identifier: Apache-2.0

/// Who decides.
package enum ConsentApprover: Sendable, Hashable {
  /// A login of the broker that the settings name in `consent.approvers`, and its team. The caller has
  /// checked that.
  case mqttUser(String, team: String)
  /// The daemon's own user, or root, at the command line. Whoever is one of the two can open the store
  /// itself.
  case commandLine(user: UInt32)
  /// Whoever shows the token of the daemon's status page.
  case statusPage
}

extension ConsentApprover: CustomStringConvertible {
  /// `mqtt user anna`, `uid 0 (command line)`, `the status page`.
  package var description: String {
    switch self {
    case .mqttUser(let name, _): "mqtt user \(name)"
    case .commandLine(let user): "uid \(user) (command line)"
    case .statusPage: "the status page"
    }
  }
}

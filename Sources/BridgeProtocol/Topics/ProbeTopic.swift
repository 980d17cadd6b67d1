// SPDX-License-Identifier: Apache-2.0

/// Topics on which nobody acts, for finding out what a broker lets a login do: `<base>/<group>/<user>/probe`.
///
/// A probe is never retained. Below `in/` the daemon drops it without a rejection, and without counting it.
package struct ProbeTopic: Sendable, Hashable {
  /// What is below a base topic, by who may read and write it.
  package enum Group: String, Sendable, CaseIterable {
    /// Events and requests: written by their user, read by the daemon.
    case inbound = "in"
    /// Answers and datasets: written by the daemon, read by their user.
    case outbound = "out"
    // States, events and alerts: written by the daemon, read by monitors.
    case bridge, router, network, alert
  }

  /// The last level.
  package static let name = "probe"
  /// A user of the broker that nobody is, so that a topic of this user is another's to every login.
  package static let nobody = "threadkeeper-probe"

  /// Of the home.
  package let base: String
  package let group: Group
  package let user: String

  package init(base: String, group: Group, user: String = ProbeTopic.nobody) {
    self.base = base
    self.group = group
    self.user = user
  }

  package var text: String { "\(base)/\(group.rawValue)/\(user)/\(Self.name)" }
}

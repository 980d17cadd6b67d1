// SPDX-License-Identifier: Apache-2.0

import SealedEnvelope

/// A user of the broker whose keys the daemon knows.
package struct EnrolledClient: Sendable {
  /// What the daemon takes from this user.
  package enum Trust: String, CaseIterable, Codable, Sendable {
    /// The broker's word is enough: plain events are taken too.
    case broker
    /// Only what this user has signed counts. For brokers where several share a login.
    case signed
  }

  package let home: String
  package let user: String
  package var keys: PublicIdentity
  package var trust: Trust
  /// For people; may be empty.
  package var label: String
  /// Unix seconds.
  package var enrolledAt: Int64
  package var enrolledBy: String
  /// Its keys count no more. It is kept of users whose trust was `signed`: what comes under their names
  /// in plaintext is believed as little as before.
  package var isRevoked = false

  package init(
    home: String, user: String, keys: PublicIdentity, trust: Trust = .broker, label: String = "",
    enrolledAt: Int64, enrolledBy: String
  ) {
    self.home = home
    self.user = user
    self.keys = keys
    self.trust = trust
    self.label = label
    self.enrolledAt = enrolledAt
    self.enrolledBy = enrolledBy
  }
}

// SPDX-License-Identifier: Apache-2.0

import Broker

/// An alert's row.
package struct AlertRecord: Sendable {
  /// The raw values are stored.
  package enum Phase: Int64, Sendable {
    /// The condition holds, but not long enough yet. Nothing is published.
    case held = 0
    case firing = 1
    case resolved = 2
  }

  package let fingerprint: AlertFingerprint
  let home: Int64
  package let name: AlertName
  /// The border agent id, the user, or empty for the home itself.
  package let subject: String
  package var phase: Phase
  /// What was published last, or will be published first.
  package var facts: AlertFacts
  /// The next text of a resolved alert whose condition holds again, if that lasts.
  var heldFacts: AlertFacts?
  /// When the condition began. Stored, so that a restart of the daemon does not restart the hold.
  var heldSince: WireTime
  package var startsAt: WireTime?
  package var updatedAt: WireTime
  package var endsAt: WireTime?
  package var sequence: Int64

  /// Whether it was published: it fires, or it fired and its condition may hold again.
  var wasPublished: Bool { phase != .held || endsAt != nil }

  package var severity: AlertName.Severity { name.severity(facts.reason) }

  /// Notes the text for when the condition lasts.
  mutating func hold(_ wanted: AlertFacts) {
    if wasPublished { heldFacts = wanted } else { facts = wanted }
  }

  package func state(home: String) -> AlertState {
    AlertState(
      fingerprint: fingerprint.description, name: name,
      status: phase == .firing ? .firing : .resolved, home: home, facts: facts,
      startsAt: startsAt ?? heldSince, updatedAt: updatedAt, endsAt: endsAt, sequence: sequence)
  }
}

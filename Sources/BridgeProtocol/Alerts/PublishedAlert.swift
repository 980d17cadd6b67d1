// SPDX-License-Identifier: Apache-2.0

/// What was true of an alert when an event told of it. Stored with the event: the alert itself goes on,
/// and may be forgotten, while the event waits for the broker.
package struct PublishedAlert: Codable, Hashable, Sendable {
  package let name: AlertName
  package let facts: AlertFacts
  /// Milliseconds since 1970.
  package let startsAt: Int64
  package let sequence: Int64
  /// Of an update that has changed it.
  package let previousSeverity: AlertName.Severity?

  package init(
    name: AlertName, facts: AlertFacts, startsAt: WireTime, sequence: Int64,
    previousSeverity: AlertName.Severity? = nil
  ) {
    self.previousSeverity = previousSeverity
    self.name = name
    self.facts = facts
    self.startsAt = startsAt.milliseconds
    self.sequence = sequence
  }
}

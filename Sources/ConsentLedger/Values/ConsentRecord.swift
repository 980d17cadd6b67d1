// SPDX-License-Identifier: Apache-2.0

import ThreadRequests

/// What became of a request, or of a grant: a line of the history.
package struct ConsentRecord: Sendable, Codable, Hashable {
  package enum Outcome: String, Sendable, Codable {
    case approved, denied, expired
    /// Of a grant.
    case revoked
  }

  /// Of the request; of the grant where one was revoked.
  package let id: ConsentID
  package let outcome: Outcome
  package let requester: ConsentRequester
  package let subject: ConsentSubject
  /// Milliseconds since 1970.
  package let created: Int64
  package let decided: Int64
  /// Nil where it expired.
  package let decidedBy: String?
  package let scope: ConsentScope?
  /// What came of `always`.
  package let grant: ConsentID?
  /// False: nothing was given. Otherwise nil; the audit says what was given.
  package var given: Bool?
  /// Why not.
  package var obstacle: ConsentObstacle?

  enum CodingKeys: String, CodingKey {
    case id, outcome, requester, subject, created, decided
    case decidedBy = "decided_by"
    case scope, grant, given
    case obstacle = "not_given"
  }
}

/// A request that waits no more: what was decided, and where the answers go.
package struct EndedConsent: Sendable {
  package let record: ConsentRecord
  package let replies: [ConsentReply]
}

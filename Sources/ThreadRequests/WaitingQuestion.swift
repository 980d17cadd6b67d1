// SPDX-License-Identifier: Apache-2.0

/// A question that waits for a person, as its own requester is told of it.
package struct WaitingQuestion: Codable, Hashable, Sendable {
  package var id: String
  /// What was asked for: `preferred/get`.
  package var command: String
  /// Of `network/get`, whose requester has named it.
  package var extendedPANID: String?
  /// RFC 3339.
  package var expiresAt: String
  /// Who would get what, and why it matters. Only who may decide is told: it names networks.
  package var reason: String?

  enum CodingKeys: String, CodingKey {
    case id, command, reason
    case extendedPANID = "ext_pan_id"
    case expiresAt = "expires_at"
  }

  package init(
    id: String, command: String, extendedPANID: String?, expiresAt: String, reason: String?
  ) {
    self.id = id
    self.command = command
    self.extendedPANID = extendedPANID
    self.expiresAt = expiresAt
    self.reason = reason
  }
}

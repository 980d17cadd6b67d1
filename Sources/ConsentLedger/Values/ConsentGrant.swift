// SPDX-License-Identifier: Apache-2.0

/// An "always": for this requester with its key, this command, and these networks. One with
/// another Extended PAN ID, name, team or network key is another one, and is asked about again.
package struct ConsentGrant: Sendable, Codable, Hashable {
  package let id: ConsentID
  package let requester: ConsentRequester
  package let subject: ConsentSubject
  /// Milliseconds since 1970.
  package let created: Int64
  /// Who approved it.
  package let grantedBy: String

  enum CodingKeys: String, CodingKey {
    case id, requester, subject, created
    case grantedBy = "granted_by"
  }
}

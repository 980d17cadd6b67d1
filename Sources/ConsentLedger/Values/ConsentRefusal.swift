// SPDX-License-Identifier: Apache-2.0

/// Why the ledger does not do what it was asked for.
package struct ConsentRefusal: Error, Sendable, Hashable {
  /// As in an answer of the protocol.
  package enum Code: String, Sendable {
    case rateLimited = "rate_limited"
    case denied = "consent_denied"
    case staleID = "stale_id"
    case notAuthorized = "not_authorized"
    case notFound = "not_found"
    case conflict
  }

  package let code: Code
  /// A sentence without a full stop; no secret.
  package let message: String

  package init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }
}

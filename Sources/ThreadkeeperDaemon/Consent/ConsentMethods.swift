// SPDX-License-Identifier: Apache-2.0

import ConsentLedger
import ThreadRequests
import VarlinkSocket

/// `io.threadkeeper.Consent`: what waits for consent, and what was decided.
package enum ConsentMethods {
  private static let interface = VarlinkInterface.consent.name

  package static let list = VarlinkMethod<VarlinkNothing, ConsentReport.List>(
    interface, "List", for: .reader)
  package static let watch = VarlinkStream<VarlinkNothing, ConsentReport.List>(
    interface, "Watch", for: .reader)
  package static let approve = VarlinkMethod<Approval, ConsentReport.Ended>(
    interface, "Approve", for: .owner)
  package static let deny = VarlinkMethod<Selection, ConsentReport.Ended>(
    interface, "Deny", for: .owner)
  package static let ask = VarlinkMethod<RouterSelection, VarlinkNothing>(
    interface, "Ask", for: .owner)
  package static let grants = VarlinkMethod<VarlinkNothing, ConsentReport.Grants>(
    interface, "Grants", for: .reader)
  package static let revoke = VarlinkMethod<Selection, ConsentReport.Revoked>(
    interface, "Revoke", for: .owner)
  package static let history = VarlinkMethod<Limit, ConsentReport.History>(
    interface, "History", for: .reader)

  package struct Approval: Codable, Sendable {
    package var id: String
    package var scope: ConsentScope

    package init(id: String, scope: ConsentScope) {
      self.id = id
      self.scope = scope
    }
  }

  /// A request, or a grant.
  package struct Selection: Codable, Sendable {
    package var id: String

    package init(id: String) { self.id = id }
  }

  package struct Limit: Codable, Sendable {
    /// The most decisions; nil is all that are kept.
    package var limit: Int?

    package init(_ limit: Int?) { self.limit = limit }
  }
}

extension CommandFailure {
  package init(_ refusal: ConsentRefusal) {
    switch refusal.code {
    case .staleID:
      self.init(
        .noInput, refusal.message, remedy: "`threadkeeper consent list` shows what waits")
    case .notFound:
      self.init(
        .noInput, refusal.message,
        remedy: "`threadkeeper consent list --grants` shows what there is")
    case .notAuthorized, .denied: self.init(.notPermitted, refusal.message)
    case .conflict: self.init(.usage, refusal.message)
    case .rateLimited: self.init(.temporary, refusal.message)
    }
  }
}

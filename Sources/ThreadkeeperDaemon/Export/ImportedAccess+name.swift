// SPDX-License-Identifier: Apache-2.0

import ClientEnrolment
import KeychainCore

extension ImportedAccess {
  /// Of which home an item enrols a client, or says that one is revoked.
  package static func home(of item: NewItem) -> String? {
    switch ImportedAccess(item) {
    case .enrolment, .revocation: EnrolledClient(imported: item)?.home
    default: nil
    }
  }

  /// What a person knows it by; nil for what is told by its number only.
  package static func name(of item: NewItem) -> String? {
    switch ImportedAccess(item) {
    case .enrolment, .revocation, .revocationOfEnrolled:
      EnrolledClient(imported: item).map { "\($0.user), home \($0.home)" }
    case .grant, .localGrant:
      grant(item.attributes).map { "\($0.subject) to \($0.requester)" }
    case .adoption, .unknown:
      [ItemAttribute.service, .account].compactMap { item.attributes[$0]?.string }
        .filter { !$0.isEmpty }.joined(separator: " ")
    case .identity, .pending, .history, nil: nil
    }
  }
}

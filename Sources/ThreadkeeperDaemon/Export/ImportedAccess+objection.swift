// SPDX-License-Identifier: Apache-2.0

import ClientEnrolment
import ConsentLedger
import KeychainCore
import SealedEnvelope

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension ImportedAccess {
  /// Why an item must not come in; nil: it may.
  static func objection(to item: NewItem) -> String? {
    guard let access = ImportedAccess(item), !access.comesNever else { return nil }
    guard item.accessible == .afterFirstUnlock else {
      return "is accessible in a way that the daemon cannot work with"
    }
    switch access {
    case .identity: return isIdentity(item) ? nil : "has keys of a daemon that are none"
    case .enrolment, .revocation, .revocationOfEnrolled:
      return isEnrolment(item) ? nil : "has an enrolment that is none"
    case .grant: return grant(item.attributes) != nil ? nil : "has a consent that is none"
    case .localGrant, .pending, .history, .adoption, .unknown: return nil
    }
  }

  private static func isIdentity(_ item: NewItem) -> Bool {
    (item.attributes[.account]?.string ?? "").isEmpty
      && (try? Identity(secrets: item.secret)) != nil
  }

  /// Also of a name that `clients revoke` takes: nobody could take it back otherwise.
  private static func isEnrolment(_ item: NewItem) -> Bool {
    guard let client = EnrolledClient(imported: item) else { return false }
    return (try? EnrolmentService.checked(client.user)) != nil
  }

  /// One that `consent revoke` finds.
  package static func grant(_ attributes: [ItemAttribute: AttributeValue]) -> ConsentGrant? {
    guard let bytes = attributes[.generic]?.data,
      let grant = try? JSONDecoder().decode(ConsentGrant.self, from: Data(bytes)),
      let id = ConsentID(attributes[.account]?.string ?? "", .grant), id == grant.id
    else { return nil }
    return grant
  }
}

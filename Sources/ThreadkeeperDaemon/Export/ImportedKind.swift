// SPDX-License-Identifier: Apache-2.0

import ClientEnrolment
import ConsentLedger
import KeychainCore
import SealedEnvelope
import ThreadCredentialStore

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What an item of an export is to an import.
enum ImportedKind {
  /// Credentials of a border router, or the preferred network.
  case credential
  /// What else the daemon keeps of a home: who owned a border agent id, networks that were preferred.
  case home
  /// The daemon's own keys.
  case identity
  /// An enrolment, or that it was revoked.
  case client
  /// "Always".
  case consent
  /// The login at a broker, and all that is not the daemon's own: programs have groups of their own.
  case other
  /// Never comes in. What was asked, decided and sent to a router where the export was made is over; a number is
  /// another user on another machine; and what only a newer program knows may decide about access.
  case leftBehind

  init(_ item: NewItem) {
    if let place = StoredPlace(item.itemClass, item.attributes) {
      switch place.kind {
      case .credential, .preferred: self = .credential
      case .owner, .former, .forgotten: self = .home
      case .adoption: self = .leftBehind
      }
      return
    }
    guard item.attributes[.accessGroup]?.string == ThreadCredentialStore.internalGroup,
      item.itemClass != .internetPassword
    else {
      self = .other
      return
    }
    let service = item.attributes[.service]?.string ?? ""
    switch service {
    case _ where item.itemClass != .genericPassword: self = .leftBehind
    case DaemonIdentityStore.service: self = .identity
    case ConsentLedger.Service.grant.rawValue:
      if case .systemUser? = Self.grant(item)?.requester.identity {
        self = .leftBehind
      } else {
        self = .consent
      }
    case _ where ClientEnrolmentStore.home(ofService: service) != nil: self = .client
    default: self = .leftBehind
    }
  }

  /// Why an item must not come in; nil: it may. Completes "record 7 …".
  static func rejectionReason(for item: NewItem) -> String? {
    if let place = StoredPlace(item.itemClass, item.attributes) {
      return place.rejectionReason(for: item)
    }
    let flaw: String
    switch ImportedKind(item) {
    case .identity
    where (item.attributes[.account]?.string ?? "") != ""
      || (try? Identity(secrets: item.secret)) == nil:
      flaw = "keys of a daemon"
    // Also of a name that `clients revoke` refuses: it could not be revoked.
    case .client where !isClient(item): flaw = "an enrolment"
    case .consent where grant(item) == nil: flaw = "a consent"
    case .identity, .client, .consent:
      return item.accessible == .afterFirstUnlock
        ? nil : "is accessible in a way that the daemon cannot work with"
    case .credential, .home, .other, .leftBehind: return nil
    }
    return "has \(flaw) that cannot be read"
  }

  /// Who is named as having access; nil for all else.
  static func name(of item: NewItem) -> ImportedName? {
    switch ImportedKind(item) {
    case .client:
      EnrolledClient(imported: item).flatMap {
        $0.isRevoked ? nil : ImportedName(client: "\($0.user), home \($0.home)")
      }
    case .consent: grant(item).map { ImportedName(consent: "\($0.subject) to \($0.requester)") }
    default: nil
    }
  }

  private static func isClient(_ item: NewItem) -> Bool {
    guard let client = EnrolledClient(imported: item) else { return false }
    return (try? EnrolmentService.checked(client.user)) != nil
  }

  /// One that `consent revoke` finds.
  private static func grant(_ item: NewItem) -> ConsentGrant? {
    guard let bytes = item.attributes[.generic]?.data,
      let grant = try? JSONDecoder().decode(ConsentGrant.self, from: Data(bytes)),
      ConsentID(item.attributes[.account]?.string ?? "", .grant) == grant.id
    else { return nil }
    return grant
  }
}

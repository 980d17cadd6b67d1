// SPDX-License-Identifier: Apache-2.0

import ClientEnrolment
import ConsentLedger
import KeychainCore
import ThreadCredentialStore

/// What an import brings that decides who may have credentials.
package enum ImportedAccess: String, Codable, CaseIterable, Sendable {
  case identity = "daemon_identity"
  case enrolment = "client_enrolment"
  /// That a client's keys count no more.
  case revocation = "client_revocation"
  /// The same of a client that is enrolled here with these keys.
  case revocationOfEnrolled = "client_revocation_enrolled_here"
  case grant = "consent_grant"
  /// For a user of the machine, by number.
  case localGrant = "consent_grant_local"
  case pending = "consent_pending"
  case history = "consent_history"
  /// What a router was being sent.
  case adoption = "router_adoption"
  /// Of the daemon's own, and this program does not know what: a newer one's may decide about access too.
  case unknown = "unknown"

  /// Nil for what decides nothing, and for what is not the daemon's own: programs have groups of their own. Whether
  /// an enrolment is revoked is not told by these.
  init?(_ itemClass: ItemClass, _ attributes: [ItemAttribute: AttributeValue]) {
    guard attributes[.accessGroup]?.string == ThreadCredentialStore.internalGroup else {
      return nil
    }
    // Of a broker.
    if itemClass == .internetPassword { return nil }
    let service = attributes[.service]?.string ?? ""
    switch service {
    case _ where itemClass != .genericPassword: self = .unknown
    case DaemonIdentityStore.service: self = .identity
    case ConsentLedger.Service.grant.rawValue:
      if case .systemUser? = Self.grant(attributes)?.requester.identity {
        self = .localGrant
      } else {
        self = .grant
      }
    case ConsentLedger.Service.pending.rawValue: self = .pending
    case ConsentLedger.Service.history.rawValue: self = .history
    case _ where ClientEnrolmentStore.home(ofService: service) != nil: self = .enrolment
    case _ where ImportedItems.isAdoption(itemClass, attributes): self = .adoption
    case _ where ImportedItems.home(of: itemClass, attributes) != nil: return nil
    default: self = .unknown
    }
  }

  init?(_ item: NewItem) {
    self.init(item.itemClass, item.attributes)
    if self == .enrolment, EnrolledClient(imported: item)?.isRevoked == true { self = .revocation }
  }

  /// What a daemon of a newer version names is of a kind that this one does not know.
  package init(from decoder: any Decoder) throws {
    self = Self(rawValue: try decoder.singleValueContainer().decode(String.self)) ?? .unknown
  }

  /// A number is another user's on another machine. Nobody waits for an answer there, what was decided is in the
  /// audit of the store where it was, and what was sent to a router was sent by the other daemon.
  var comesNever: Bool {
    switch self {
    case .localGrant, .pending, .history, .adoption, .unknown: true
    case .identity, .enrolment, .revocation, .revocationOfEnrolled, .grant: false
    }
  }
}

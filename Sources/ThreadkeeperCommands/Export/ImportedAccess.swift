// SPDX-License-Identifier: Apache-2.0

import ClientEnrolment
import ConsentLedger
import KeychainCore
import SQLiteDatabase
import SealedEnvelope
import ThreadCredentialStore

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What an import brings that decides who may have credentials.
enum ImportedAccess: String, Codable, CaseIterable, Sendable {
  case identity = "keeper_identity"
  case enrolment = "client_enrolment"
  case grant = "consent_grant"
  /// For a user of the machine, by number.
  case localGrant = "consent_grant_local"
  case pending = "consent_pending"
  case history = "consent_history"

  /// Nil for what is not the keeper's own: programs have groups of their own.
  init?(_ itemClass: ItemClass, _ attributes: [ItemAttribute: AttributeValue]) {
    guard itemClass == .genericPassword,
      attributes[.accessGroup]?.string == ThreadCredentialStore.internalGroup,
      let service = attributes[.service]?.string
    else { return nil }
    switch service {
    case KeeperIdentityStore.service: self = .identity
    case ConsentLedger.Service.grant.rawValue:
      if case .systemUser? = Self.grant(attributes)?.requester.identity {
        self = .localGrant
      } else {
        self = .grant
      }
    case ConsentLedger.Service.pending.rawValue: self = .pending
    case ConsentLedger.Service.history.rawValue: self = .history
    case _ where service.utf8.starts(with: ClientEnrolmentStore.servicePrefix.utf8):
      self = .enrolment
    default: return nil
    }
  }

  init?(_ item: NewItem) { self.init(item.itemClass, item.attributes) }

  init?(_ item: Item) { self.init(item.itemClass, item.attributes) }

  /// A number is another user's on another machine. Nobody waits for an answer there, and what was decided is in
  /// the audit of the store where it was.
  var comesNever: Bool { self == .localGrant || self == .pending || self == .history }

  /// Whether a store says already who may have what is in it. Then an export, which may be older than what was
  /// revoked since, has no say in that.
  static func isDecided(in keychain: Keychain, _ tx: ReadTransaction) throws -> Bool {
    // Whoever enrols a client, or takes clients over, has keys; to look for clients would open every row.
    try KeeperIdentityStore(keychain).isThere(tx) || ConsentLedger(keychain).hasDecided(tx)
  }

  // MARK: Objections

  /// Why an item must not come in; nil: it may.
  static func objection(to item: NewItem) -> String? {
    guard let access = ImportedAccess(item) else {
      return isKnown(item)
        ? nil : "is of the keeper's own, and this program does not know what: use the newer program"
    }
    guard !access.comesNever else { return nil }
    guard item.accessible == .afterFirstUnlock else {
      return "is accessible in a way that the keeper cannot work with"
    }
    switch access {
    case .identity: return isIdentity(item) ? nil : "has keys of a keeper that are none"
    case .enrolment: return isEnrolment(item) ? nil : "has an enrolment that is none"
    case .grant: return grant(item.attributes) != nil ? nil : "has a consent that is none"
    case .localGrant, .pending, .history: return nil
    }
  }

  /// What a newer program keeps may decide about access too, and would lie here until that one comes.
  private static func isKnown(_ item: NewItem) -> Bool {
    item.attributes[.accessGroup]?.string != ThreadCredentialStore.internalGroup
      || item.itemClass == .internetPassword || ImportedItems.home(of: item) != nil
  }

  private static func isIdentity(_ item: NewItem) -> Bool {
    (item.attributes[.account]?.string ?? "").isEmpty
      && (try? Identity(secrets: item.secret)) != nil
  }

  /// Also of a name that `clients revoke` takes: nobody could take it back otherwise.
  private static func isEnrolment(_ item: NewItem) -> Bool {
    guard let client = EnrolledClient(imported: item) else { return false }
    return (try? ClientsWork.checked(client.user)) != nil
  }

  /// One that `consent revoke` finds.
  private static func grant(_ attributes: [ItemAttribute: AttributeValue]) -> ConsentGrant? {
    guard let octets = attributes[.generic]?.data,
      let grant = try? JSONDecoder().decode(ConsentGrant.self, from: Data(octets)),
      let id = ConsentID(attributes[.account]?.string ?? "", .grant), id == grant.id
    else { return nil }
    return grant
  }

  // MARK: Names

  /// Of which home an item enrols a client.
  static func home(of item: NewItem) -> String? {
    guard ImportedAccess(item) == .enrolment else { return nil }
    return EnrolledClient(imported: item)?.home
  }

  /// What a person knows it by; nil for what is told by its number only.
  static func name(of item: NewItem) -> String? {
    switch ImportedAccess(item) {
    case .enrolment:
      EnrolledClient(imported: item).map { "\($0.user), home \($0.home)" }
    case .grant, .localGrant:
      grant(item.attributes).map { "\($0.subject) to \($0.requester)" }
    case .identity, .pending, .history, nil: nil
    }
  }

  /// For people, with how many there are.
  func words(_ count: Int) -> String {
    switch self {
    case .identity: "the keeper's own keys"
    case .enrolment: count == 1 ? "1 enrolled client" : "\(count) enrolled clients"
    case .grant: count == 1 ? "1 consent \"always\"" : "\(count) consents \"always\""
    case .localGrant:
      count == 1
        ? "1 consent \"always\" for a user of that machine"
        : "\(count) consents \"always\" for users of that machine"
    case .pending: count == 1 ? "1 request that waited" : "\(count) requests that waited"
    case .history: count == 1 ? "1 decision of then" : "\(count) decisions of then"
    }
  }
}

// SPDX-License-Identifier: Apache-2.0

import ConsentLedger
import KeychainCore
import SealedEnvelope
import ThreadCredentialStore

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What an import brings that decides who may have credentials.
enum ImportedAccess {
  private static let enrolments = "client-enrolment/"
  private static let identity = "keeper-identity"
  private static let grants = "thread-consent/grant"

  /// Why an item must not come in; nil: it may.
  static func objection(to item: NewItem) -> String? {
    guard let service = service(of: item) else { return nil }
    let flaw: String?
    switch service {
    case identity: flaw = objection(toIdentity: item)
    case grants: flaw = objection(toGrant: item)
    case _ where service.hasPrefix(enrolments): flaw = nil
    default: return nil
    }
    guard item.accessible == .afterFirstUnlock else {
      return "is accessible in a way that the keeper cannot work with"
    }
    return flaw
  }

  /// Of which home a client is enrolled.
  static func home(of item: NewItem) -> String? {
    guard let service = service(of: item), service.hasPrefix(enrolments) else { return nil }
    return String(service.dropFirst(enrolments.count))
  }

  /// Nil for what is not the keeper's own: programs have groups of their own.
  private static func service(of item: NewItem) -> String? {
    guard item.itemClass == .genericPassword,
      item.attributes[.accessGroup]?.string == ThreadCredentialStore.internalGroup
    else { return nil }
    return item.attributes[.service]?.string
  }

  private static func objection(toIdentity item: NewItem) -> String? {
    guard (item.attributes[.account]?.string ?? "").isEmpty,
      (try? Identity(secrets: item.secret)) != nil
    else { return "has keys of a keeper that are none" }
    return nil
  }

  private static func objection(toGrant item: NewItem) -> String? {
    guard let octets = item.attributes[.generic]?.data,
      let grant = try? JSONDecoder().decode(ConsentGrant.self, from: Data(octets)),
      grant.id.description == item.attributes[.account]?.string
    else { return "has a consent that is none" }
    return nil
  }
}

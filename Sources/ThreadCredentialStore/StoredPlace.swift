// SPDX-License-Identifier: Apache-2.0

import KeychainCore
import SodiumCrypto
import ThreadDataset

/// Which of a home's items an item is.
package struct StoredPlace {
  package enum Kind: String, CaseIterable, Sendable {
    case credential = "thread-network/"
    case owner = "thread-owner/"
    case preferred = "thread-preferred/"
    case former = "thread-preferred-history/"
    case forgotten = "thread-preferred-forgotten/"
    case adoption = "thread-adoption/"
  }

  package let kind: Kind
  package let home: String

  /// Nil for what is not the bridge's. Items of programs may have such names too, but for those of
  /// credentials: then they are in a group of their own.
  package init?(_ itemClass: ItemClass, _ attributes: ItemAttributes) {
    guard itemClass == .genericPassword, let service = attributes[.service]?.string,
      // By bytes: a mark that combines with the slash is of the home's name.
      let kind = Kind.allCases.first(where: { service.utf8.starts(with: $0.rawValue.utf8) }),
      kind == .credential
        || attributes[.accessGroup]?.string == ThreadCredentialStore.internalGroup
    else { return nil }
    self.kind = kind
    home = String(Substring(service.utf8.dropFirst(kind.rawValue.utf8.count)))
  }

  /// Why an import must not bring an item of this place, which has to be what the bridge itself would have written.
  ///
  /// - Returns: nil: it may. Else what completes "record 7 …".
  package func rejectionReason(for item: NewItem) -> String? {
    let account = item.attributes[.account]?.string ?? ""
    switch kind {
    case .preferred: break
    case .former:
      if !FormerNetwork.isID(account) { return "has no id of a network that was preferred" }
    case .forgotten: if !account.isEmpty { return "has an account, which such an item has not" }
    case .credential, .owner, .adoption:
      if BorderAgentID(hex: account)?.description != account { return "names no border agent id" }
    }
    let isInternal =
      item.attributes[.accessGroup]?.string == ThreadCredentialStore.internalGroup
    guard isInternal == (kind != .credential) else {
      return "is of a group that such an item does not have"
    }
    guard item.accessible == .afterFirstUnlock else {
      return "is accessible in a way that the daemon cannot work with"
    }
    switch kind {
    case .credential, .preferred, .former: break
    case .owner, .forgotten, .adoption: return nil
    }
    var dataset = item.secret.withUnsafeBytes { Array($0) }
    defer { wipe(&dataset) }
    return (try? OperationalDataset(bytes: dataset)) == nil ? "has a dataset that is none" : nil
  }
}

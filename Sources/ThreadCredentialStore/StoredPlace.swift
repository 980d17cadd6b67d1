// SPDX-License-Identifier: Apache-2.0

import KeychainCore

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
}

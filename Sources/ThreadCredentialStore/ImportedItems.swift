// SPDX-License-Identifier: Apache-2.0

import KeychainCore
import ThreadDataset

/// What an import brings for the bridge: it has to be what the bridge itself would have written.
package struct ImportedItems: Sendable {
  /// Of which home, and whose credentials.
  package struct Credential: Hashable, Sendable {
    package let home: String
    package let agent: BorderAgentID
  }

  /// Credentials that were written.
  package private(set) var credentials: [Credential] = []
  /// Homes of which anything was seen.
  package private(set) var homes: Set<String> = []

  package init() {}

  /// Why an item must not come in; nil: it may.
  package static func objection(to item: NewItem) -> String? {
    guard let place = Place(item.itemClass, item.attributes) else { return nil }
    let account = item.attributes[.account]?.string ?? ""
    if place.kind != .preferred, BorderAgentID(hex: account)?.description != account {
      return "names no border agent id"
    }
    let isInternal =
      item.attributes[.accessGroup]?.string == ThreadCredentialStore.internalGroup
    guard isInternal == (place.kind != .credential) else {
      return "is of a group that such an item does not have"
    }
    guard item.accessible == .afterFirstUnlock else {
      return "is accessible in a way that the keeper cannot work with"
    }
    guard place.kind != .owner else { return nil }
    let dataset = item.secret.withUnsafeBytes { Array($0) }
    return (try? OperationalDataset(octets: dataset)) == nil ? "has a dataset that is none" : nil
  }

  package mutating func see(_ item: NewItem) {
    if let place = Place(item.itemClass, item.attributes) { homes.insert(place.home) }
  }

  package mutating func wrote(_ item: Item) {
    guard let place = Place(item.itemClass, item.attributes), place.kind == .credential,
      let agent = BorderAgentID(hex: item[.account]?.string ?? "")
    else { return }
    credentials.append(Credential(home: place.home, agent: agent))
  }

  private struct Place {
    enum Kind: String, CaseIterable {
      case credential = "thread-network/"
      case owner = "thread-owner/"
      case preferred = "thread-preferred/"
    }

    let kind: Kind
    let home: String

    /// Nil for what is not the bridge's. Items of programs may have such names too, but for those of
    /// credentials: then they are in a group of their own.
    init?(_ itemClass: ItemClass, _ attributes: [ItemAttribute: AttributeValue]) {
      guard itemClass == .genericPassword, let service = attributes[.service]?.string,
        let kind = Kind.allCases.first(where: { service.hasPrefix($0.rawValue) }),
        kind == .credential
          || attributes[.accessGroup]?.string == ThreadCredentialStore.internalGroup
      else { return nil }
      self.kind = kind
      home = String(service.dropFirst(kind.rawValue.count))
    }
  }
}

// SPDX-License-Identifier: Apache-2.0

import KeychainCore
import SodiumCrypto
import ThreadDataset

/// What an import brings for the bridge: it has to be what the bridge itself would have written.
package struct ImportedItems: Sendable {
  /// Of which home, and whose credentials.
  package struct Credential: Hashable, Sendable {
    package let home: String
    package let agent: BorderAgentID
  }

  /// Credentials that were written, or deleted for what was written.
  package private(set) var credentials: [Credential] = []
  /// Homes of which anything was seen.
  package private(set) var homes: Set<String> = []

  package init() {}

  /// Why an item must not come in; nil: it may.
  package static func objection(to item: NewItem) -> String? {
    guard let place = ImportedPlace(item.itemClass, item.attributes) else { return nil }
    let account = item.attributes[.account]?.string ?? ""
    switch place.kind {
    case .preferred: break
    case .former:
      if !FormerNetwork.isID(account) { return "has no id of a network that was preferred" }
    case .forgotten: if !account.isEmpty { return "has an account, which such an item has not" }
    case .credential, .owner, .adoption:
      if BorderAgentID(hex: account)?.description != account { return "names no border agent id" }
    }
    let isInternal =
      item.attributes[.accessGroup]?.string == ThreadCredentialStore.internalGroup
    guard isInternal == (place.kind != .credential) else {
      return "is of a group that such an item does not have"
    }
    guard item.accessible == .afterFirstUnlock else {
      return "is accessible in a way that the daemon cannot work with"
    }
    switch place.kind {
    case .credential, .preferred, .former: break
    case .owner, .forgotten, .adoption: return nil
    }
    var dataset = item.secret.withUnsafeBytes { Array($0) }
    defer { wipe(&dataset) }
    return (try? OperationalDataset(bytes: dataset)) == nil ? "has a dataset that is none" : nil
  }

  /// Of which home an item is; nil for what is not the bridge's.
  package static func home(of item: NewItem) -> String? {
    home(of: item.itemClass, item.attributes)
  }

  package static func home(
    of itemClass: ItemClass, _ attributes: [ItemAttribute: AttributeValue]
  ) -> String? {
    ImportedPlace(itemClass, attributes)?.home
  }

  /// Whether an item is the record of an adoption. It stays out: this daemon has sent nothing.
  package static func isAdoption(
    _ itemClass: ItemClass, _ attributes: [ItemAttribute: AttributeValue]
  ) -> Bool {
    ImportedPlace(itemClass, attributes)?.kind == .adoption
  }

  package mutating func see(_ item: NewItem) {
    if let home = Self.home(of: item) { homes.insert(home) }
  }

  package mutating func wrote(_ item: Item) { note(item) }

  package mutating func removed(_ item: Item) { note(item) }

  private mutating func note(_ item: Item) {
    guard let place = ImportedPlace(item.itemClass, item.attributes),
      let agent = BorderAgentID(hex: item[.account]?.string ?? "")
    else { return }
    switch place.kind {
    case .credential: credentials.append(Credential(home: place.home, agent: agent))
    case .owner, .preferred, .former, .forgotten, .adoption: break
    }
  }
}

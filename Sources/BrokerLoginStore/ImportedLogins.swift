// SPDX-License-Identifier: Apache-2.0

import KeychainCore

/// The logins among the items of one import. One broker has one login, so two of different users cannot come in both.
package struct ImportedLogins {
  /// By the broker's name, as bytes.
  private var seen: [[UInt8]: [[ItemAttribute: AttributeValue]]] = [:]

  package init() {}

  /// Why an item cannot come in beside those before it; nil: it can. Completes "record 7 …".
  package mutating func objection(to item: NewItem) -> String? {
    guard item.itemClass == .internetPassword,
      item.attributes[.accessGroup] == .string(BrokerLoginStore.group),
      let server = item.attributes[.server]?.string
    else { return nil }
    let others = seen[Array(server.utf8), default: []]
    guard !others.contains(where: { Self.isRival(item.attributes, of: $0) }) else {
      return "is another login at a broker of which a record before it has one"
    }
    seen[Array(server.utf8)] = others + [item.attributes]
    return nil
  }

  /// What the item does not say may be anything, as where it is compared with those of a store.
  private static func isRival(
    _ item: [ItemAttribute: AttributeValue], of other: [ItemAttribute: AttributeValue]
  ) -> Bool {
    for name in [ItemAttribute.port, .protocolType] {
      guard let value = item[name] else { continue }
      guard value.matches(other[name] ?? .data([])) else { return false }
    }
    let account = item[.account] ?? .string("")
    return !account.matches(other[.account] ?? .string(""))
  }
}

// SPDX-License-Identifier: Apache-2.0

import KeychainCore
import SQLiteDatabase

extension BrokerLoginStore {
  /// The logins of other users at the same broker: an import brings a login, and one broker has one.
  package static func rivals(
    of item: NewItem, in keychain: Keychain, _ tx: ReadTransaction
  ) throws(KeychainError) -> [ItemRival] {
    guard item.itemClass == .internetPassword, item.attributes[.accessGroup] == .string(group),
      let server = item.attributes[.server]
    else { return [] }
    var attributes: [ItemAttribute: AttributeValue] = [
      .accessGroup: .string(group), .server: server,
    ]
    for name in [ItemAttribute.port, .protocolType] { attributes[name] = item.attributes[name] }
    let account = item.attributes[.account] ?? .string("")
    return try keychain.items(
      matching: ItemQuery(.internetPassword, attributes, unreadable: .skip), in: tx
    ).filter { !($0[.account] ?? .string("")).matches(account) }
      .map { ItemRival($0, differs: .account) }
  }
}

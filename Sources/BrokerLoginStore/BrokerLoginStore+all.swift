// SPDX-License-Identifier: Apache-2.0

import KeychainCore
import SQLiteDatabase

extension BrokerLoginStore {
  /// The logins at all brokers, by broker and name. No password is opened.
  package static func all(
    in keychain: Keychain, _ tx: ReadTransaction
  ) throws(KeychainError) -> [(address: BrokerAddress, username: String)] {
    let items = try keychain.items(
      matching: ItemQuery(
        .internetPassword, [.accessGroup: .string(group)], unreadable: .skip), in: tx)
    var logins: [(address: BrokerAddress, username: String)] = []
    for item in items {
      guard let host = item[.server]?.string,
        let port = item[.port]?.integer.flatMap({ UInt16(exactly: $0) })
      else { continue }
      let address = BrokerAddress(
        host: host, port: port, isEncrypted: item[.protocolType]?.string == "mqts")
      logins.append((address, item[.account]?.string ?? ""))
    }
    return logins.sorted { ($0.address.url, $0.username) < ($1.address.url, $1.username) }
  }
}

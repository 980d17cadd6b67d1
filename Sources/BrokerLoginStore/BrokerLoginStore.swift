// SPDX-License-Identifier: Apache-2.0

import KeychainCore
import SQLiteDatabase
import SodiumCrypto

/// The daemon's login at its broker, kept as an internet password (`inet`):
///
/// | attribute | value |
/// |---|---|
/// | server, port | of the broker; the name in small letters |
/// | protocol | `mqtt`, or `mqts` with TLS |
/// | authentication type | `dflt` |
/// | account | the user name |
/// | access group | `threadkeeper.internal` |
/// | accessible | after first unlock |
///
/// `login` keeps one for each broker: a new one replaces that of another user.
package struct BrokerLoginStore: Sendable {
  static let group = "threadkeeper.internal"
  private static let authenticationType = "dflt"

  let keychain: Keychain
  package let address: BrokerAddress

  package init(_ keychain: Keychain, _ address: BrokerAddress) {
    self.keychain = keychain
    self.address = address
  }

  /// The login that is stored.
  ///
  /// - Parameter username: nil: of any user; the one that was changed last, should there be several.
  /// - Throws: `interactionNotAllowed` while the class is locked, `decode` when the row was altered.
  package func find(username: String? = nil, _ tx: ReadTransaction) throws(KeychainError)
    -> BrokerLogin?
  {
    let found = try items(username: username, tx).max { $0.modified < $1.modified }
    guard let item = found else { return nil }
    return BrokerLogin(
      username: item[.account]?.string ?? "", password: try keychain.secret(of: item, in: tx),
      item: item)
  }

  func items(username: String?, _ tx: ReadTransaction) throws(KeychainError) -> [Item] {
    var attributes = key
    if let username { attributes[.account] = .string(username) }
    return try keychain.items(matching: ItemQuery(.internetPassword, attributes), in: tx)
  }

  /// What makes the item unique, but for the account: with that a look-up needs one row only.
  var key: ItemAttributes {
    [
      .server: .string(address.host.lowercased()), .port: .integer(Int64(address.port)),
      .protocolType: .string(address.isEncrypted ? "mqts" : "mqtt"),
      .authenticationType: .string(Self.authenticationType), .securityDomain: .string(""),
      .path: .string(""), .accessGroup: .string(Self.group),
    ]
  }
}

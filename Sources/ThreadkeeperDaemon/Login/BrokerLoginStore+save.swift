// SPDX-License-Identifier: Apache-2.0

import KeychainCore
import SQLiteDatabase
import SodiumCrypto

extension BrokerLoginStore {
  package enum Change: String, Sendable {
    case added, updated
  }

  /// Stores a login that the broker has accepted.
  ///
  /// - Parameter known: what a search found before the person was asked. Others may have come in
  ///   between: an update that finds nothing becomes an add, an add that meets an item an update.
  @discardableResult
  package func save(
    _ login: BrokerLogin, over known: BrokerLogin? = nil, _ tx: WriteTransaction
  ) throws(KeychainError) -> Change {
    let change = try write(login, over: known?.username == login.username ? known?.item : nil, tx)
    for other in try items(username: nil, tx) where other[.account]?.string != login.username {
      try keychain.delete(other, in: tx)
    }
    return change
  }

  private func write(
    _ login: BrokerLogin, over item: Item?, _ tx: WriteTransaction
  ) throws(KeychainError) -> Change {
    if let item {
      do {
        try keychain.update(item, secret: login.password, in: tx)
        return .updated
      } catch {
        guard error.status == .itemNotFound else { throw error }
      }
    }
    do {
      try add(login, tx)
      return .added
    } catch {
      guard error.status == .duplicateItem else { throw error }
    }
    guard let met = try items(username: login.username, tx).first else {
      throw KeychainError(.internalError, "an item is there and cannot be found")
    }
    try keychain.update(met, secret: login.password, in: tx)
    return .updated
  }

  private func add(_ login: BrokerLogin, _ tx: WriteTransaction) throws(KeychainError) {
    var attributes = key.filter { $0.value != .string("") }
    attributes[.account] = .string(login.username)
    attributes[.label] = .string("\(address)")
    attributes[.itemDescription] = .string("MQTT password")
    try keychain.add(
      NewItem(
        .internetPassword, attributes: attributes, secret: login.password,
        accessible: .afterFirstUnlock), in: tx)
  }

  /// Deletes every login of this broker.
  ///
  /// - Returns: the user names; none when there was nothing.
  package func deleteAll(_ tx: WriteTransaction) throws(KeychainError) -> [String] {
    var names: [String] = []
    for item in try items(username: nil, tx) {
      try keychain.delete(item, in: tx)
      names.append(item[.account]?.string ?? "")
    }
    return names.sorted()
  }
}

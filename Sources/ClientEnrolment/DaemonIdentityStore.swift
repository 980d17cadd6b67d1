// SPDX-License-Identifier: Apache-2.0

import KeychainCore
import SQLiteDatabase
import SealedEnvelope
import SodiumCrypto

/// The daemon's own keys: clients seal to them, and believe what they sign. One pair of pairs for the
/// store, whatever homes it has.
package struct DaemonIdentityStore: Sendable {
  package static let service = "keeper-identity"

  private let keychain: Keychain

  package init(_ keychain: Keychain) {
    self.keychain = keychain
  }

  /// - Throws: `decode` when it is damaged.
  package func find(_ tx: ReadTransaction) throws(KeychainError) -> Identity? {
    guard let found = try keychain.first(matching: Self.query, in: tx) else { return nil }
    return try Self.identity(found.secret)
  }

  /// Whether there are any that have been used. Damaged ones may have been.
  package func isUsed(_ tx: ReadTransaction) throws(KeychainError) -> Bool {
    do throws(KeychainError) {
      return try keychain.items(matching: Self.query, in: tx).contains { !Self.isOnlyShown($0) }
    } catch {
      guard error.isItemDamaged else { throw error }
      return true
    }
  }

  /// Whether an item has keys of the daemon that have been shown, and no client was ever enrolled beside them.
  package static func isOnlyShown(_ item: Item) -> Bool {
    item.itemClass == .genericPassword && item[.service]?.string == service
      && item.accessGroup == ClientEnrolmentStore.group && item[.comment]?.string == onlyShown
  }

  /// Makes the keys where there are none, to show them. Who does more with them uses them.
  package func findOrMake(_ tx: WriteTransaction) throws(KeychainError) -> Identity {
    if let identity = try find(tx) { return identity }
    return try make(comment: Self.onlyShown, tx)
  }

  /// The same for what keys are made for: they have been used from then on.
  package func use(_ tx: WriteTransaction) throws(KeychainError) -> Identity {
    guard let identity = try find(tx) else { return try make(comment: nil, tx) }
    for item in try keychain.items(matching: Self.query, in: tx) where Self.isOnlyShown(item) {
      try keychain.update(item, removing: [.comment], in: tx)
    }
    return identity
  }

  /// Of keys that nobody has used. Those that an earlier version has made have no such word, and count as used.
  private static let onlyShown = "only shown"

  private func make(
    comment: String?, _ tx: WriteTransaction
  ) throws(KeychainError) -> Identity {
    let identity = try Self.identity(SecretBytes(random: Identity.secretsLength))
    var attributes = Self.query.attributes
    attributes[.label] = .string("threadkeeper")
    attributes[.itemDescription] = .string("keys of the keeper")
    attributes[.comment] = comment.map { .string($0) }
    try keychain.add(
      NewItem(
        .genericPassword, attributes: attributes, secret: identity.secrets,
        accessible: .afterFirstUnlock), in: tx)
    return identity
  }

  private static var query: ItemQuery {
    ItemQuery(
      .genericPassword,
      [
        .service: .string(service), .account: .string(""),
        .accessGroup: .string(ClientEnrolmentStore.group),
      ], limit: 1)
  }

  private static func identity(_ secrets: SecretBytes) throws(KeychainError) -> Identity {
    do throws(SodiumError) {
      return try Identity(secrets: secrets)
    } catch {
      throw KeychainError(.decode, "the daemon's own keys are damaged; restore a backup")
    }
  }
}

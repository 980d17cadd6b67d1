// SPDX-License-Identifier: Apache-2.0

import KeychainCore
import SQLiteDatabase
import SealedEnvelope
import SodiumCrypto

/// The keeper's own keys: clients seal to them, and believe what they sign. One pair of pairs for the
/// store, whatever homes it has.
package struct KeeperIdentityStore: Sendable {
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

  /// Whether there are any, be they damaged or not.
  package func isThere(_ tx: ReadTransaction) throws(KeychainError) -> Bool {
    do throws(KeychainError) {
      return try !keychain.items(matching: Self.query, in: tx).isEmpty
    } catch {
      guard error.status == .decode else { throw error }
      return true
    }
  }

  /// Makes the keys where there are none.
  package func findOrMake(_ tx: WriteTransaction) throws(KeychainError) -> Identity {
    if let identity = try find(tx) { return identity }
    let identity = try Self.identity(SecretBytes(random: Identity.secretsLength))
    var attributes = Self.query.attributes
    attributes[.label] = .string("threadkeeper")
    attributes[.itemDescription] = .string("keys of the keeper")
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
      throw KeychainError(.decode, "the keeper's own keys are damaged; restore a backup")
    }
  }
}

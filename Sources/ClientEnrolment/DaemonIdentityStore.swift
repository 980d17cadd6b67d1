// SPDX-License-Identifier: Apache-2.0

import Broker
import KeychainCore
import SQLiteDatabase
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
      throw KeychainError(.decode, "the daemon's own keys are damaged; restore a backup")
    }
  }
}

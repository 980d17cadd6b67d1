// SPDX-License-Identifier: Apache-2.0

import Broker
import KeychainCore
import Logging
import SQLiteDatabase
import SodiumCrypto
import Synchronization

/// The daemon's own keys, in memory. They are made when they are first needed, by `clients`.
package final class DaemonIdentity: Sendable {
  private let keychain: Keychain
  private let known: Mutex<Identity?>

  /// Reads them. Without them the rest of the daemon works: what is sealed is then refused by name. So damaged ones are
  /// an error in the log.
  package init(_ keychain: Keychain, logger: Logger) throws {
    self.keychain = keychain
    var found: Identity?
    do {
      found = try keychain.database.read { try DaemonIdentityStore(keychain).find($0) }
    } catch let error as KeychainError where error.isItemDamaged {
      logger.error("what is sealed cannot be opened", metadata: ["reason": "\(error.message)"])
    }
    known = Mutex(found)
  }

  /// Nil while nobody has needed any, or when they are damaged.
  package var keys: Identity? { known.withLock { $0 } }

  /// Makes them where there are none.
  ///
  /// - Parameter actor: who is named in the audit.
  /// - Throws: `decode` when they are damaged; what the store throws.
  package func findOrMake(actor: String) throws -> Identity {
    if let keys { return keys }
    let identity = try keychain.database.write { tx in
      keychain.act(as: actor, in: tx)
      return try DaemonIdentityStore(keychain).findOrMake(tx)
    }
    // Only now: keys that a rollback has undone must not sign anything.
    known.withLock { $0 = identity }
    return identity
  }
}

/// The daemon's own keys, as a keychain item: clients seal to them, and trust what they sign. One pair of pairs for the
/// store, whatever homes it has.
///
/// | service | account | group | secret |
/// |---|---|---|---|
/// | `keeper-identity` | empty | `threadkeeper.internal` | 64 bytes |
package struct DaemonIdentityStore {
  private let keychain: Keychain

  package init(_ keychain: Keychain) { self.keychain = keychain }

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
        .service: .string("keeper-identity"), .account: .string(""),
        .accessGroup: .string(AccessGroups.reserved),
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

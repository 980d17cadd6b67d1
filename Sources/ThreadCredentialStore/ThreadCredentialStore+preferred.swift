// SPDX-License-Identifier: Apache-2.0

import KeychainCore
import SQLiteDatabase
import SodiumCrypto
import ThreadDataset

/// The preferred network of a home outlives its routers: its dataset is an item of its own. One that is preferred by its
/// Extended PAN ID alone is a dataset of that and the name: see `OperationalDataset.hasCredentials`.
extension ThreadCredentialStore {
  /// - Throws: `KeychainError` with `decode` where it is damaged.
  package func preferredNetwork(
    of home: String, _ tx: ReadTransaction
  ) throws -> OperationalDataset? {
    guard let item = try preferredItem(of: home, tx) else { return nil }
    return try Self.dataset(
      keychain.secret(of: item, in: tx), of: "the preferred network's parameters")
  }

  /// Whether there is one, also a damaged one.
  package func hasPreferredNetwork(in home: String, _ tx: ReadTransaction) throws -> Bool {
    do {
      return try preferredItem(of: home, tx) != nil
    } catch let error as KeychainError where error.isItemDamaged {
      return true
    }
  }

  package func setPreferredNetwork(
    of home: String, to dataset: OperationalDataset, _ tx: WriteTransaction
  ) throws {
    let secret = SecretBytes(copying: dataset.bytes)
    var attributes = Self.attributes(of: dataset)
    if let item = try preferredItem(of: home, tx) {
      _ = try keychain.update(item, attributes: attributes, secret: secret, in: tx)
    } else {
      attributes[.service] = .string(Self.preferredService(home))
      attributes[.account] = .string("")
      attributes[.accessGroup] = .string(Self.internalGroup)
      _ = try keychain.add(
        NewItem(
          .genericPassword, attributes: attributes, secret: secret, accessible: .afterFirstUnlock),
        in: tx)
    }
  }

  /// Also a damaged one. Without one nothing is done.
  func deletePreferredNetwork(of home: String, _ tx: WriteTransaction) throws {
    do {
      if let item = try preferredItem(of: home, tx) { try keychain.delete(item, in: tx) }
    } catch let error as KeychainError where error.isItemDamaged {
      try keychain.deleteDamaged(matching: Self.preferredQuery(home), in: tx)
    }
  }

  /// When the home first had a preferred network, and when it changed last; microseconds since 1970.
  package func preferredDates(
    of home: String, _ tx: ReadTransaction
  ) throws -> (created: Int64, modified: Int64)? {
    try preferredItem(of: home, tx).map { ($0.created, $0.modified) }
  }

  private func preferredItem(of home: String, _ tx: ReadTransaction) throws -> Item? {
    try keychain.items(matching: Self.preferredQuery(home), in: tx).first
  }

  private static func preferredQuery(_ home: String) -> ItemQuery {
    ItemQuery(
      .genericPassword,
      [
        .service: .string(preferredService(home)), .account: .string(""),
        .accessGroup: .string(internalGroup),
      ], limit: 1)
  }
}

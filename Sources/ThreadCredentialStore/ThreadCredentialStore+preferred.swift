// SPDX-License-Identifier: Apache-2.0

import KeychainCore
import SQLiteDatabase
import SodiumCrypto
import ThreadDataset

/// The preferred network of a home outlives its routers: its dataset is an item of its own.
extension ThreadCredentialStore {
  package func preferredNetwork(
    of home: String, _ tx: ReadTransaction
  ) throws -> OperationalDataset? {
    guard let item = try preferredItem(of: home, tx) else { return nil }
    let secret = try keychain.secret(of: item, in: tx)
    return try OperationalDataset(octets: secret.withUnsafeBytes { Array($0) })
  }

  package func setPreferredNetwork(
    of home: String, to dataset: OperationalDataset, _ tx: WriteTransaction
  ) throws {
    let secret = SecretBytes(copying: dataset.octets)
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

  /// When the home first had a preferred network, and when it changed last; microseconds since 1970.
  package func preferredDates(
    of home: String, _ tx: ReadTransaction
  ) throws -> (created: Int64, modified: Int64)? {
    try preferredItem(of: home, tx).map { ($0.created, $0.modified) }
  }

  private func preferredItem(of home: String, _ tx: ReadTransaction) throws -> Item? {
    try keychain.items(
      matching: ItemQuery(
        .genericPassword,
        [
          .service: .string(Self.preferredService(home)), .account: .string(""),
          .accessGroup: .string(Self.internalGroup),
        ], limit: 1), in: tx
    ).first
  }
}

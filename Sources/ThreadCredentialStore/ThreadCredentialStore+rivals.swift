// SPDX-License-Identifier: Apache-2.0

import KeychainCore
import SQLiteDatabase

extension ThreadCredentialStore {
  /// What an item of an import cannot stand beside: a border agent id belongs to one team, whether it holds
  /// credentials or held them. What does not open is left to `store verify`.
  package func rivals(of item: NewItem, _ tx: ReadTransaction) throws -> [ItemRival] {
    guard let place = ImportedPlace(item.itemClass, item.attributes),
      let account = item.attributes[.account]?.string
    else { return [] }
    switch place.kind {
    case .preferred, .former, .forgotten, .adoption: return []
    case .credential:
      let team = item.attributes[.accessGroup]?.string ?? ""
      return try keychain.items(
        matching: ItemQuery(
          .genericPassword,
          [
            .service: .string(Self.ownerService(place.home)), .account: .string(account),
            .accessGroup: .string(Self.internalGroup),
          ], unreadable: .skip), in: tx
      ).filter { !Self.isSame($0[.label]?.string, team) }
        .map { ItemRival($0, differs: .accessGroup) }
    case .owner:
      let team = item.attributes[.label]?.string ?? ""
      return try keychain.items(
        matching: ItemQuery(
          .genericPassword,
          [.service: .string(Self.service(place.home)), .account: .string(account)],
          unreadable: .skip), in: tx
      ).filter { !Self.isSame($0.accessGroup, team) }.map { ItemRival($0, differs: .label) }
    }
  }

  /// Byte by byte, as groups are compared everywhere.
  private static func isSame(_ team: String?, _ other: String) -> Bool {
    (team ?? "").utf8.elementsEqual(other.utf8)
  }
}

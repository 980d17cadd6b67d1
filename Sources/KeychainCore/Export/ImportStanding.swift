// SPDX-License-Identifier: Apache-2.0

import SQLiteDatabase
import SodiumCrypto

/// How an item that is to come in stands to the store.
enum ImportStanding {
  case new
  /// The store has it, with the same contents.
  case same
  /// The store has one of the same primary key, with other contents.
  case other(Item, differs: [String])
  /// The store has one that does not open.
  case damaged(ItemReference)

  /// What is not the same, as conflicts have it; none where the store has no such item.
  var differences: [String] {
    switch self {
    case .new, .same: []
    case .other(_, let differs): differs
    case .damaged: ["damaged"]
    }
  }
}

extension ItemSearch {
  func standing(of new: NewItem, in tx: ReadTransaction) throws -> ImportStanding {
    let form = RowForm(new.itemClass, new.attributes)
    // While the index is renewed there are two keys, and an item stands under one of them.
    for (_, key) in keys.index.keys {
      let index = try BlindIndex(key: key).primaryKey(of: form, new.attributes)
      let found = try tx.first(
        """
        SELECT id, uuid, class, version, metadata, class_key, wrapped_key, secret
        FROM items WHERE primary_index = ?
        """, .blob(index)
      ) { try standing(of: new, to: $0, in: tx) }
      if let found { return found }
    }
    return .new
  }

  private func standing(
    of new: NewItem, to row: SQLiteRow, in tx: ReadTransaction
  ) throws -> ImportStanding {
    do {
      let item = try reader.item(from: row, in: tx)
      var differs = Self.differences(item.attributes, new.attributes)
      if item.accessible != new.accessible { differs.append("accessible") }
      do {
        let secret = try reader.openSecret(
          of: item, version: item.secretVersion, from: row, at: 5, in: tx)
        if secret != new.secret { differs.append("secret") }
      } catch let error as KeychainError where error.status != .decode && !differs.isEmpty {
        // It is locked, or its device key is missing: that it is another one is known all the same.
      }
      return differs.isEmpty ? .same : .other(item, differs: differs)
    } catch let error as KeychainError where error.status == .decode {
      guard let id = row.withBlob(1, { ItemID($0) }) else { throw error }
      return .damaged(ItemReference(rowID: row.integer(0), id: id))
    }
  }

  /// The names of attributes that are not the same, but for the two dates.
  private static func differences(
    _ mine: ItemAttributes, _ theirs: ItemAttributes
  ) -> [String] {
    let nothing = AttributeValue.data([])
    return Set(mine.keys).union(theirs.keys)
      .filter { $0 != .creationDate && $0 != .modificationDate }
      .filter { !(mine[$0] ?? nothing).matches(theirs[$0] ?? nothing) }
      .map(\.description).sorted()
  }
}

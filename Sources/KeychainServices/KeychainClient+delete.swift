// SPDX-License-Identifier: Apache-2.0

import KeychainCore
import SQLiteDatabase

extension KeychainClient {
  /// Deletes every match and returns how many. Nobody is asked: what is deleted is not given out.
  ///
  /// Of an identity the certificate goes, and its private key unless another certificate that the
  /// client can see is joined to it.
  ///
  /// - Throws: `itemNotFound`, `missingEntitlement`, `param`, `decode`.
  package func delete(
    _ request: ItemRequest, in tx: WriteTransaction
  ) throws(KeychainError) -> Int {
    try request.checkForDelete()
    let found = try matches(request, limit: nil, in: tx)
    guard !found.isEmpty else { throw Self.nothingFound() }
    try KeychainError.wrap("deleting items") {
      try tx.savepoint {
        var gone: Set<ItemID> = []
        for one in found where gone.insert(one.item.id).inserted {
          try keychain.delete(one.item, in: tx)
        }
        for one in found {
          guard let key = one.privateKey, gone.insert(key.id).inserted else { continue }
          var others = ItemRequest(.identity)
          others.attributes[.publicKeyHash] = one.item[.publicKeyHash]
          others.synchronizable = .any
          guard try matches(others, limit: 1, in: tx).isEmpty else { continue }
          try keychain.delete(key, in: tx)
        }
      }
    }
    return found.count
  }
}

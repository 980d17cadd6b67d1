// SPDX-License-Identifier: Apache-2.0

import KeychainCore
import SQLiteDatabase
import SodiumCrypto

extension KeychainClient {
  /// Adds an item. The dates are stamped, whatever the request says.
  ///
  /// - Throws: `duplicateItem`, `missingEntitlement` for a group that is not the client's, `param`,
  ///   `interactionNotAllowed` when the class is locked.
  package func add(
    _ request: ItemRequest, in tx: WriteTransaction
  ) throws(KeychainError) -> FoundItem {
    let itemClass = try request.checkedForAdd()
    var attributes = request.defaults.merging(request.attributes) { $1 }
    attributes[.accessControl] = nil
    attributes[.creationDate] = nil
    attributes[.modificationDate] = nil
    attributes[.accessGroup] = .string(try groups.group(ofNew: request.accessGroup))
    attributes[.synchronizable] = .bool(request.synchronizable == .yes)
    if let control = request.accessControl, !control.flags.isEmpty {
      attributes[.accessControl] = control.attribute
    }
    attributes[.hasNoData] = request.secret == nil ? .bool(true) : nil
    let secret = request.secret ?? SecretBytes(copying: [])
    let item = try keychain.add(
      NewItem(
        itemClass, attributes: attributes, secret: secret,
        accessible: request.accessible ?? .whenUnlocked),
      in: tx)
    return FoundItem(item, secret: request.wantsSecret(of: .stored(itemClass)) ? secret : nil)
  }
}

// SPDX-License-Identifier: Apache-2.0

import KeychainCore
import SQLiteDatabase

extension KeychainClient {
  /// Changes every match, or none, and returns how many.
  ///
  /// - Parameters:
  ///   - change: attributes and secret that the matches get; what it does not say stays.
  ///   - granted: items for which a person was asked already.
  /// - Throws: `itemNotFound`; `duplicateItem`, and then nothing has changed and the transaction can
  ///   go on; `missingEntitlement`, `param`, `interactionNotAllowed`, `decode`.
  package func update(
    _ request: ItemRequest, to change: ItemRequest, granted: Set<ItemID> = [],
    in tx: WriteTransaction
  ) throws(KeychainError) -> PresenceStep<Int> {
    try request.checkForUpdate()
    try change.checkAsChange()
    let found = try matches(request, limit: nil, in: tx)
    guard !found.isEmpty else { throw Self.nothingFound() }
    let asking = found.map(\.item).filter { $0.needsPresence && !granted.contains($0.id) }
    guard asking.isEmpty else {
      if request.authenticationUI == .fail { throw Self.nobodyToAsk() }
      return .asks(asking)
    }
    let (attributes, removing) = try changes(change)
    try KeychainError.wrap("changing items") {
      try tx.savepoint {
        for one in found {
          guard one.privateKey == nil else {
            throw KeychainError(
              .param, "an identity is changed as its certificate and its private key")
          }
          try check(change, isPossibleFor: one.item.itemClass)
          _ = try keychain.update(
            one.item, attributes: attributes, removing: removing, secret: change.secret,
            accessible: change.accessible, in: tx)
        }
      }
    }
    return .done(found.count)
  }

  private func changes(
    _ change: ItemRequest
  ) throws(KeychainError) -> (ItemAttributes, removing: Set<ItemAttribute>) {
    var attributes = change.attributes
    var removing: Set<ItemAttribute> = change.secret == nil ? [] : [.hasNoData]
    // The store stamps the one, and nobody changes the other.
    attributes[.modificationDate] = nil
    attributes[.creationDate] = nil
    if let group = change.accessGroup {
      attributes[.accessGroup] = .string(try groups.checked(group))
    }
    if let synchronizable = change.synchronizable {
      attributes[.synchronizable] = .bool(synchronizable == .yes)
    }
    if let control = change.accessControl, !control.flags.isEmpty {
      attributes[.accessControl] = control.attribute
      return (attributes, removing)
    }
    // A new accessibility is a new access control without conditions.
    if change.accessible != nil { removing.insert(.accessControl) }
    return (attributes, removing)
  }

  /// A reference says the class only when its item is found.
  private func check(
    _ change: ItemRequest, isPossibleFor itemClass: ItemClass
  ) throws(KeychainError) {
    for attribute in change.attributes.keys where !itemClass.has(attribute) {
      throw KeychainError(
        .noSuchAttribute,
        "items of the class \(itemClass.code) have no attribute \"\(attribute)\"")
    }
  }
}

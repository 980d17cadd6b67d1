// SPDX-License-Identifier: Apache-2.0

import SQLiteDatabase
import SodiumCrypto

/// A keychain as one client sees it: the rules of Keychain Services over its access groups. Every
/// call takes the transaction that it works in; `KeychainService` gives each call its own.
package struct KeychainClient: Sendable {
  package let keychain: Keychain
  package let groups: AccessGroups

  package init(_ keychain: Keychain, groups: AccessGroups) {
    self.keychain = keychain
    self.groups = groups
  }
}

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

/// What is to happen to the items that a request means.
package enum KeychainCall: Sendable {
  case add
  case search
  case update(to: ItemRequest)
  case delete
}

extension KeychainClient {
  /// Joins certificates to private keys: the hash of the certificate's public key is the key's
  /// application label. Both must be within the client's groups; they need not share one.
  func identities(
    _ request: ItemRequest, _ reference: ItemReference?, limit: Int?, in tx: ReadTransaction
  ) throws(KeychainError) -> [FoundItem] {
    let keys = try privateKeys(request, reference, in: tx)
    guard !keys.isEmpty else { return [] }
    let certificates = try keychain.items(
      matching: ItemQuery(
        .certificate, accessGroups: groups.groups(searched: request.accessGroup),
        synchronizable: request.searchedSynchronizable(reference), reference: reference),
      in: tx)
    var found: [FoundItem] = []
    for certificate in certificates {
      guard let hash = certificate[.publicKeyHash]?.hashedBytes, !hash.isEmpty else { continue }
      for key in keys[hash] ?? [] {
        let identity = FoundItem(certificate: certificate, privateKey: key)
        guard
          request.isMetBy(
            identity.attributes, needsPresence: identity.halves.contains { $0.needsPresence })
        else { continue }
        found.append(identity)
        if let limit, found.count >= limit { return found }
      }
    }
    return found
  }

  /// Private keys by their application label.
  private func privateKeys(
    _ request: ItemRequest, _ reference: ItemReference?, in tx: ReadTransaction
  ) throws(KeychainError) -> [[UInt8]: [Item]] {
    let keys = try keychain.items(
      matching: ItemQuery(
        .key, [.keyClass: .string("1")], accessible: request.accessible,
        accessGroups: groups.groups(searched: request.accessGroup),
        synchronizable: request.searchedSynchronizable(reference)),
      in: tx)
    return Dictionary(grouping: keys) { $0[.applicationLabel]?.hashedBytes ?? [] }
  }
}

extension AttributeValue {
  fileprivate var hashedBytes: [UInt8] { withCanonicalBytes { Array($0) } }
}

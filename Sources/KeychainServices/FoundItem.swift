// SPDX-License-Identifier: Apache-2.0

import KeychainCore
import SodiumCrypto

/// An item that a request found or made.
package struct FoundItem: Sendable {
  package let itemClass: RequestClass
  /// Of an identity: its certificate.
  package let item: Item
  /// Of an identity: its private key.
  package let privateKey: Item?
  /// Only if it was asked for. Of an identity: that of the private key.
  package var secret: SecretBytes?
  /// Of an identity, if data or a reference was asked for: the certificate itself.
  package var certificate: SecretBytes?

  init(_ item: Item, secret: SecretBytes? = nil) {
    itemClass = .stored(item.itemClass)
    self.item = item
    privateKey = nil
    self.secret = secret
  }

  init(certificate: Item, privateKey: Item) {
    itemClass = .identity
    item = certificate
    self.privateKey = privateKey
  }

  /// Whose secret is meant, and who says when it can be had.
  package var secretHolder: Item { privateKey ?? item }

  /// False: it was stored without data, and the secret is empty.
  package var hasData: Bool { secretHolder[.hasNoData] == nil }

  /// Every item whose secret is given out with it: of an identity both.
  var halves: [Item] { privateKey.map { [$0, item] } ?? [item] }

  package var persistentReference: PersistentReference {
    PersistentReference(itemClass, item.reference)
  }

  /// All attributes; where both halves of an identity have one, that of the certificate.
  package var attributes: ItemAttributes {
    guard let privateKey else { return item.attributes }
    return privateKey.attributes.merging(item.attributes) { _, certificate in certificate }
  }
}

// SPDX-License-Identifier: Apache-2.0

import SodiumCrypto

/// An item to be added.
package struct NewItem: Sendable {
  /// The most bytes of a secret, and of all attributes together.
  package static let secretLimit = 16 << 20
  package static let attributesLimit = 1 << 20

  package var itemClass: ItemClass
  /// The dates are stamped, unless they are given.
  package var attributes: ItemAttributes
  package var secret: SecretBytes
  package var accessible: Accessibility

  package init(
    _ itemClass: ItemClass, attributes: ItemAttributes, secret: SecretBytes,
    accessible: Accessibility = .whenUnlocked
  ) {
    self.itemClass = itemClass
    self.attributes = attributes
    self.secret = secret
    self.accessible = accessible
  }

  static func tooLarge(_ what: String) -> KeychainError {
    KeychainError(.dataTooLarge, "the \(what) of an item is larger than the store takes")
  }
}

// SPDX-License-Identifier: Apache-2.0

import KeychainCore

/// The classes that a request can name: those that are stored, and the identity, which is a
/// certificate joined to its private key.
package enum RequestClass: Hashable, Sendable {
  case stored(ItemClass)
  case identity

  /// As `kSecClass` has it.
  package var code: String {
    switch self {
    case .stored(let itemClass): itemClass.code
    case .identity: "idnt"
    }
  }

  package init?(code: String) {
    if code == Self.identity.code {
      self = .identity
    } else if let itemClass = ItemClass(code: code) {
      self = .stored(itemClass)
    } else {
      return nil
    }
  }

  /// The attribute that `code` means in an item of this class.
  ///
  /// - Throws: `noSuchAttribute` when no item of this class has it.
  package func attribute(code: String) throws(KeychainError) -> ItemAttribute {
    let found: ItemAttribute? =
      switch self {
      case .stored(let itemClass):
        itemClass.attribute(code: code)
      case .identity:
        ItemClass.key.attribute(code: code) ?? ItemClass.certificate.attribute(code: code)
      }
    guard let found else {
      throw KeychainError(
        .noSuchAttribute, "items of the class \(self.code) have no attribute \"\(code)\"")
    }
    return found
  }
}

// SPDX-License-Identifier: Apache-2.0

import Foundation

// Programs for Apple's systems also write `[kSecClass: …] as NSDictionary`, which becomes a
// CFDictionary by itself there. Here these take it. They are used where nothing else fits, so that
// `let add = SecItemAdd` and a dictionary literal mean the functions beside them.

/// `SecItemAdd` of a dictionary of Foundation: `errSecParam` if a key of it is no text.
@_disfavoredOverload
@discardableResult
public func SecItemAdd(
  _ attributes: NSDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?
) -> OSStatus {
  withTexts(attributes) { SecItemAdd($0, result) }
}

/// `SecItemCopyMatching` of a dictionary of Foundation: `errSecParam` if a key of it is no text.
@_disfavoredOverload
@discardableResult
public func SecItemCopyMatching(
  _ query: NSDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?
) -> OSStatus {
  withTexts(query) { SecItemCopyMatching($0, result) }
}

/// `SecItemUpdate` of dictionaries of Foundation: `errSecParam` if a key of them is no text.
@_disfavoredOverload
@discardableResult
public func SecItemUpdate(_ query: NSDictionary, _ attributesToUpdate: NSDictionary) -> OSStatus {
  withTexts(query) { query in withTexts(attributesToUpdate) { SecItemUpdate(query, $0) } }
}

/// `SecItemUpdate` of a query of Foundation: `errSecParam` if a key of it is no text.
@_disfavoredOverload
@discardableResult
public func SecItemUpdate(_ query: NSDictionary, _ attributesToUpdate: CFDictionary) -> OSStatus {
  withTexts(query) { SecItemUpdate($0, attributesToUpdate) }
}

/// `SecItemUpdate` with attributes of Foundation: `errSecParam` if a key of them is no text.
@_disfavoredOverload
@discardableResult
public func SecItemUpdate(_ query: CFDictionary, _ attributesToUpdate: NSDictionary) -> OSStatus {
  withTexts(attributesToUpdate) { SecItemUpdate(query, $0) }
}

/// `SecItemDelete` of a dictionary of Foundation: `errSecParam` if a key of it is no text.
@_disfavoredOverload
@discardableResult
public func SecItemDelete(_ query: NSDictionary) -> OSStatus {
  withTexts(query) { SecItemDelete($0) }
}

private func withTexts(_ dictionary: NSDictionary, _ body: (CFDictionary) -> OSStatus) -> OSStatus {
  guard let texts = dictionary as? CFDictionary else {
    return ProgramKeychain.shared.answer { throw KeychainError(.param, "a key is no text") }
  }
  return body(texts)
}

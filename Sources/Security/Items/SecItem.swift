import Foundation

/// Adds an item to the keychain.
///
/// - Parameters:
///   - attributes: the class (`kSecClass`), the secret (`kSecValueData`) and the attributes.
///   - result: gets the item as `SecItemCopyMatching` would give it, if a `kSecReturn…` key asks.
/// - Returns: `errSecSuccess`; `errSecDuplicateItem` when its primary key is taken;
///   `errSecMissingEntitlement` for an access group that is not the program's; `errSecParam`,
///   `errSecNoSuchAttr`, `errSecInteractionNotAllowed`, `errSecNotAvailable`, `errSecReadOnly` and
///   others of the keychain and the disk.
@discardableResult public func SecItemAdd(_ attributes: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?)
  -> OSStatus
{
  ProgramKeychain.shared.answer {
    let request = try RequestReader.request(attributes, for: .add)
    let item = try ProgramKeychain.shared.perform(.add, request) { try $0.add(request) }
    result?.pointee = ResultWriter(request).value(of: [item])
  }
}

/// Finds items of the program's access groups.
///
/// - Parameters:
///   - query: the class, attributes that must be equal, and `kSecMatch…` keys. Synchronizable items
///     are left out unless the query asks for them; the limit is one unless it says another.
///   - result: gets what the `kSecReturn…` keys ask for: a single value for a limit of one, else an
///     array. Just the data or the persistent reference is given as `Data`, just the reference of
///     a certificate, key or identity as that object; everything else as a dictionary.
/// - Returns: `errSecSuccess`; `errSecItemNotFound`; `errSecInteractionNotAllowed` when an item is
///   locked, or needs a person and nobody can be asked; `errSecDecode` when an item was altered (it
///   is kept); `errSecUserCanceled`, `errSecMissingEntitlement`, `errSecParam` and others.
@discardableResult public func SecItemCopyMatching(_ query: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?)
  -> OSStatus
{
  ProgramKeychain.shared.answer {
    let request = try RequestReader.request(query, for: .query)
    let found = try ProgramKeychain.shared.perform(.search, request) { try $0.search(request) }
    result?.pointee = ResultWriter(request).value(of: found)
  }
}

/// Changes every item that a query means, or none of them.
///
/// - Parameters:
///   - query: as for `SecItemCopyMatching`, without `kSecReturn…` and `kSecMatch…` keys.
///   - attributesToUpdate: attributes and `kSecValueData`; what is not there stays.
/// - Returns: `errSecSuccess`; `errSecItemNotFound`; `errSecDuplicateItem` when an item would get a
///   primary key that is taken; `errSecParam` and others.
@discardableResult public func SecItemUpdate(_ query: CFDictionary, _ attributesToUpdate: CFDictionary) -> OSStatus {
  ProgramKeychain.shared.answer {
    let request = try RequestReader.request(query, for: .query)
    let change = try RequestReader.change(attributesToUpdate, of: request)
    try ProgramKeychain.shared.perform(.update(to: change), request) { _ = try $0.update(request, to: change) }
  }
}

/// Deletes every item that a query means.
///
/// - Parameter query: as for `SecItemCopyMatching`; no limit but `kSecMatchLimitAll`.
/// - Returns: `errSecSuccess`; `errSecItemNotFound`; `errSecParam` and others.
@discardableResult public func SecItemDelete(_ query: CFDictionary) -> OSStatus {
  ProgramKeychain.shared.answer {
    let request = try RequestReader.request(query, for: .query)
    try ProgramKeychain.shared.perform(.delete, request) { _ = try $0.delete(request) }
  }
}

// Programs for Apple's systems also write `[kSecClass: …] as NSDictionary`, which becomes a
// CFDictionary by itself there. Here these take it. They are used where nothing else fits, so that
// `let add = SecItemAdd` and a dictionary literal mean the functions beside them.

/// `SecItemAdd` of a dictionary of Foundation: `errSecParam` if a key of it is no text.
@_disfavoredOverload @discardableResult public func SecItemAdd(
  _ attributes: NSDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?
) -> OSStatus { withTexts(attributes) { SecItemAdd($0, result) } }

/// `SecItemCopyMatching` of a dictionary of Foundation: `errSecParam` if a key of it is no text.
@_disfavoredOverload @discardableResult public func SecItemCopyMatching(
  _ query: NSDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?
) -> OSStatus { withTexts(query) { SecItemCopyMatching($0, result) } }

/// `SecItemUpdate` of dictionaries of Foundation: `errSecParam` if a key of them is no text.
@_disfavoredOverload @discardableResult public func SecItemUpdate(
  _ query: NSDictionary, _ attributesToUpdate: NSDictionary
) -> OSStatus { withTexts(query) { query in withTexts(attributesToUpdate) { SecItemUpdate(query, $0) } } }

/// `SecItemUpdate` of a query of Foundation: `errSecParam` if a key of it is no text.
@_disfavoredOverload @discardableResult public func SecItemUpdate(
  _ query: NSDictionary, _ attributesToUpdate: CFDictionary
) -> OSStatus { withTexts(query) { SecItemUpdate($0, attributesToUpdate) } }

/// `SecItemUpdate` with attributes of Foundation: `errSecParam` if a key of them is no text.
@_disfavoredOverload @discardableResult public func SecItemUpdate(
  _ query: CFDictionary, _ attributesToUpdate: NSDictionary
) -> OSStatus { withTexts(attributesToUpdate) { SecItemUpdate(query, $0) } }

/// `SecItemDelete` of a dictionary of Foundation: `errSecParam` if a key of it is no text.
@_disfavoredOverload @discardableResult public func SecItemDelete(_ query: NSDictionary) -> OSStatus {
  withTexts(query) { SecItemDelete($0) }
}

private func withTexts(_ dictionary: NSDictionary, _ body: (CFDictionary) -> OSStatus) -> OSStatus {
  guard let texts = dictionary as? CFDictionary else {
    return ProgramKeychain.shared.answer { throw KeychainError(.param, "a key is no text") }
  }
  return body(texts)
}

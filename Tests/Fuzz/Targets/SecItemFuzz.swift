import Foundation
import Security

/// Keychain Services: up to eight calls with any keys and values, on an empty keychain. Each answers with a status that
/// is documented, an item that was added is found, and none of them reports the store as damaged.
package enum SecItemFuzz {
  private static let calls = 8

  static func check(_ bytes: [UInt8]) throws {
    _ = try bootstrapped.get()
    defer { clear() }
    var reader = SecItemReader(bytes)
    for _ in 0..<calls where !reader.isAtEnd { try call(&reader) }
  }

  private static func call(_ reader: inout SecItemReader) throws {
    let kind = reader.call()
    var dictionary = reader.dictionary()
    var result: AnyObject?
    switch kind {
    case .add:
      dictionary[kSecReturnPersistentRef] = true
      let status = SecItemAdd(dictionary as CFDictionary, &result)
      try check(status)
      if status == errSecSuccess { try checkAdded(result, dictionary, &reader) }
    case .copy: try check(SecItemCopyMatching(dictionary as CFDictionary, &result))
    case .update:
      let change = reader.dictionary()
      try check(SecItemUpdate(dictionary as CFDictionary, change as CFDictionary))
    case .delete: try check(SecItemDelete(dictionary as CFDictionary))
    }
  }

  private static func checkAdded(_ result: AnyObject?, _ item: [String: Any], _ reader: inout SecItemReader) throws {
    let attributes = result as? [String: Any]
    guard let reference = result as? Data ?? attributes?[kSecValuePersistentRef] as? Data else {
      throw FuzzFinding(description: "an item that was added has a reference")
    }
    reader.reference = reference
    // An item that needs a person is there, but nobody can be asked for its secret.
    guard item[kSecAttrAccessControl] == nil else { return }
    var found: AnyObject?
    let status = SecItemCopyMatching(
      [kSecValuePersistentRef: reference, kSecReturnData: true, kSecAttrSynchronizable: kSecAttrSynchronizableAny]
        as CFDictionary, &found)
    try expect(status == errSecSuccess, "an item that was added is found: \(status)")
    guard let data = item[kSecValueData] as? Data else { return }
    try expect(found as? Data == data, "and has its data")
  }

  private static func check(_ status: OSStatus) throws {
    let documented = [
      errSecSuccess, errSecParam, errSecItemNotFound, errSecDuplicateItem, errSecNoSuchAttr, errSecMissingEntitlement,
      errSecInteractionNotAllowed, errSecUnimplemented, errSecDataTooLarge, errSecDecode,
    ]
    try expect(documented.contains(status), "a call answers with a documented status: \(status)")
  }

  private static let bootstrapped = Result { try bootstrap() }

  /// Chooses a keychain of its own for this program, as the first input does. Again where another was chosen meanwhile.
  package static func bootstrap() throws {
    let directory = try Scratch.shared.get().path + "/keychain"
    LinuxKeychain.bootstrap(.init(directory: directory, accessGroups: ["own", "shared"], confirmPresence: nil))
    // The store is made with the first item, which is not to be part of an input.
    SecItemAdd([kSecClass: kSecClassGenericPassword, kSecValueData: Data()] as CFDictionary, nil)
    clear()
  }

  /// So that each input begins with nothing.
  private static func clear() {
    let classes = [kSecClassGenericPassword, kSecClassInternetPassword, kSecClassCertificate, kSecClassKey]
    for itemClass in classes {
      SecItemDelete([kSecClass: itemClass, kSecAttrSynchronizable: kSecAttrSynchronizableAny] as CFDictionary)
    }
  }
}

// SPDX-License-Identifier: Apache-2.0

import Foundation
import Security

// Client code as it is written for Apple's systems: literals that are made Foundation's
// dictionaries where they are used, and calls that are kept in variables.

enum DictionaryLiterals {
  static func set(_ value: Data, account: String, service: String) -> OSStatus {
    let status = SecItemAdd(
      [
        kSecClass: kSecClassGenericPassword,
        kSecAttrAccount: account,
        kSecAttrService: service,
        kSecValueData: value,
      ] as NSDictionary, nil)
    guard status == errSecDuplicateItem else { return status }
    return SecItemUpdate(
      [
        kSecClass: kSecClassGenericPassword,
        kSecAttrAccount: account,
        kSecAttrService: service,
      ] as NSDictionary, [kSecValueData: value] as NSDictionary)
  }

  static func get(account: String, service: String) -> Data? {
    var result: AnyObject?
    let status = SecItemCopyMatching(
      [
        kSecClass: kSecClassGenericPassword,
        kSecAttrAccount: account,
        kSecAttrService: service,
        kSecReturnData: true,
      ] as NSDictionary, &result)
    return status == errSecSuccess ? result as? Data : nil
  }

  static func delete(service: String) -> OSStatus {
    let query = NSMutableDictionary()
    query[kSecClass] = kSecClassGenericPassword
    query[kSecAttrService] = service
    return SecItemDelete(query)
  }

  /// Calls that a test replaces: of the four as they are, without a word about their types.
  struct Calls {
    var add = SecItemAdd
    var copy = SecItemCopyMatching
    var update = SecItemUpdate
    var delete = SecItemDelete
  }
}

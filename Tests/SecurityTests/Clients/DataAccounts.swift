// SPDX-License-Identifier: Apache-2.0

import Foundation
import Security

// Client code as it is written for Apple's systems: accounts as data, implicitly unwrapped names,
// add first and update when there is one, an accessibility that can be asked for.

private let classKey: String! = kSecClass as String
private let serviceKey: String! = kSecAttrService as String
private let genericKey: String! = kSecAttrGeneric as String
private let accountKey: String! = kSecAttrAccount as String
private let accessibleKey: String! = kSecAttrAccessible as String
private let dataKey: String! = kSecValueData as String
private let limitKey: String! = kSecMatchLimit as String

class DataAccounts {
  let service: String
  init(service: String) { self.service = service }

  private func query(_ key: String, _ accessible: CFString? = nil) -> [String: Any] {
    var query: [String: Any] = [classKey: kSecClassGenericPassword]
    query[serviceKey] = service
    if let accessible = accessible { query[accessibleKey] = accessible }
    let identifier: Data? = key.data(using: String.Encoding.utf8)
    query[genericKey] = identifier
    query[accountKey] = identifier
    query[kSecAttrSynchronizable as String] = kCFBooleanFalse
    return query
  }

  @discardableResult
  func set(_ value: Data, _ key: String, _ accessible: CFString? = nil) -> Bool {
    var item = query(key, accessible)
    item[dataKey] = value
    item[accessibleKey] = accessible ?? kSecAttrAccessibleWhenUnlocked
    let status: OSStatus = SecItemAdd(item as CFDictionary, nil)
    if status == errSecDuplicateItem {
      let change: [String: Any] = [dataKey: value]
      return SecItemUpdate(query(key, accessible) as CFDictionary, change as CFDictionary)
        == errSecSuccess
    }
    return status == errSecSuccess
  }

  func data(_ key: String) -> Data? {
    var query = self.query(key)
    query[limitKey] = kSecMatchLimitOne
    query[kSecReturnData as String] = kCFBooleanTrue
    var result: AnyObject?
    let status = SecItemCopyMatching(query as CFDictionary, &result)
    return status == noErr ? result as? Data : nil
  }

  func accessibility(of key: String) -> CFString? {
    var query = self.query(key)
    query.removeValue(forKey: accessibleKey)
    query[limitKey] = kSecMatchLimitOne
    query[kSecReturnAttributes as String] = kCFBooleanTrue
    var result: AnyObject?
    guard SecItemCopyMatching(query as CFDictionary, &result) == noErr,
      let found = result as? [String: AnyObject], let value = found[accessibleKey] as? String
    else { return nil }
    return value as CFString
  }

  /// The way to another accessibility: a change of that attribute alone.
  func migrate(_ key: String, to accessible: CFString) -> OSStatus {
    SecItemUpdate(query(key) as CFDictionary, [accessibleKey: accessible] as CFDictionary)
  }

  func allKeys() -> Set<String> {
    let query: [String: Any] = [
      classKey: kSecClassGenericPassword, serviceKey: service,
      kSecReturnAttributes as String: kCFBooleanTrue as Any, limitKey: kSecMatchLimitAll,
    ]
    var result: AnyObject?
    guard SecItemCopyMatching(query as CFDictionary, &result) == errSecSuccess else { return [] }
    var keys = Set<String>()
    if let results = result as? [[AnyHashable: Any]] {
      for attributes in results {
        if let data = attributes[kSecAttrAccount] as? Data,
          let account = String(data: data, encoding: .utf8)
        {
          keys.insert(account)
        }
      }
    }
    return keys
  }

  static func wipe() {
    for itemClass in [
      kSecClassGenericPassword, kSecClassInternetPassword, kSecClassCertificate, kSecClassKey,
      kSecClassIdentity,
    ] {
      SecItemDelete([kSecClass as String: itemClass] as CFDictionary)
    }
  }
}

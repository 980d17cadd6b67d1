// SPDX-License-Identifier: Apache-2.0

import Foundation
import Security

/// The passwords of one service, as generic passwords. Nothing here knows which system it runs on.
struct PasswordKeychain {
  let service: String

  /// What makes one of our items: the class, the service and, as the account, its name.
  private func query(_ name: String? = nil) -> [String: Any] {
    var query: [String: Any] = [kSecClass as String: kSecClassGenericPassword, kSecAttrService as String: service]
    query[kSecAttrAccount as String] = name
    return query
  }

  /// Nil when there is none.
  func find(_ name: String) throws -> String? {
    var query = query(name)
    query[kSecReturnData as String] = true
    var result: CFTypeRef?
    let status = SecItemCopyMatching(query as CFDictionary, &result)
    if status == errSecItemNotFound { return nil }
    try KeychainFailure.check(status)
    guard let data = result as? Data else { throw KeychainFailure(status: errSecDecode) }
    return String(decoding: data, as: UTF8.self)
  }

  /// Keeps a password, whether there is one by that name or not.
  func store(_ password: String, for name: String) throws {
    let secret: [String: Any] = [
      kSecValueData as String: Data(password.utf8), kSecAttrAccessible as String: kSecAttrAccessibleAfterFirstUnlock,
    ]
    let item = query(name).merging(secret) { $1 }
    // Between two calls another program may add or delete the item: once more then, not for ever.
    for _ in 0..<3 {
      var status = SecItemUpdate(query(name) as CFDictionary, secret as CFDictionary)
      if status == errSecItemNotFound { status = SecItemAdd(item as CFDictionary, nil) }
      if status == errSecDuplicateItem { continue }
      return try KeychainFailure.check(status)
    }
    throw KeychainFailure(status: errSecDuplicateItem)
  }

  func names() throws -> [String] {
    var query = query()
    query[kSecReturnAttributes as String] = true
    query[kSecMatchLimit as String] = kSecMatchLimitAll
    var result: CFTypeRef?
    let status = SecItemCopyMatching(query as CFDictionary, &result)
    if status == errSecItemNotFound { return [] }
    try KeychainFailure.check(status)
    let items = result as? [[String: Any]] ?? []
    return items.compactMap { $0[kSecAttrAccount as String] as? String }.sorted()
  }

  func delete(_ name: String) throws { try KeychainFailure.check(SecItemDelete(query(name) as CFDictionary)) }
}

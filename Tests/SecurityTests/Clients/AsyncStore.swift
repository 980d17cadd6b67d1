// SPDX-License-Identifier: Apache-2.0

import Foundation
import Security

// Client code as it is written for Apple's systems: an actor, async and throwing, values as JSON,
// and every attribute as a case.

actor AsyncStore {
  enum Failure: Error, Equatable { case keychain(OSStatus) }

  private let service: String
  init(service: String) { self.service = service }

  func store<Value: Codable & Sendable>(_ value: Value, for key: String) async throws {
    let data = try JSONEncoder().encode(value)
    var query = query(for: key)
    let status = SecItemUpdate(query as CFDictionary, [kSecValueData: data] as CFDictionary)
    if status == errSecSuccess { return }
    guard status == errSecItemNotFound else { throw Failure.keychain(status) }
    query[kSecValueData as String] = data
    let added = SecItemAdd(query as CFDictionary, nil)
    guard added == errSecSuccess else { throw Failure.keychain(added) }
  }

  func load<Value: Codable & Sendable>(_: Value.Type, for key: String) async throws -> Value? {
    var query = query(for: key)
    query[kSecReturnData as String] = true
    var item: CFTypeRef?
    let status = SecItemCopyMatching(query as CFDictionary, &item)
    switch status {
    case errSecSuccess:
      guard let data = item as? Data else { throw Failure.keychain(errSecDecode) }
      return try JSONDecoder().decode(Value.self, from: data)
    case errSecItemNotFound: return nil
    default: throw Failure.keychain(status)
    }
  }

  nonisolated func remove(_ key: String) async throws {
    try await withCheckedThrowingContinuation {
      (continuation: CheckedContinuation<Void, any Error>) in
      let status = SecItemDelete(query(for: key) as CFDictionary)
      if status == errSecSuccess || status == errSecItemNotFound {
        continuation.resume()
      } else {
        continuation.resume(throwing: Failure.keychain(status))
      }
    }
  }

  private nonisolated func query(for key: String) -> [String: Any] {
    [
      kSecClass as String: kSecClassGenericPassword as String,
      kSecAttrService as String: service,
      kSecAttrAccount as String: key,
    ]
  }
}

/// Every attribute of a generic password, by its name in the program.
enum PasswordAttribute: CaseIterable {
  case account, service, group, accessible, synchronizable, label, kind, comment, generic, creator
  case type, invisible, negative, created, modified

  var key: CFString {
    switch self {
    case .account: return kSecAttrAccount
    case .service: return kSecAttrService
    case .group: return kSecAttrAccessGroup
    case .accessible: return kSecAttrAccessible
    case .synchronizable: return kSecAttrSynchronizable
    case .label: return kSecAttrLabel
    case .kind: return kSecAttrDescription
    case .comment: return kSecAttrComment
    case .generic: return kSecAttrGeneric
    case .creator: return kSecAttrCreator
    case .type: return kSecAttrType
    case .invisible: return kSecAttrIsInvisible
    case .negative: return kSecAttrIsNegative
    case .created: return kSecAttrCreationDate
    case .modified: return kSecAttrModificationDate
    }
  }
}

import Foundation
import Security

// Client code as it is written for Apple's systems: queries of hashable values, generic results,
// items moved from one service to another by their persistent references.

enum HashableQueries {
  enum Failure: Error, Equatable {
    case notFound
    case status(OSStatus)
    case conflict
  }

  static func copy<Wanted>(_ query: [String: AnyHashable]) throws -> Wanted {
    var status = errSecNotAvailable
    var result: AnyObject? = nil
    status = SecItemCopyMatching(query as CFDictionary, &result)
    guard status == errSecSuccess else {
      throw status == errSecItemNotFound ? Failure.notFound : Failure.status(status)
    }
    guard let result = result as? Wanted else { throw Failure.notFound }
    return result
  }

  static func add(_ attributes: [String: AnyHashable]) throws {
    var result: AnyObject? = nil
    let status = SecItemAdd(attributes as CFDictionary, &result)
    if status != errSecSuccess { throw Failure.status(status) }
  }

  /// What every query of a service says.
  static func base(
    _ service: String, _ accessible: CFString = kSecAttrAccessibleWhenUnlocked, group: String? = nil,
    flags: SecAccessControlCreateFlags? = nil
  ) -> [String: AnyHashable] {
    var base: [String: AnyHashable] = [
      kSecClass as String: kSecClassGenericPassword as String, kSecAttrService as String: service,
    ]
    if #available(iOS 13.0, macOS 10.15, *) { base[kSecUseDataProtectionKeychain as String] = true }
    if let group = group { base[kSecAttrAccessGroup as String] = group }
    if let flags = flags {
      base[kSecAttrAccessControl as String] = SecAccessControlCreateWithFlags(nil, accessible, flags, nil)
    } else {
      base[kSecAttrAccessible as String] = accessible
    }
    return base
  }

  static func set(_ value: String, _ key: String, _ base: [String: AnyHashable]) throws {
    var query = base
    query[kSecAttrAccount as String] = key
    let change = [kSecValueData as String: Data(value.utf8)]
    if SecItemCopyMatching(query as CFDictionary, nil) == errSecSuccess {
      let status = SecItemUpdate(query as CFDictionary, change as CFDictionary)
      if status != errSecSuccess { throw Failure.status(status) }
    } else {
      query[kSecValueData as String] = Data(value.utf8)
      try add(query)
    }
  }

  static func get(_ key: String, _ base: [String: AnyHashable]) throws -> String? {
    var query = base
    query[kSecAttrAccount as String] = key
    query[kSecMatchLimit as String] = kSecMatchLimitOne
    query[kSecReturnData as String] = true
    let data: Data = try copy(query)
    return String(data: data, encoding: .utf8)
  }

  static func allKeys(_ base: [String: AnyHashable]) throws -> Set<String> {
    var query = base
    query[kSecMatchLimit as String] = kSecMatchLimitAll
    query[kSecReturnAttributes as String] = true
    do {
      let found: Any = try copy(query)
      if let one = found as? [String: AnyHashable] {
        return Set([one[kSecAttrAccount as String] as? String].compactMap { $0 })
      }
      let many = found as? [[String: AnyHashable]] ?? []
      return Set(many.compactMap { $0[kSecAttrAccount as String] as? String })
    } catch Failure.notFound { return [] }
  }

  /// The first part of the group of an item that is made for that.
  static var groupPrefix: String? {
    var query: [CFString: Any] = [
      kSecClass: kSecClassGenericPassword, kSecAttrAccount: "placeholder of the group's prefix",
      kSecReturnAttributes: true, kSecAttrAccessible: kSecAttrAccessibleAfterFirstUnlock,
    ]
    query[kSecUseDataProtectionKeychain] = true
    var result: AnyObject? = nil
    var status = SecItemCopyMatching(query as CFDictionary, &result)
    if status == errSecItemNotFound { status = SecItemAdd(query as CFDictionary, &result) }
    guard status == errSecSuccess, let found = result as? [CFString: AnyHashable],
      let group = found[kSecAttrAccessGroup] as? String
    else { return nil }
    return group.components(separatedBy: ".").first
  }

  static func migrate(_ source: [String: AnyHashable], to destination: [String: AnyHashable], removing: Bool) throws {
    var query = source
    query[kSecMatchLimit as String] = kSecMatchLimitAll
    query[kSecReturnAttributes as String] = true
    query[kSecReturnData as String] = false
    query[kSecReturnRef as String] = false
    query[kSecReturnPersistentRef as String] = true
    let items: [[String: AnyHashable]] = try copy(query)
    let present = try allKeys(destination)
    var pairs: [String: Data] = [:]
    for item in items {
      guard let reference = item[kSecValuePersistentRef as String] else { continue }
      let data: Data = try copy([kSecValuePersistentRef as String: reference, kSecReturnData as String: true])
      guard let key = item[kSecAttrAccount as String] as? String else { continue }
      guard pairs[key] == nil, !present.contains(key) else { throw Failure.conflict }
      pairs[key] = data
    }
    for (key, data) in pairs { try set(String(decoding: data, as: UTF8.self), key, destination) }
    if removing { SecItemDelete(source as CFDictionary) }
  }
}

import Foundation
import Security

// Client code as it is written for Apple's systems: a class with a lock, constants behind computed
// names, unsafe pointers to the result, the last status kept.

struct BoxNames {
  static var itemClass: String { name(kSecClass) }
  static var account: String { name(kSecAttrAccount) }
  static var group: String { name(kSecAttrAccessGroup) }
  static var accessible: String { name(kSecAttrAccessible) }
  static var synchronizable: String { name(kSecAttrSynchronizable) }
  static var limit: String { name(kSecMatchLimit) }
  static var returnData: String { name(kSecReturnData) }
  static var returnReference: String { name(kSecReturnPersistentRef) }
  static var data: String { name(kSecValueData) }

  static func name(_ value: CFString) -> String { return value as String }
}

enum BoxAccess: CaseIterable {
  case whenUnlocked, afterFirstUnlock, always

  var value: String {
    switch self {
    case .whenUnlocked: return BoxNames.name(kSecAttrAccessibleWhenUnlocked)
    case .afterFirstUnlock: return BoxNames.name(kSecAttrAccessibleAfterFirstUnlock)
    case .always: return BoxNames.name(kSecAttrAccessibleAlways)
    }
  }
}

class PasswordBox {
  var lastStatus: OSStatus = noErr
  var group: String?
  var synchronizable = false
  let prefix: String
  private let lock = NSLock()

  init(prefix: String = "") { self.prefix = prefix }

  @discardableResult func set(_ value: Data, _ key: String, access: BoxAccess? = nil) -> Bool {
    lock.lock()
    defer { lock.unlock() }
    deleteUnlocked(key)
    var query: [String: Any] = [
      BoxNames.itemClass: kSecClassGenericPassword, BoxNames.account: prefix + key, BoxNames.data: value,
      BoxNames.accessible: (access ?? .whenUnlocked).value,
    ]
    query = scoped(query, adding: true)
    lastStatus = SecItemAdd(query as CFDictionary, nil)
    return lastStatus == noErr
  }

  @discardableResult func set(_ value: String, _ key: String, access: BoxAccess? = nil) -> Bool {
    value.data(using: .utf8).map { set($0, key, access: access) } ?? false
  }

  @discardableResult func set(_ value: Bool, _ key: String) -> Bool { set(Data(value ? [1] : [0]), key) }

  func data(_ key: String, asReference: Bool = false) -> Data? {
    lock.lock()
    defer { lock.unlock() }
    var query: [String: Any] = [
      BoxNames.itemClass: kSecClassGenericPassword, BoxNames.account: prefix + key, BoxNames.limit: kSecMatchLimitOne,
    ]
    if asReference {
      query[BoxNames.returnReference] = kCFBooleanTrue
    } else {
      query[BoxNames.returnData] = kCFBooleanTrue
    }
    query = scoped(query, adding: false)
    var result: AnyObject?
    lastStatus = withUnsafeMutablePointer(to: &result) {
      SecItemCopyMatching(query as CFDictionary, UnsafeMutablePointer($0))
    }
    return lastStatus == noErr ? result as? Data : nil
  }

  func string(_ key: String) -> String? {
    guard let data = data(key) else { return nil }
    if let string = String(data: data, encoding: .utf8) { return string }
    lastStatus = errSecInvalidEncoding
    return nil
  }

  func bool(_ key: String) -> Bool? { data(key)?.first.map { $0 == 1 } }

  var allKeys: [String] {
    let query: [String: Any] = [
      BoxNames.itemClass: kSecClassGenericPassword, BoxNames.returnData: true,
      BoxNames.name(kSecReturnAttributes): true, BoxNames.name(kSecReturnPersistentRef): true,
      BoxNames.limit: kSecMatchLimitAll,
    ]
    var result: AnyObject?
    lastStatus = withUnsafeMutablePointer(to: &result) {
      SecItemCopyMatching(scoped(query, adding: false) as CFDictionary, UnsafeMutablePointer($0))
    }
    guard lastStatus == noErr else { return [] }
    return (result as? [[String: Any]])?.compactMap { $0[BoxNames.account] as? String } ?? []
  }

  @discardableResult func delete(_ key: String) -> Bool {
    lock.lock()
    defer { lock.unlock() }
    return deleteUnlocked(key)
  }

  @discardableResult func clear() -> Bool {
    lock.lock()
    defer { lock.unlock() }
    let query: [String: Any] = [kSecClass as String: kSecClassGenericPassword]
    lastStatus = SecItemDelete(scoped(query, adding: false) as CFDictionary)
    return lastStatus == noErr
  }

  @discardableResult private func deleteUnlocked(_ key: String) -> Bool {
    let query: [String: Any] = [BoxNames.itemClass: kSecClassGenericPassword, BoxNames.account: prefix + key]
    lastStatus = SecItemDelete(scoped(query, adding: false) as CFDictionary)
    return lastStatus == noErr
  }

  private func scoped(_ items: [String: Any], adding: Bool) -> [String: Any] {
    var result = items
    if let group = group { result[BoxNames.group] = group }
    if synchronizable { result[BoxNames.synchronizable] = adding ? true : kSecAttrSynchronizableAny }
    return result
  }
}

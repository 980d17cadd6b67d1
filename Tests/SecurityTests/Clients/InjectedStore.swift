import Foundation
import Security

// Client code as it is written for Apple's systems: a value type whose calls can be replaced, an
// error that is a status, throwing everywhere.

typealias CopyFunction = (_ query: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus
typealias AddFunction = (_ attributes: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus
typealias UpdateFunction = (_ query: CFDictionary, _ change: CFDictionary) -> OSStatus
typealias DeleteFunction = (_ query: CFDictionary) -> OSStatus

struct InjectedStore {
  let service: String
  var group: String?
  var accessibility: CFString = kSecAttrAccessibleAfterFirstUnlock
  var flags: SecAccessControlCreateFlags?
  var isSynchronizable = false

  var copy: CopyFunction = SecItemCopyMatching
  var add: AddFunction = SecItemAdd
  var update: UpdateFunction = SecItemUpdate
  var delete: DeleteFunction = SecItemDelete

  init(service: String) { self.service = service }

  private func check(_ status: OSStatus) throws {
    if status != errSecSuccess { throw StoreError(StoreError.Code(rawValue: status)) }
  }

  private func base(_ key: String? = nil, _ data: Data? = nil) -> [String: Any] {
    var query: [String: Any] = [:]
    query[kSecClass as String] = kSecClassGenericPassword
    query[kSecAttrService as String] = service
    if let key = key { query[kSecAttrAccount as String] = key }
    if let data = data { query[kSecValueData as String] = data }
    if let group = group { query[kSecAttrAccessGroup as String] = group }
    if isSynchronizable { query[kSecAttrSynchronizable as String] = kCFBooleanTrue }
    return query
  }

  func data(_ key: String) throws -> Data {
    var query = base(key)
    query[kSecReturnData as String] = kCFBooleanTrue
    query[kSecMatchLimit as String] = kSecMatchLimitOne
    var result: AnyObject?
    try check(copy(query as CFDictionary, &result))
    guard let data = result as? Data else { throw StoreError(.other(status: errSecDecode)) }
    return data
  }

  func set(_ data: Data, _ key: String) throws {
    var item = base(key, data)
    if let flags = flags, let control = SecAccessControlCreateWithFlags(kCFAllocatorDefault, accessibility, flags, nil)
    {
      item[kSecAttrAccessControl as String] = control
    } else {
      item[kSecAttrAccessible as String] = accessibility
    }
    let status = add(item as CFDictionary, nil)
    if status == errSecDuplicateItem {
      let change: [String: Any] = [kSecValueData as String: data]
      try check(update(base(key) as CFDictionary, change as CFDictionary))
    } else {
      try check(status)
    }
  }

  func has(_ key: String) throws -> Bool {
    let status = copy(base(key) as CFDictionary, nil)
    if status == errSecItemNotFound { return false }
    try check(status)
    return true
  }

  func keys() throws -> [String] {
    var query = base()
    query[kSecReturnAttributes as String] = kCFBooleanTrue
    query[kSecMatchLimit as String] = kSecMatchLimitAll
    var result: AnyObject?
    let status = copy(query as CFDictionary, &result)
    guard StoreError.Code(rawValue: status) != .notFound else { return [] }
    try check(status)
    guard let items = result as? [[String: Any]] else { throw StoreError(.other(status: status)) }
    return items.compactMap { $0[kSecAttrAccount as String] as? String }
  }

  func remove(_ key: String) throws { try check(delete(base(key) as CFDictionary)) }

  func removeAll() throws {
    let status = delete(base() as CFDictionary)
    guard status != errSecItemNotFound else { return }
    try check(status)
  }
}

struct StoreError: LocalizedError, Equatable {
  enum Code: RawRepresentable, Equatable {
    case duplicate, notFound, interactionNotAllowed, decode
    case other(status: OSStatus)

    init(rawValue: OSStatus) {
      switch rawValue {
      case errSecDuplicateItem: self = .duplicate
      case errSecItemNotFound: self = .notFound
      case errSecInteractionNotAllowed: self = .interactionNotAllowed
      case errSecDecode: self = .decode
      default: self = .other(status: rawValue)
      }
    }

    var rawValue: OSStatus {
      switch self {
      case .duplicate: return errSecDuplicateItem
      case .notFound: return errSecItemNotFound
      case .interactionNotAllowed: return errSecInteractionNotAllowed
      case .decode: return errSecDecode
      case .other(let status): return status
      }
    }
  }

  let code: Code
  init(_ code: Code) { self.code = code }
  var status: OSStatus { code.rawValue }
}

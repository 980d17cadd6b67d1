import Foundation
import Security

// Client code as it is written for Apple's systems: protocols with default implementations, calls
// behind closures with an inout result, Foundation's classes.

typealias PerformClosure = (_ request: CFDictionary, _ result: inout AnyObject?) -> (OSStatus)

protocol Storable {
  var account: String { get }
  var itemClass: CFString { get }
  var properties: [String: Any] { get }
}

protocol ServiceStorable: Storable { var service: String { get } }

protocol ServerStorable: Storable {
  var server: String { get }
  var port: Int { get }
}

extension Storable {
  var perform: PerformClosure {
    return { request, result in
      withUnsafeMutablePointer(to: &result) { SecItemCopyMatching(request, UnsafeMutablePointer($0)) }
    }
  }

  var performCreate: PerformClosure {
    return { (request: CFDictionary, result: inout AnyObject?) in
      withUnsafeMutablePointer(to: &result) { pointer in SecItemAdd(request, pointer) }
    }
  }

  var properties: [String: Any] {
    var properties = [String: Any]()
    properties[String(kSecClass)] = itemClass
    properties[String(kSecAttrAccount)] = account
    if let one = self as? any ServiceStorable { properties[String(kSecAttrService)] = one.service }
    if let one = self as? any ServerStorable {
      properties[String(kSecAttrServer)] = one.server
      properties[String(kSecAttrPort)] = one.port
    }
    return properties
  }

  func create(_ data: NSData, comment: String? = nil, creator: UInt? = nil) -> OSStatus {
    var item = properties
    item[String(kSecValueData)] = data
    item[String(kSecAttrComment)] = comment
    item[String(kSecAttrCreator)] = creator
    var result: AnyObject?
    return performCreate(item as CFDictionary, &result)
  }

  func read() -> NSDictionary? {
    var query = properties
    query[String(kSecReturnData)] = kCFBooleanTrue
    query[String(kSecReturnAttributes)] = kCFBooleanTrue
    query[String(kSecMatchLimit)] = kSecMatchLimitOne
    var result: AnyObject?
    guard perform(query as CFDictionary, &result) == errSecSuccess else { return nil }
    guard let dictionary = result as? NSDictionary, dictionary[String(kSecValueData)] as? NSData != nil else {
      return nil
    }
    return dictionary
  }

  /// The whole item is the change, but for its class.
  func update(_ data: NSData) -> OSStatus {
    var query = properties
    query[String(kSecValueData)] = data
    var change = query
    change[String(kSecClass)] = nil
    return SecItemUpdate(query as CFDictionary, change as CFDictionary)
  }

  func remove() -> OSStatus { SecItemDelete(properties as CFDictionary) }
}

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

  @discardableResult func set(_ value: Data, _ key: String, _ accessible: CFString? = nil) -> Bool {
    var item = query(key, accessible)
    item[dataKey] = value
    item[accessibleKey] = accessible ?? kSecAttrAccessibleWhenUnlocked
    let status: OSStatus = SecItemAdd(item as CFDictionary, nil)
    if status == errSecDuplicateItem {
      let change: [String: Any] = [dataKey: value]
      return SecItemUpdate(query(key, accessible) as CFDictionary, change as CFDictionary) == errSecSuccess
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
    guard SecItemCopyMatching(query as CFDictionary, &result) == noErr, let found = result as? [String: AnyObject],
      let value = found[accessibleKey] as? String
    else { return nil }
    return value as CFString
  }

  /// The way to another accessibility: a change of that attribute alone.
  func migrate(_ key: String, to accessible: CFString) -> OSStatus {
    SecItemUpdate(query(key) as CFDictionary, [accessibleKey: accessible] as CFDictionary)
  }

  func allKeys() -> Set<String> {
    let query: [String: Any] = [
      classKey: kSecClassGenericPassword, serviceKey: service, kSecReturnAttributes as String: kCFBooleanTrue as Any,
      limitKey: kSecMatchLimitAll,
    ]
    var result: AnyObject?
    guard SecItemCopyMatching(query as CFDictionary, &result) == errSecSuccess else { return [] }
    var keys = Set<String>()
    if let results = result as? [[AnyHashable: Any]] {
      for attributes in results {
        if let data = attributes[kSecAttrAccount] as? Data, let account = String(data: data, encoding: .utf8) {
          keys.insert(account)
        }
      }
    }
    return keys
  }

  static func wipe() {
    for itemClass in [
      kSecClassGenericPassword, kSecClassInternetPassword, kSecClassCertificate, kSecClassKey, kSecClassIdentity,
    ] { SecItemDelete([kSecClass as String: itemClass] as CFDictionary) }
  }
}

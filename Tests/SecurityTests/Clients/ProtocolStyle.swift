// SPDX-License-Identifier: Apache-2.0

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

protocol ServiceStorable: Storable {
  var service: String { get }
}

protocol ServerStorable: Storable {
  var server: String { get }
  var port: Int { get }
}

extension Storable {
  var perform: PerformClosure {
    return { request, result in
      withUnsafeMutablePointer(to: &result) {
        SecItemCopyMatching(request, UnsafeMutablePointer($0))
      }
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
    if let one = self as? any ServiceStorable {
      properties[String(kSecAttrService)] = one.service
    }
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
    guard let dictionary = result as? NSDictionary,
      dictionary[String(kSecValueData)] as? NSData != nil
    else { return nil }
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

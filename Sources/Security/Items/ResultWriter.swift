import Foundation

/// Gives what was found the form that the request asked for.
struct ResultWriter {
  private let shape: ResultShape
  private let isArray: Bool

  init(_ request: ItemRequest) {
    shape = request.shape
    isArray = (request.limit ?? .one) != .one
  }

  /// Nil when nothing was asked for.
  func value(of found: [FoundItem]) -> AnyObject? {
    guard !shape.isEmpty, let first = found.first else { return nil }
    return isArray ? found.map { value(of: $0) } as AnyObject : value(of: first) as AnyObject
  }

  private func value(of found: FoundItem) -> Any {
    switch shape {
    case .data:
      // Also of an item without data, as on Apple's systems: success gives a value.
      return found.secret?.data ?? Data()
    case .persistentReference: return Data(found.reference.bytes)
    case .reference:
      // Passwords have no objects.
      return object(of: found) ?? attributes(of: found)
    default: return dictionary(of: found)
    }
  }

  private func dictionary(of found: FoundItem) -> [String: Any] {
    var dictionary = shape.contains(.attributes) ? attributes(of: found) : [:]
    dictionary[kSecClass] = found.itemClass.code
    if shape.contains(.data), found.hasData { dictionary[kSecValueData] = found.secret?.data }
    if shape.contains(.reference) { dictionary[kSecValueRef] = object(of: found) }
    if shape.contains(.persistentReference) { dictionary[kSecValuePersistentRef] = Data(found.reference.bytes) }
    return dictionary
  }

  private func attributes(of found: FoundItem) -> [String: Any] {
    var dictionary = Self.defaults(of: found.itemClass)
    dictionary[kSecClass] = found.itemClass.code
    dictionary.merge(Self.dictionary(of: found.attributes)) { $1 }
    let holder = found.secretHolder
    dictionary[kSecAttrAccessible] = holder.accessible.code
    dictionary[kSecAttrSynchronizable] = NSNumber(value: found.item.isSynchronizable ? 1 : 0)
    // Also without conditions, as on iOS: wrappers there read the accessibility from it.
    dictionary[kSecAttrAccessControl] = SecAccessControl(holder.accessible, holder.accessControl ?? AccessControl([]))
    return dictionary
  }

  /// Without this project's own attributes, which have no names there.
  static func dictionary(of attributes: ItemAttributes) -> [String: Any] {
    var dictionary: [String: Any] = [:]
    for (attribute, value) in attributes { if let code = attribute.code { dictionary[code] = value.object } }
    return dictionary
  }

  /// What counts as empty or 0 in the primary key of a password is given back like that.
  private static func defaults(of itemClass: RequestClass) -> [String: Any] {
    switch itemClass {
    case .stored(.genericPassword): [kSecAttrAccount: "", kSecAttrService: ""]
    case .stored(.internetPassword):
      [
        kSecAttrAccount: "", kSecAttrSecurityDomain: "", kSecAttrServer: "", kSecAttrPath: "",
        kSecAttrPort: NSNumber(value: 0),
      ]
    default: [:]
    }
  }

  private func object(of found: FoundItem) -> Any? {
    switch found.itemClass {
    case .stored(.certificate): SecCertificate(found)
    case .stored(.key): SecKey(found)
    case .identity: SecIdentity(found)
    case .stored(.genericPassword), .stored(.internetPassword): nil
    }
  }
}

extension ItemSecret { var data: Data { withUnsafeBytes { Data($0) } } }

extension AttributeValue {
  /// As Foundation's types, which turn into any of Swift's that fits.
  fileprivate var object: Any {
    switch self {
    case .string(let text): text
    case .data(let bytes): Data(bytes)
    case .integer(let number): NSNumber(value: number)
    // A number, as in the original: it can be cast to `Bool` and to `Int`.
    case .bool(let truth): NSNumber(value: truth ? 1 : 0)
    case .date(let microseconds): Date(timeIntervalSince1970: Double(microseconds) / 1_000_000)
    }
  }
}

import Foundation

/// Reads what a dictionary of Keychain Services says. Keys of four characters are attributes; the
/// others begin with what they are about: `m_` matching, `r_` return, `u_` use, `v_` value.
struct RequestReader {
  var request: ItemRequest
  /// What attributes are of.
  private let itemClass: RequestClass?

  /// What a dictionary is for.
  enum Call { case add, query }

  /// Reads a query, or an item to be added.
  static func request(_ dictionary: [String: Any], for call: Call) throws(KeychainError) -> ItemRequest {
    var request = ItemRequest()
    if let value = dictionary[kSecClass] {
      guard let code = ValueReader.text(value), let itemClass = RequestClass(code: code) else {
        throw ValueReader.unfit(kSecClass)
      }
      request.itemClass = itemClass
    }
    if let value = dictionary[kSecValuePersistentRef] {
      request.reference = try ValueReader.reference(value, of: kSecValuePersistentRef)
    }
    if let value = dictionary[kSecMatchItemList] {
      request.itemList = try ValueReader.references(value, of: kSecMatchItemList)
    }
    if let value = dictionary[kSecValueRef] { try readObject(value, of: call, into: &request) }
    var reader = RequestReader(request: request, itemClass: request.namedClass)
    for (key, value) in dictionary { try reader.read(key, value) }
    reader.readCertificate()
    reader.readContext(dictionary[kSecUseAuthenticationContext])
    return reader.request
  }

  /// Reads what the items that `query` means are to become.
  static func change(_ dictionary: [String: Any], of query: ItemRequest) throws(KeychainError) -> ItemRequest {
    var reader = RequestReader(request: ItemRequest(), itemClass: query.namedClass)
    for (key, value) in dictionary {
      guard key != kSecClass, key != kSecValueRef, key != kSecValuePersistentRef else {
        throw KeychainError(.param, "an update cannot change \"\(key)\"")
      }
      try reader.read(key, value)
    }
    return reader.request
  }

  private mutating func read(_ key: String, _ value: Any) throws(KeychainError) {
    switch key {
    case kSecClass, kSecValueRef, kSecValuePersistentRef: break  // Read first, because they say what the others mean.
    case kSecValueData:
      guard let data = value as? Data else { throw ValueReader.unfit(key) }
      request.secret = ItemSecret(copying: data)
    case kSecAttrPersistentReference: request.reference = try ValueReader.reference(value, of: key)
    case kSecUseDataProtectionKeychain: break  // There is but one keychain.
    case _ where key.utf8.count == 4: try readAttribute(key, value)
    case _ where key.hasPrefix("m_"): try readMatching(key, value)
    case _ where key.hasPrefix("r_"): try readReturn(key, value)
    case _ where key.hasPrefix("u_"): try readUse(key, value)
    default: throw KeychainError(.param, "\"\(key)\" is no key of Keychain Services")
    }
  }

  private mutating func readReturn(_ key: String, _ value: Any) throws(KeychainError) {
    let part: ResultShape
    switch key {
    case kSecReturnData: part = .data
    case kSecReturnAttributes: part = .attributes
    case kSecReturnRef: part = .reference
    case kSecReturnPersistentRef: part = .persistentReference
    default: throw KeychainError(.param, "\"\(key)\" is no key of Keychain Services")
    }
    request.namesResult = true
    if try ValueReader.truth(value, of: key) { request.shape.insert(part) }
  }

  private mutating func readUse(_ key: String, _ value: Any) throws(KeychainError) {
    switch key {
    case kSecUseAuthenticationUI:
      guard let text = ValueReader.text(value), let choice = AuthenticationUI(rawValue: text) else {
        throw ValueReader.unfit(key)
      }
      request.authenticationUI = choice
    case kSecUseNoAuthenticationUI: if try ValueReader.truth(value, of: key) { request.authenticationUI = .fail }
    case kSecUseOperationPrompt: request.prompt = ValueReader.text(value)
    case kSecUseItemList: throw Self.unsupported(key)
    case kSecUseAuthenticationContext: break  // Read last: what the request says itself goes first.
    case kSecUseKeychain, kSecUseUserIndependentKeychain: break  // There is but one keychain here.
    default: throw KeychainError(.param, "\"\(key)\" is no key of Keychain Services")
    }
  }

  private mutating func readAttribute(_ key: String, _ value: Any) throws(KeychainError) {
    switch key {
    case kSecAttrAccessGroup:
      guard let group = ValueReader.text(value) else { throw ValueReader.unfit(key) }
      request.accessGroup = group
    case kSecAttrSynchronizable:
      if ValueReader.text(value) == kSecAttrSynchronizableAny {
        request.synchronizable = .any
      } else {
        request.synchronizable = try ValueReader.truth(value, of: key) ? .yes : .no
      }
    case kSecAttrAccessible:
      guard let accessible = ValueReader.text(value).flatMap(Accessibility.init(code:)) else {
        throw ValueReader.unfit(key)
      }
      try setAccessible(accessible)
    case kSecAttrAccessControl:
      guard let control = value as? SecAccessControl else { throw ValueReader.unfit(key) }
      request.accessControl = control.conditions
      try setAccessible(control.accessible)
    default:
      // A request that names no class at all is refused as a whole.
      guard let itemClass else { return }
      let attribute = try itemClass.attribute(code: key)
      request.attributes[attribute] = try ValueReader.value(value, of: attribute, key: key)
    }
  }

  /// An access control says when an item is accessible too; both may be given if they agree.
  private mutating func setAccessible(_ accessible: Accessibility) throws(KeychainError) {
    guard request.accessible == nil || request.accessible == accessible else {
      throw KeychainError(.param, "the access control and \"\(kSecAttrAccessible)\" contradict each other")
    }
    request.accessible = accessible
  }
}

extension RequestReader {
  mutating func readMatching(_ key: String, _ value: Any) throws(KeychainError) {
    if key == kSecMatchLimit {
      request.limit = try ValueReader.limit(value)
      return
    }
    request.namesMatching = true
    switch key {
    case kSecMatchCaseInsensitive: request.ignoresCase = try ValueReader.truth(value, of: key)
    case kSecMatchHostOrSubdomainOfHost:
      guard let host = ValueReader.text(value) else { throw ValueReader.unfit(key) }
      request.host = host
    case kSecMatchItemList: break  // Read first, because its entries may say the class.
    case kSecMatchDiacriticInsensitive, kSecMatchWidthInsensitive, kSecMatchTrustedOnly:
      if try ValueReader.truth(value, of: key) { throw Self.unsupported(key) }
    case kSecMatchPolicy, kSecMatchIssuers, kSecMatchEmailAddressIfPresent, kSecMatchSubjectContains,
      kSecMatchSubjectStartsWith, kSecMatchSubjectEndsWith, kSecMatchSubjectWholeString, kSecMatchValidOnDate:
      throw Self.unsupported(key)
    case kSecMatchSearchList: break  // There is but one keychain.
    default: throw KeychainError(.param, "\"\(key)\" is no key of Keychain Services")
    }
  }

  /// A condition that is not looked at would find too much.
  static func unsupported(_ key: String) -> KeychainError {
    KeychainError(.unimplemented, "\"\(key)\" is not supported")
  }
}

extension RequestReader {
  /// What an object stands for: in a query, of one that came out of the keychain its item; of one
  /// that was made of data, what has the same primary key.
  static func readObject(_ value: Any, of call: Call, into request: inout ItemRequest) throws(KeychainError) {
    let itemClass: RequestClass
    let object: any KeychainObject
    switch value {
    case let certificate as SecCertificate:
      (itemClass, object) = (.stored(.certificate), certificate)
      request.attributes = certificate.fields.primaryKey
      request.defaults = certificate.fields.derived
      request.secret = ItemSecret(copying: certificate.bytes)
    case let key as SecKey:
      (itemClass, object) = (.stored(.key), key)
      // What a new key does not say need not be stored; of a known one it says which key is meant.
      request.attributes = call == .add ? key.primaryKey : key.wholePrimaryKey
      request.defaults = key.attributes
      request.secret = key.material
    case let identity as SecIdentity: (itemClass, object) = (.identity, identity)
    default: throw ValueReader.unfit(kSecValueRef)
    }
    if call == .query || itemClass == .identity, let reference = object.persistentReference {
      // Nothing else: the item may have been changed since, and is still the one that is meant.
      request.attributes = [:]
      guard request.reference == nil || request.reference == reference else {
        throw KeychainError(.param, "the object and the persistent reference contradict each other")
      }
      request.reference = reference
    }
    guard request.itemClass == nil || request.itemClass == itemClass else {
      throw KeychainError(.param, "the object and the class contradict each other")
    }
    request.itemClass = itemClass
  }

  /// A certificate that is given as data says its attributes itself.
  mutating func readCertificate() {
    guard request.itemClass == .stored(.certificate), request.defaults.isEmpty,
      let bytes = request.secret?.withUnsafeBytes({ Array($0) }), let fields = CertificateFields(bytes)
    else { return }
    request.defaults = fields.derived.merging(fields.primaryKey) { $1 }
  }
}

/// Reads single values of a dictionary: Swift's own types and Foundation's.
enum ValueReader {
  static func text(_ value: Any) -> String? { value as? String }

  static func truth(_ value: Any, of key: String) throws(KeychainError) -> Bool {
    guard let number = value as? NSNumber else { throw unfit(key) }
    return number.boolValue
  }

  static func limit(_ value: Any) throws(KeychainError) -> MatchLimit {
    if let text = text(value) {
      switch text {
      case kSecMatchLimitOne: return .one
      case kSecMatchLimitAll: return .all
      default: throw unfit(kSecMatchLimit)
      }
    }
    guard let number = value as? NSNumber else { throw unfit(kSecMatchLimit) }
    return try MatchLimit(number.int64Value)
  }

  static func reference(_ value: Any, of key: String) throws(KeychainError) -> ItemReference {
    guard let data = value as? Data else { throw unfit(key) }
    return try ItemReference(decoding: Array(data))
  }

  /// An array of persistent references, or of objects that came out of the keychain.
  static func references(_ value: Any, of key: String) throws(KeychainError) -> [ItemReference] {
    guard let list = value as? [Any] else { throw unfit(key) }
    var references: [ItemReference] = []
    for entry in list {
      if let object = entry as? any KeychainObject {
        guard let reference = object.persistentReference else { throw unfit(key) }
        references.append(reference)
      } else {
        references.append(try reference(entry, of: key))
      }
    }
    return references
  }

  /// The value of an attribute, in the form in which the keychain compares it.
  static func value(_ value: Any, of attribute: ItemAttribute, key: String) throws(KeychainError) -> AttributeValue {
    if let value = read(value, as: attribute.kind) { return value }
    throw unfit(key)
  }

  private static func read(_ value: Any, as kind: ItemAttribute.Kind) -> AttributeValue? {
    switch kind {
    case .bytes: return text(value).map { .string($0) } ?? (value as? Data).map { .data(Array($0)) }
    case .number:
      if let text = text(value) { return Int64(text).map { .integer($0) } }
      return number(value).map { .integer($0) }
    case .numberOrText: return text(value).map { .string($0) } ?? number(value).map { .integer($0) }
    case .decimalText: return text(value).map { .string($0) } ?? number(value).map { .string(String($0)) }
    case .fourCharacters: return text(value).map { .string($0) } ?? number(value).flatMap { characters($0) }
    case .truth: return (value as? NSNumber).map { .bool($0.boolValue) }
    case .date: return (value as? Date).flatMap { microseconds($0) }
    }
  }

  private static func number(_ value: Any) -> Int64? { (value as? NSNumber)?.int64Value }

  /// 0x68747073 is "htps".
  private static func characters(_ number: Int64) -> AttributeValue? {
    guard number != 0 else { return .string("") }
    guard let code = UInt32(exactly: number) else { return nil }
    let bytes = withUnsafeBytes(of: code.bigEndian) { Array($0) }
    guard bytes.allSatisfy({ (0x20..<0x7F).contains($0) }) else { return nil }
    return .string(String(decoding: bytes, as: UTF8.self))
  }

  /// Nil for dates that no calendar has.
  private static func microseconds(_ date: Date) -> AttributeValue? {
    let value = (date.timeIntervalSince1970 * 1_000_000).rounded()
    return Int64(exactly: value).map { .date(microseconds: $0) }
  }

  /// Names the key, never the value.
  static func unfit(_ key: String) -> KeychainError {
    KeychainError(.param, "the value of \"\(key)\" is of the wrong type or is invalid")
  }
}

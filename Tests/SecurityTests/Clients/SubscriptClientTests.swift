import Foundation
import Security
import Testing

extension OwnKeychain {
  /// Wrappers whose items are read and written in subscripts.
  @Suite struct SubscriptClientTests {
    private let store = ProgramStore()

    @Test func subscriptsOptionsAndAttributes() throws {
      let vault = SubscriptVault(.generic(service: "mail")).label("Mail")
      #expect(vault["anna"] == nil)
      vault["anna"] = "hunter2"
      #expect(vault["anna"] == "hunter2")
      vault["anna"] = "changed 👋"
      #expect(vault["anna"] == "changed 👋")
      let attributes = try #require(try vault.attributes(of: "anna"))
      #expect(attributes[String(kSecClass)] as? String == String(kSecClassGenericPassword))
      #expect(attributes[String(kSecAttrLabel)] as? String == "Mail")
      #expect(attributes[String(kSecAttrSynchronizable)] as? Bool == false)
      #expect(attributes[String(kSecValuePersistentRef)] as? Data != nil)
      #expect(attributes[String(kSecValueRef)] as? Data == nil)
      vault["anna"] = nil
      #expect(vault["anna"] == nil)
      #expect(try vault.attributes(of: "anna") == nil)
    }

    @Test func serversWithPortsAndProtocols() throws {
      let url = try #require(URL(string: "https://example.com:443/login"))
      let vault = SubscriptVault(.internet(url, .https)).attributes([
        String(kSecAttrSecurityDomain): "domain", String(kSecAttrCreator): "Creator Test",
        String(kSecAttrType): "Type Test", String(kSecAttrIsInvisible): true,
      ])
      vault["anna"] = "hunter2"
      let other = SubscriptVault(.internet(url, .http))
      #expect(other["anna"] == nil)
      let attributes = try #require(try vault.attributes(of: "anna"))
      #expect(attributes[String(kSecAttrServer)] as? String == "example.com")
      #expect(attributes[String(kSecAttrPort)] as? Int == 443)
      #expect(attributes[String(kSecAttrPath)] as? String == "")
      #expect(attributes[String(kSecAttrCreator)] as? String == "Creator Test")
      #expect(attributes[String(kSecAttrIsInvisible)] as? Bool == true)
      let proto = attributes[String(kSecAttrProtocol)] as? String
      #expect(proto.flatMap(VaultProtocol.init(rawValue:)) == .https)
      try vault.removeAll()
      #expect(vault["anna"] == nil)
    }

    @Test func synchronizableItemsAndGroupsInSubscripts() throws {
      store.use(groups: ["27AEDK3C9F.own", "27AEDK3C9F.shared"])
      let vault = SubscriptVault(.generic(service: "mail"))
      vault["local"] = "1"
      _ = vault.synchronizable(true)
      vault["away"] = "2"
      #expect(vault.allKeys().sorted() == ["away", "local"])
      let shared = SubscriptVault(.generic(service: "mail")).group("27AEDK3C9F.shared")
      #expect(shared.allKeys().isEmpty)
      shared["common"] = "3"
      #expect(vault.allKeys().count == 3)
      #expect(throws: VaultError(status: errSecMissingEntitlement)) {
        try SubscriptVault(.generic(service: "mail")).group("elsewhere").set(Data(), "a")
      }
      #expect(VaultError(status: errSecItemNotFound).localizedDescription.contains("no such item"))
      // The same key, synchronizable or not, is found and changed.
      vault["local"] = "changed"
      #expect(vault["local"] == "changed")
    }

    @Test func guardedItemsInSubscripts() throws {
      let vault = SubscriptVault(.generic(service: "mail")).accessibility(
        kSecAttrAccessibleAfterFirstUnlock, .userPresence)
      try vault.set(Data("1".utf8), "anna")
      #expect(throws: VaultError(status: errSecInteractionNotAllowed)) { try vault.get("anna") }
      #expect(throws: VaultError(status: errSecInteractionNotAllowed)) { try vault.set(Data("2".utf8), "anna") }
      #expect(throws: NSError.self) {
        try SubscriptVault(.generic(service: "x")).accessibility("zz", .userPresence).set(Data(), "a")
      }
      store.use(confirmPresence: { _ in true })
      #expect(try vault.get("anna") == Data("1".utf8))
    }
  }
}

// Client code as it is written for Apple's systems: chained options, subscripts, constants turned
// into texts once, attributes as an object.

private let classKey = String(kSecClass)
private let accountKey = String(kSecAttrAccount)
private let synchronizableKey = String(kSecAttrSynchronizable)
private let dataKey = String(kSecValueData)
private let limitKey = String(kSecMatchLimit)
private let returnDataKey = String(kSecReturnData)

final class SubscriptVault {
  enum Kind {
    case generic(service: String)
    case internet(URL, VaultProtocol)
  }

  private(set) var kind: Kind
  private(set) var accessibility = kSecAttrAccessibleAfterFirstUnlock
  private(set) var policy: SecAccessControlCreateFlags?
  private(set) var isSynchronizable = false
  private(set) var group: String?
  private(set) var label: String?
  private(set) var more: [String: Any] = [:]

  init(_ kind: Kind) { self.kind = kind }

  func accessibility(_ value: CFString, _ policy: SecAccessControlCreateFlags? = nil) -> Self {
    (accessibility, self.policy) = (value, policy)
    return self
  }
  func synchronizable(_ value: Bool) -> Self {
    isSynchronizable = value;
    return self
  }
  func group(_ value: String?) -> Self {
    group = value;
    return self
  }
  func label(_ value: String?) -> Self {
    label = value;
    return self
  }
  func attributes(_ values: [String: Any]) -> Self {
    more = values;
    return self
  }

  private func query() -> [String: Any] {
    var query = [String: Any]()
    switch kind {
    case .generic(let service):
      query[classKey] = String(kSecClassGenericPassword)
      query[String(kSecAttrService)] = service
    case .internet(let url, let proto):
      query[classKey] = String(kSecClassInternetPassword)
      query[String(kSecAttrServer)] = url.host
      query[String(kSecAttrPort)] = url.port
      query[String(kSecAttrProtocol)] = proto.rawValue
      query[String(kSecAttrAuthenticationType)] = String(kSecAttrAuthenticationTypeDefault)
    }
    query[synchronizableKey] = kSecAttrSynchronizableAny
    if let group = group { query[String(kSecAttrAccessGroup)] = group }
    return query
  }

  private func attributes(_ value: Data) throws -> [String: Any] {
    var attributes = [String: Any]()
    attributes[dataKey] = value
    if label != nil { attributes[String(kSecAttrLabel)] = label }
    if let policy = policy {
      var error: Unmanaged<CFError>?
      guard
        let control = SecAccessControlCreateWithFlags(
          kCFAllocatorDefault, accessibility as CFTypeRef,
          SecAccessControlCreateFlags(rawValue: CFOptionFlags(policy.rawValue)), &error)
      else {
        if let error = error?.takeUnretainedValue() { throw error.asNSError }
        throw VaultError(status: errSecInternalError)
      }
      attributes[String(kSecAttrAccessControl)] = control
    } else {
      attributes[String(kSecAttrAccessible)] = accessibility
    }
    attributes[synchronizableKey] = isSynchronizable ? kCFBooleanTrue : kCFBooleanFalse
    more.forEach { attributes.updateValue($1, forKey: $0) }
    return attributes
  }

  func get(_ key: String) throws -> Data? {
    var query = self.query()
    query[limitKey] = kSecMatchLimitOne
    query[returnDataKey] = kCFBooleanTrue
    query[accountKey] = key
    var result: AnyObject?
    let status = SecItemCopyMatching(query as CFDictionary, &result)
    switch status {
    case errSecSuccess:
      guard let data = result as? Data else { throw VaultError(status: errSecDecode) }
      return data
    case errSecItemNotFound: return nil
    default: throw VaultError(status: status)
    }
  }

  func set(_ value: Data, _ key: String) throws {
    var query = self.query()
    query[accountKey] = key
    query[String(kSecUseAuthenticationUI)] = kSecUseAuthenticationUIFail
    var status = SecItemCopyMatching(query as CFDictionary, nil)
    switch status {
    case errSecSuccess, errSecInteractionNotAllowed:
      var query = self.query()
      query[accountKey] = key
      status = SecItemUpdate(query as CFDictionary, try attributes(value) as CFDictionary)
    case errSecItemNotFound:
      let item = self.query().merging(try attributes(value)) { $1 }.merging([accountKey: key]) { $1 }
      status = SecItemAdd(item as CFDictionary, nil)
    default: break
    }
    if status != errSecSuccess { throw VaultError(status: status) }
  }

  func remove(_ key: String) throws {
    var query = self.query()
    query[accountKey] = key
    let status = SecItemDelete(query as CFDictionary)
    if status != errSecSuccess && status != errSecItemNotFound { throw VaultError(status: status) }
  }

  func removeAll() throws {
    var query = self.query()
    query[limitKey] = kSecMatchLimitAll
    let status = SecItemDelete(query as CFDictionary)
    if status != errSecSuccess && status != errSecItemNotFound { throw VaultError(status: status) }
  }

  func attributes(of key: String) throws -> [String: Any]? {
    var query = self.query()
    query[limitKey] = kSecMatchLimitOne
    for part in [kSecReturnData, kSecReturnAttributes, kSecReturnRef, kSecReturnPersistentRef] {
      query[String(part)] = kCFBooleanTrue
    }
    query[accountKey] = key
    var result: AnyObject?
    let status = SecItemCopyMatching(query as CFDictionary, &result)
    if status == errSecItemNotFound { return nil }
    guard status == errSecSuccess, let attributes = result as? [String: Any] else { throw VaultError(status: status) }
    return attributes
  }

  func allKeys() -> [String] {
    var query = self.query()
    query[limitKey] = kSecMatchLimitAll
    query[String(kSecReturnAttributes)] = kCFBooleanTrue
    var result: AnyObject?
    guard SecItemCopyMatching(query as CFDictionary, &result) == errSecSuccess, let items = result as? [[String: Any]]
    else { return [] }
    return items.compactMap { $0[accountKey] as? String }
  }

  subscript(key: String) -> String? {
    get { (try? get(key)).flatMap { $0 }.flatMap { String(data: $0, encoding: .utf8) } }
    set { if let value = newValue { try? set(Data(value.utf8), key) } else { try? remove(key) } }
  }
}

extension CFError {
  var asNSError: NSError {
    let domain = CFErrorGetDomain(self) as String
    let code = CFErrorGetCode(self)
    return NSError(domain: domain, code: code, userInfo: CFErrorCopyUserInfo(self))
  }
}

enum VaultProtocol: CaseIterable, RawRepresentable {
  case http, https

  init?(rawValue: String) {
    switch rawValue {
    case String(kSecAttrProtocolHTTP): self = .http
    case String(kSecAttrProtocolHTTPS): self = .https
    default: return nil
    }
  }

  var rawValue: String {
    switch self {
    case .http: return String(kSecAttrProtocolHTTP)
    case .https: return String(kSecAttrProtocolHTTPS)
    }
  }
}

struct VaultError: LocalizedError, Equatable {
  let status: OSStatus
  var errorDescription: String? { SecCopyErrorMessageString(status, nil) as String? }
}

import Foundation
import Security
import Testing

extension OwnKeychain {
  /// Wrappers that make their queries as Foundation's dictionaries.
  @Suite struct DictionaryClientTests {
    private let store = ProgramStore()

    @Test func literalsAsFoundationsDictionaries() {
      let set = DictionaryLiterals.set
      #expect(set(Data("1".utf8), "anna", "mail") == errSecSuccess)
      #expect(set(Data("2".utf8), "anna", "mail") == errSecSuccess)
      #expect(DictionaryLiterals.get(account: "anna", service: "mail") == Data("2".utf8))
      let query = password("anna")
      let foundation = NSDictionary(dictionary: query)
      #expect(SecItemUpdate(foundation, [kSecAttrLabel: "1"] as CFDictionary) == errSecSuccess)
      #expect(SecItemUpdate(query as CFDictionary, [kSecAttrLabel: "2"] as NSDictionary) == errSecSuccess)
      #expect(find(password("anna", [kSecAttrLabel: "2"])) == errSecSuccess)
      #expect(DictionaryLiterals.delete(service: "mail") == errSecSuccess)
      #expect(DictionaryLiterals.delete(service: "mail") == errSecItemNotFound)
    }

    @Test func keysOfFoundationsDictionariesHaveToBeTexts() {
      insert(password("anna", secret("x")))
      let odd = NSMutableDictionary(dictionary: password("anna"))
      odd[NSNumber(value: 1)] = "x"
      let change = [kSecAttrLabel: "1"]
      #expect(SecItemAdd(odd, nil) == errSecParam)
      #expect(SecItemCopyMatching(odd, nil) == errSecParam)
      #expect(SecItemUpdate(odd, change as NSDictionary) == errSecParam)
      #expect(SecItemUpdate(odd, change as CFDictionary) == errSecParam)
      #expect(SecItemUpdate(password("anna") as CFDictionary, odd) == errSecParam)
      #expect(SecItemDelete(odd) == errSecParam)
      #expect(count() == 1)
    }

    @Test func callsInVariablesAreOfDictionaries() {
      let calls = DictionaryLiterals.Calls()
      #expect(calls.add(password("anna", secret("x")), nil) == errSecSuccess)
      #expect(calls.copy(password("anna"), nil) == errSecSuccess)
      #expect(calls.update(password("anna"), [kSecAttrLabel: "1"]) == errSecSuccess)
      #expect(calls.delete(password("anna")) == errSecSuccess)
    }
  }
}

// Client code as it is written for Apple's systems: literals that are made Foundation's
// dictionaries where they are used, and calls that are kept in variables.

enum DictionaryLiterals {
  static func set(_ value: Data, account: String, service: String) -> OSStatus {
    let status = SecItemAdd(
      [kSecClass: kSecClassGenericPassword, kSecAttrAccount: account, kSecAttrService: service, kSecValueData: value]
        as NSDictionary, nil)
    guard status == errSecDuplicateItem else { return status }
    return SecItemUpdate(
      [kSecClass: kSecClassGenericPassword, kSecAttrAccount: account, kSecAttrService: service] as NSDictionary,
      [kSecValueData: value] as NSDictionary)
  }

  static func get(account: String, service: String) -> Data? {
    var result: AnyObject?
    let status = SecItemCopyMatching(
      [kSecClass: kSecClassGenericPassword, kSecAttrAccount: account, kSecAttrService: service, kSecReturnData: true]
        as NSDictionary, &result)
    return status == errSecSuccess ? result as? Data : nil
  }

  static func delete(service: String) -> OSStatus {
    let query = NSMutableDictionary()
    query[kSecClass] = kSecClassGenericPassword
    query[kSecAttrService] = service
    return SecItemDelete(query)
  }

  /// Calls that a test replaces: of the four as they are, without a word about their types.
  struct Calls {
    var add = SecItemAdd
    var copy = SecItemCopyMatching
    var update = SecItemUpdate
    var delete = SecItemDelete
  }
}

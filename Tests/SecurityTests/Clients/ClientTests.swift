import Foundation
import Security
import Testing

extension OwnKeychain {
  /// Wrappers in the styles that programs use, compiled as they stand and at work.
  @Suite struct ClientTests {
    private let store = ProgramStore()

    @Test func aBoxWithPointersAndTheLastStatus() {
      let box = PasswordBox(prefix: "test_")
      #expect(box.set("hello :)", "one"))
      #expect(box.string("one") == "hello :)")
      for access in BoxAccess.allCases { #expect(box.set("again", "one", access: access)) }
      #expect(box.string("none") == nil)
      #expect(box.lastStatus == errSecItemNotFound)
      #expect(box.set(Data([0xFF, 0xFE]), "binary"))
      #expect(box.string("binary") == nil)
      #expect(box.lastStatus == errSecInvalidEncoding)
      #expect(box.set(true, "yes") && box.set(false, "no"))
      #expect(box.bool("yes") == true && box.bool("no") == false && box.bool("none") == nil)
      #expect(box.data("one", asReference: true) != box.data("one"))
      #expect(box.allKeys == ["test_one", "test_binary", "test_yes", "test_no"])
      #expect(box.delete("one"))
      #expect(!box.delete("one"))
      #expect(box.set("", "empty"))
      #expect(box.string("empty") == "")
      box.synchronizable = true
      #expect(box.set("away", "away"))
      #expect(box.string("away") == "away")
      #expect(box.clear())
      #expect(box.allKeys.isEmpty)
      #expect(!box.clear())
      box.group = "elsewhere"
      #expect(!box.set("x", "x"))
      #expect(box.lastStatus == errSecMissingEntitlement)
    }

    @Test func callsAsValues() throws {
      typealias ResultFunction = (_ query: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus
      let (copy, add): (ResultFunction, ResultFunction) = (SecItemCopyMatching, SecItemAdd)
      let update: (_ query: CFDictionary, _ change: CFDictionary) -> OSStatus = SecItemUpdate
      let delete: (_ query: CFDictionary) -> OSStatus = SecItemDelete
      let perform: (_ request: CFDictionary, _ result: inout AnyObject?) -> (OSStatus) = { request, result in
        withUnsafeMutablePointer(to: &result) { copy(request, UnsafeMutablePointer($0)) }
      }
      var query = [String(kSecClass): kSecClassGenericPassword, String(kSecAttrAccount): "anna"] as [String: Any]
      let comment: String? = nil
      query[String(kSecAttrComment)] = comment
      #expect(add(query as CFDictionary, nil) == errSecSuccess)
      let data = NSData(data: Data([1]))
      #expect(update(query as CFDictionary, [String(kSecValueData): data] as CFDictionary) == errSecSuccess)
      let wanted: [String: Any] = [String(kSecReturnData): kCFBooleanTrue as Any, String(kSecReturnAttributes): true]
      var result: AnyObject?
      #expect(perform(query.merging(wanted) { $1 } as CFDictionary, &result) == errSecSuccess)
      let item = try #require(result as? NSDictionary)
      #expect(item[String(kSecValueData)] as? NSData == data)
      #expect(item[String(kSecAttrCreator)] as? NSData == nil)
      #expect(delete(query as CFDictionary) == errSecSuccess)
    }

    @Test func queriesOfHashableValues() throws {
      var query: [String: AnyHashable] = [
        kSecClass as String: kSecClassGenericPassword as String, kSecAttrService as String: "guarded",
      ]
      if #available(iOS 13.0, macOS 10.15, *) { query[kSecUseDataProtectionKeychain as String] = true }
      query[kSecAttrAccessControl as String] = SecAccessControlCreateWithFlags(
        nil, kSecAttrAccessibleWhenUnlocked, .userPresence, nil)
      var item = query
      item[kSecValueData as String] = Data("hidden".utf8)
      #expect(SecItemAdd(item as CFDictionary, nil) == errSecSuccess)
      query[kSecMatchLimit as String] = kSecMatchLimitAll
      query[kSecReturnAttributes as String] = true
      query[kSecReturnRef as String] = false
      query[kSecReturnPersistentRef as String] = true
      var result: AnyObject? = nil
      #expect(SecItemCopyMatching(query as CFDictionary, &result) == errSecSuccess)
      let found = try #require((result as? [[String: AnyHashable]])?.first?[kSecValuePersistentRef as String])
      let one: [String: AnyHashable] = [kSecValuePersistentRef as String: found, kSecReturnData as String: true]
      #expect(SecItemCopyMatching(one as CFDictionary, &result) == errSecInteractionNotAllowed)

      let own: [CFString: Any] = [
        kSecClass: kSecClassGenericPassword, kSecAttrAccount: "placeholder", kSecReturnAttributes: true,
      ]
      #expect(SecItemAdd(own as CFDictionary, &result) == errSecSuccess)
      let attributes = try #require(result as? [CFString: AnyHashable])
      #expect(attributes[kSecAttrAccessGroup] as? String == "team.own")
    }

    @Test func accountsAsDataAndAnotherAccessibility() throws {
      let accountKey: String! = kSecAttrAccount as String
      let accessibleKey: String! = kSecAttrAccessible as String
      let account = Data("👋".utf8)
      let query: [String: Any] = [kSecClass as String: kSecClassGenericPassword, accountKey: account]
      #expect(SecItemAdd(query as CFDictionary, nil) == errSecSuccess)
      for accessible in [kSecAttrAccessibleAfterFirstUnlock, kSecAttrAccessibleAlways] {
        #expect(SecItemUpdate(query as CFDictionary, [accessibleKey: accessible] as CFDictionary) == noErr)
        let wanted = query.merging([kSecReturnAttributes as String: kCFBooleanTrue as Any]) { $1 }
        var result: AnyObject?
        #expect(SecItemCopyMatching(wanted as CFDictionary, &result) == noErr)
        let found = try #require(result as? [String: AnyObject])
        #expect(found[accountKey] as? Data == account)
        #expect((found[accessibleKey] as? String).map { $0 as CFString } == accessible)
        #expect(find(query, [accessibleKey: kSecAttrAccessibleWhenUnlocked]) == errSecItemNotFound)
      }
    }
  }
}

// SPDX-License-Identifier: Apache-2.0

import Foundation
import Security
import Testing

extension OwnKeychain {
  /// Wrappers cast what they get to whatever suits them: Swift's types, Foundation's, hashable ones.
  @Suite struct CastTests {
    private func store() throws -> ProgramStore {
      let store = try ProgramStore()
      let control = SecAccessControlCreateWithFlags(
        nil, kSecAttrAccessibleWhenUnlocked, .userPresence, nil)
      #expect(add(password("a", [kSecValueData: Data("1".utf8), kSecAttrCreator: 7])) == 0)
      #expect(add(password("b", [kSecValueData: Data("2".utf8)])) == errSecSuccess)
      #expect(add(password("c", [kSecAttrAccessControl: control as Any])) == errSecSuccess)
      return store
    }

    private func all(_ more: [String: Any]) -> Answer {
      copy([kSecClass: kSecClassGenericPassword, kSecAttrService: "mail"].merging(more) { $1 })
    }

    @Test func oneItemIsADictionaryOfAnyKind() throws {
      let store = try store()
      let result = try #require(
        all([
          kSecAttrAccount: "a", kSecReturnAttributes: true, kSecReturnData: true,
          kSecReturnPersistentRef: true,
        ]).result)
      #expect(result is [String: Any] && result is [AnyHashable: Any] && result is [NSString: Any])
      #expect(result is [String: AnyObject] && result is [NSObject: AnyObject])
      #expect(result is [String: NSObject] && result is NSDictionary)
      #expect(!(result is [Any]) && !(result is Data))
      let hashable = try #require(result as? [String: AnyHashable])
      #expect(hashable[kSecAttrAccount] == AnyHashable("a"))
      #expect(hashable[kSecValueData] as? Data == Data("1".utf8))
      #expect(hashable[kSecAttrCreator] as? Int == 7)
      #expect(hashable[kSecAttrSynchronizable] as? Bool == false)
      let foundation = try #require(result as? NSDictionary)
      #expect(foundation[kSecAttrAccount] as? NSString == "a")
      #expect(foundation.object(forKey: kSecValueData) as? NSData == NSData(data: Data("1".utf8)))
      let values = try #require(result as? [String: Any])
      #expect(values[kSecValueData] as? NSData != nil)
      #expect(values[kSecAttrCreationDate] as? NSDate != nil)
      #expect(values[kSecAttrCreator] as? CFNumber == 7 && values[kSecAttrCreator] as? UInt8 == 7)
      withExtendedLifetime(store) {}
    }

    @Test func severalItemsAreAnArrayOfAnyKind() throws {
      let store = try store()
      let result = try #require(
        all([kSecReturnAttributes: true, kSecMatchLimit: kSecMatchLimitAll]).result)
      #expect((result as? [[String: AnyHashable]])?.count == 3)
      #expect((result as? [[AnyHashable: Any]])?.count == 3)
      #expect((result as? [[NSObject: AnyObject]])?.count == 3)
      #expect(
        (result as? [NSDictionary])?.map { $0[kSecAttrAccount] as? String } == ["a", "b", "c"])
      #expect(!(result is [String: Any]) && !(result is NSDictionary))
      let guarded = (result as? [[String: AnyHashable]])?.last
      #expect(guarded?[kSecAttrAccessControl] is SecAccessControl)
      withExtendedLifetime(store) {}
    }

    @Test func severalSecretsAreAnArrayOfAnyKind() throws {
      let store = try store()
      let result = all([kSecReturnData: true, kSecMatchLimit: 2]).result
      let expected = [Data("1".utf8), Data("2".utf8)]
      #expect(result as? [Data] == expected && result as? [CFData] == expected)
      #expect(result as? [NSData] == expected.map { NSData(data: $0) })
      #expect((result as? NSArray)?.firstObject as? Data == expected[0])
      #expect((result as? CFArray)?.count == 2 && (result as? [AnyObject])?.count == 2)
      withExtendedLifetime(store) {}
    }

    @Test func objectsAreCastWithoutAQuestion() throws {
      let store = try ProgramStore()
      // The query itself serves as the attributes of the key.
      let query: [String: Any] = [
        kSecClass: kSecClassKey, kSecAttrKeyClass: kSecAttrKeyClassPrivate,
        kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeySizeInBits: 256,
        kSecAttrApplicationLabel: Data("label".utf8), kSecAttrSynchronizable: true,
        kSecUseDataProtectionKeychain: true,
      ]
      let made = try #require(
        SecKeyCreateWithData(Data([1]) as CFData, query as CFDictionary, nil))
      #expect(
        add(
          query.merging([kSecValueRef: made, kSecAttrAccessible: kSecAttrAccessibleAlways]) { $1 })
          == errSecSuccess)
      let found = copy(query.merging([kSecReturnRef: true]) { $1 }).result
      #expect(SecKeyCopyExternalRepresentation(found as! SecKey, nil) as Data? == Data([1]))
      let many = copy(
        query.merging([
          kSecReturnRef: true, kSecReturnAttributes: true, kSecMatchLimit: kSecMatchLimitAll,
        ]) { $1 }
      ).result
      let item = try #require((many as? [[String: AnyHashable]])?.first)
      #expect(item[kSecValueRef] is SecKey)
      #expect(item[kSecAttrApplicationLabel] as? Data == Data("label".utf8))
      #expect(SecItemDelete(query as CFDictionary) == errSecSuccess)
      withExtendedLifetime(store) {}
    }
  }
}

import Foundation
import Security
import Testing

extension OwnKeychain {
  @Suite struct TypeTests {
    private let store = ProgramStore()

    @Test func resultsAreOfTheTypesThatTheyAre() throws {
      insert(password("a", secret("x")))
      let all: [String: Any] = [kSecMatchLimit: kSecMatchLimitAll]
      let data = copy(password("a", [kSecReturnData: true])).result
      let item = copy(password("a", [kSecReturnAttributes: true])).result
      let items = copy(password("a", [kSecReturnAttributes: true], all)).result
      #expect(CFGetTypeID(data) == CFDataGetTypeID())
      #expect(CFGetTypeID(item) == CFDictionaryGetTypeID())
      #expect(CFGetTypeID(items) == CFArrayGetTypeID())
      let values = try #require(item as? [String: AnyObject])
      #expect(CFGetTypeID(values[kSecAttrAccount]) == CFStringGetTypeID())
      #expect(CFGetTypeID(values[kSecAttrSynchronizable]) == CFNumberGetTypeID())
      #expect(CFGetTypeID(values[kSecAttrCreationDate]) == CFDateGetTypeID())
      // As Foundation's own classes too.
      #expect(data is NSData && item is NSDictionary && items is NSArray)
      #expect(CFEqual(data, Data("x".utf8) as AnyObject))
      #expect(!CFEqual(data, item) && !CFEqual(data, nil) && CFEqual(nil, nil))
    }

    @Test func truthIsOfAnotherTypeThanNumbers() {
      for truth in [true as AnyObject, kCFBooleanFalse as AnyObject, NSNumber(value: true)] {
        #expect(CFGetTypeID(truth) == CFBooleanGetTypeID())
      }
      for number in [1 as AnyObject, NSNumber(value: Int8(1)), NSNumber(value: 0.5)] {
        #expect(CFGetTypeID(number) == CFNumberGetTypeID())
      }
    }

    @Test func creatorsAreFourCharactersAsANumber() {
      let creator: FourCharCode = 0x6143_7274
      insert(password("a", [kSecAttrCreator: creator]))
      let found = copy(password("a", [kSecAttrCreator: creator as OSType, kSecReturnAttributes: true]))
      #expect(found.dictionary?[kSecAttrCreator] as? FourCharCode == creator)
    }

    @Test func objectsAreOfTheTypesThatTheyAre() throws {
      let certificate = try certificate()
      let again = try SecurityTests.certificate()
      #expect(CFGetTypeID(certificate) == SecCertificateGetTypeID())
      #expect(CFEqual(certificate, again))
      let key = try #require(SecKeyCreateWithData(Data([1]), [kSecAttrKeyType: "42"], nil))
      #expect(CFGetTypeID(key) == SecKeyGetTypeID())
      #expect(!CFEqual(certificate, key))
      let control = SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleAlways, .userPresence, nil)
      #expect(CFGetTypeID(control) == SecAccessControlGetTypeID())
      #expect(CFEqual(control, SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleAlways, [], nil)) == false)
      let numbers = [
        CFStringGetTypeID(), CFDataGetTypeID(), CFNumberGetTypeID(), CFBooleanGetTypeID(), CFDateGetTypeID(),
        CFArrayGetTypeID(), CFDictionaryGetTypeID(), CFErrorGetTypeID(), SecIdentityGetTypeID(), CFSetGetTypeID(),
        CFNullGetTypeID(), SecCertificateGetTypeID(), SecKeyGetTypeID(), SecAccessControlGetTypeID(),
      ]
      #expect(Set(numbers).count == numbers.count)
    }

    @Test func nothingIsAValueThatNoAttributeCanHave() {
      #expect(CFGetTypeID(kCFNull) == CFNullGetTypeID())
      let some: CFSet = ["a", 1]
      #expect(CFGetTypeID(some as AnyObject) == CFSetGetTypeID())
      let none: Any? = nil
      for nothing in [kCFNull as Any, NSNull(), none as Any] {
        for name in [kSecAttrLabel, kSecAttrAccessGroup, kSecValueData, kSecAttrAccessControl] {
          #expect(add(password("a", [name: nothing])) == errSecParam)
          #expect(find(password("a", [name: nothing])) == errSecParam)
        }
      }
      #expect(count() == 0)
    }

    /// However a program wraps it: options within options, hashable values, Foundation's classes.
    @Test func truthComesInManyWrappings() {
      insert(password("a", secret("x")))
      let optional: Bool? = true
      let truths: [Any] = [
        true, kCFBooleanTrue as Any, kCFBooleanTrue!, NSNumber(value: true), NSNumber(value: 1), 1, AnyHashable(true),
        true as AnyObject, optional as Any, Optional(optional) as Any,
      ]
      for truth in truths { #expect(copy(password("a", [kSecReturnData: truth])).data == Data("x".utf8), "\(truth)") }
    }

    @Test func everyOtherValueMayBeAnOptionInAQuery() {
      let (account, bytes): (String?, Data?) = ("a", Data([1]))
      let item: [String: Any] = [
        kSecClass: Optional(kSecClassGenericPassword) as Any, kSecAttrAccount: account as Any,
        kSecAttrService: NSString(string: "mail"), kSecValueData: bytes as Any,
        kSecAttrAccessible: Optional(kSecAttrAccessibleAlwaysThisDeviceOnly) as Any,
        kSecAttrGeneric: NSMutableData(data: Data([2])), kSecAttrType: Optional(5) as Any,
      ]
      insert(item)
      let found = copy(
        password(
          "a", [kSecReturnData: true, kSecReturnAttributes: true, kSecMatchLimit: Optional(kSecMatchLimitOne) as Any]))
      #expect(found.dictionary?[kSecValueData] as? Data == Data([1]))
      #expect(found.dictionary?[kSecAttrType] as? UInt == 5)
      #expect(found.dictionary?[kSecAttrAccessible] as? String == "dku")
    }
  }

  /// Wrappers cast what they get to whatever suits them: Swift's types, Foundation's, hashable ones.
  @Suite struct CastTests {
    private let store = ProgramStore()

    private func insertThree() {
      insert(password("a", secret("1"), [kSecAttrCreator: 7]))
      insert(password("b", secret("2")))
      insert(password("c", control(kSecAttrAccessibleWhenUnlocked)))
    }

    private func all(_ more: [String: Any]) -> Answer {
      copy([kSecClass: kSecClassGenericPassword, kSecAttrService: "mail"], more)
    }

    @Test func oneItemIsADictionaryOfAnyKind() throws {
      insertThree()
      let result = try #require(
        all([kSecAttrAccount: "a", kSecReturnAttributes: true, kSecReturnData: true, kSecReturnPersistentRef: true])
          .result)
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
    }

    @Test func severalItemsAreAnArrayOfAnyKind() throws {
      insertThree()
      let result = try #require(all([kSecReturnAttributes: true, kSecMatchLimit: kSecMatchLimitAll]).result)
      #expect((result as? [[String: AnyHashable]])?.count == 3)
      #expect((result as? [[AnyHashable: Any]])?.count == 3)
      #expect((result as? [[NSObject: AnyObject]])?.count == 3)
      #expect((result as? [NSDictionary])?.map { $0[kSecAttrAccount] as? String } == ["a", "b", "c"])
      #expect(!(result is [String: Any]) && !(result is NSDictionary))
      let guarded = (result as? [[String: AnyHashable]])?.last
      #expect(guarded?[kSecAttrAccessControl] is SecAccessControl)
    }

    @Test func severalSecretsAreAnArrayOfAnyKind() throws {
      insertThree()
      let result = all([kSecReturnData: true, kSecMatchLimit: 2]).result
      let expected = [Data("1".utf8), Data("2".utf8)]
      #expect(result as? [Data] == expected && result as? [CFData] == expected)
      #expect(result as? [NSData] == expected.map { NSData(data: $0) })
      #expect((result as? NSArray)?.firstObject as? Data == expected[0])
      #expect((result as? CFArray)?.count == 2 && (result as? [AnyObject])?.count == 2)
    }

    @Test func objectsAreCastWithoutAQuestion() throws {
      // The query itself serves as the attributes of the key.
      let query: [String: Any] = [
        kSecClass: kSecClassKey, kSecAttrKeyClass: kSecAttrKeyClassPrivate,
        kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeySizeInBits: 256,
        kSecAttrApplicationLabel: Data("label".utf8), kSecAttrSynchronizable: true, kSecUseDataProtectionKeychain: true,
      ]
      let made = try #require(SecKeyCreateWithData(Data([1]) as CFData, query as CFDictionary, nil))
      insert(query, [kSecValueRef: made, kSecAttrAccessible: kSecAttrAccessibleAlways])
      let found = copy(query, [kSecReturnRef: true]).result
      #expect(SecKeyCopyExternalRepresentation(found as! SecKey, nil) as Data? == Data([1]))
      let many = copy(query, [kSecReturnRef: true, kSecReturnAttributes: true, kSecMatchLimit: kSecMatchLimitAll])
        .result
      let item = try #require((many as? [[String: AnyHashable]])?.first)
      #expect(item[kSecValueRef] is SecKey)
      #expect(item[kSecAttrApplicationLabel] as? Data == Data("label".utf8))
      #expect(delete(query) == errSecSuccess)
    }
  }
}

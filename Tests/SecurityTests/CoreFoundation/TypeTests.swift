// SPDX-License-Identifier: Apache-2.0

import Foundation
import Security
import Testing

extension OwnKeychain {
  @Suite struct TypeTests {
    @Test func resultsAreOfTheTypesThatTheyAre() throws {
      let store = try ProgramStore()
      #expect(add(password("a", secret("x"))) == errSecSuccess)
      let all: [String: Any] = [kSecMatchLimit: kSecMatchLimitAll]
      let data = copy(password("a", [kSecReturnData: true])).result
      let item = copy(password("a", [kSecReturnAttributes: true])).result
      let items = copy(password("a", [kSecReturnAttributes: true].merging(all) { $1 })).result
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
      withExtendedLifetime(store) {}
    }

    @Test func truthIsOfAnotherTypeThanNumbers() {
      for truth in [true as AnyObject, kCFBooleanFalse as AnyObject, NSNumber(value: true)] {
        #expect(CFGetTypeID(truth) == CFBooleanGetTypeID())
      }
      for number in [1 as AnyObject, NSNumber(value: Int8(1)), NSNumber(value: 0.5)] {
        #expect(CFGetTypeID(number) == CFNumberGetTypeID())
      }
    }

    @Test func creatorsAreFourCharactersAsANumber() throws {
      let store = try ProgramStore()
      let creator: FourCharCode = 0x6143_7274
      #expect(add(password("a", [kSecAttrCreator: creator])) == errSecSuccess)
      let found = copy(
        password("a", [kSecAttrCreator: creator as OSType, kSecReturnAttributes: true]))
      #expect(found.dictionary?[kSecAttrCreator] as? FourCharCode == creator)
      withExtendedLifetime(store) {}
    }

    @Test func objectsAreOfTheTypesThatTheyAre() throws {
      let certificate = try #require(SecCertificateCreateWithData(nil, SampleCertificate.hub))
      let again = try #require(SecCertificateCreateWithData(nil, SampleCertificate.hub))
      #expect(CFGetTypeID(certificate) == SecCertificateGetTypeID())
      #expect(CFEqual(certificate, again))
      let key = try #require(SecKeyCreateWithData(Data([1]), [kSecAttrKeyType: "42"], nil))
      #expect(CFGetTypeID(key) == SecKeyGetTypeID())
      #expect(!CFEqual(certificate, key))
      let control = try #require(
        SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleAlways, .userPresence, nil))
      #expect(CFGetTypeID(control) == SecAccessControlGetTypeID())
      #expect(
        CFEqual(
          control, SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleAlways, [], nil)) == false
      )
      let numbers = [
        CFStringGetTypeID(), CFDataGetTypeID(), CFNumberGetTypeID(), CFBooleanGetTypeID(),
        CFDateGetTypeID(),
        CFArrayGetTypeID(), CFDictionaryGetTypeID(), CFErrorGetTypeID(), SecIdentityGetTypeID(),
        CFSetGetTypeID(), CFNullGetTypeID(),
        SecCertificateGetTypeID(), SecKeyGetTypeID(), SecAccessControlGetTypeID(),
      ]
      #expect(Set(numbers).count == numbers.count)
    }

    @Test func nothingIsAValueThatNoAttributeCanHave() throws {
      let store = try ProgramStore()
      #expect(CFGetTypeID(kCFNull) == CFNullGetTypeID())
      let some: CFSet = ["a", 1]
      #expect(CFGetTypeID(some as AnyObject) == CFSetGetTypeID())
      let none: Any? = nil
      for nothing in [kCFNull as Any, NSNull(), none as Any] {
        for name in [kSecAttrLabel, kSecAttrAccessGroup, kSecValueData, kSecAttrAccessControl] {
          #expect(add(password("a", [name: nothing])) == errSecParam)
          #expect(copy(password("a", [name: nothing])).status == errSecParam)
        }
      }
      #expect(count() == 0)
      withExtendedLifetime(store) {}
    }

    /// However a program wraps it: options within options, hashable values, Foundation's classes.
    @Test(arguments: 0..<10)
    func truthComesInManyWrappings(_ number: Int) throws {
      let store = try ProgramStore()
      #expect(add(password("a", secret("x"))) == errSecSuccess)
      let optional: Bool? = true
      let truths: [Any] = [
        true, kCFBooleanTrue as Any, kCFBooleanTrue!, NSNumber(value: true), NSNumber(value: 1), 1,
        AnyHashable(true), true as AnyObject, optional as Any, Optional(optional) as Any,
      ]
      #expect(
        copy(password("a", [kSecReturnData: truths[number]])).data == Data("x".utf8))
      withExtendedLifetime(store) {}
    }

    @Test func everyOtherValueMayBeAnOptionInAQuery() throws {
      let store = try ProgramStore()
      let (account, bytes): (String?, Data?) = ("a", Data([1]))
      let item: [String: Any] = [
        kSecClass: Optional(kSecClassGenericPassword) as Any, kSecAttrAccount: account as Any,
        kSecAttrService: NSString(string: "mail"), kSecValueData: bytes as Any,
        kSecAttrAccessible: Optional(kSecAttrAccessibleAlwaysThisDeviceOnly) as Any,
        kSecAttrGeneric: NSMutableData(data: Data([2])), kSecAttrType: Optional(5) as Any,
      ]
      #expect(add(item) == errSecSuccess)
      let found = copy(
        password(
          "a",
          [
            kSecReturnData: true, kSecReturnAttributes: true,
            kSecMatchLimit: Optional(kSecMatchLimitOne) as Any,
          ]))
      #expect(found.dictionary?[kSecValueData] as? Data == Data([1]))
      #expect(found.dictionary?[kSecAttrType] as? UInt == 5)
      #expect(found.dictionary?[kSecAttrAccessible] as? String == "dku")
      withExtendedLifetime(store) {}
    }
  }
}

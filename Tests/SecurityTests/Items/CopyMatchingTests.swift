import Foundation
import Security
import Testing

extension OwnKeychain {
  @Suite struct CopyMatchingTests {
    private let store = ProgramStore()

    private func insertThree() {
      for account in ["a", "b", "c"] { insert(password(account, secret("secret of \(account)"))) }
    }

    private let all: [String: Any] = [kSecClass: kSecClassGenericPassword, kSecAttrService: "mail"]

    /// How many are found is in `ModelTests`.
    @Test func aLimitDecidesBetweenAValueAndAnArrayEvenForOneHit() {
      insertThree()
      for limit in [kSecMatchLimitOne, 1, NSNumber(value: 1), Int64(1), "m_LimitOne"] as [Any] {
        #expect(text(all, [kSecMatchLimit: limit]) == "secret of a")
      }
      for limit in [kSecMatchLimitAll, 2, 100, Int.max] as [Any] {
        let query = password("b", [kSecReturnData: true, kSecMatchLimit: limit])
        #expect(copy(query).result as? [Data] == [Data("secret of b".utf8)])
      }
      for limit in [0, -1, "m_LimitSome", Data()] as [Any] {
        #expect(find(all, [kSecMatchLimit: limit]) == errSecParam)
      }
    }

    @Test func withoutAReturnKeyThereIsOnlyTheStatus() throws {
      insertThree()
      #expect(find(password("a")) == errSecSuccess)
      #expect(copy(password("a")).result == nil)
      #expect(SecItemCopyMatching(password("a") as CFDictionary, nil) == errSecSuccess)
      #expect(SecItemCopyMatching(password("z") as CFDictionary, nil) == errSecItemNotFound)
      // Asked for and not fetched.
      #expect(SecItemCopyMatching(password("a", [kSecReturnData: true]) as CFDictionary, nil) == errSecSuccess)
    }

    @Test func everythingElseIsADictionary() throws {
      insertThree()
      let attributes = attributes(password("a"))
      #expect(attributes?[kSecAttrAccount] as? String == "a")
      #expect(attributes?[kSecAttrService] as? String == "mail")
      #expect(attributes?[kSecClass] as? String == kSecClassGenericPassword)
      #expect(attributes?[kSecAttrAccessGroup] as? String == "team.own")
      #expect(attributes?[kSecAttrAccessible] as? String == kSecAttrAccessibleWhenUnlocked)
      #expect(attributes?[kSecAttrSynchronizable] as? Bool == false)
      #expect(attributes?[kSecAttrCreationDate] as? Date != nil)
      #expect(attributes?[kSecValueData] == nil)
      // Also where only an accessibility was given: what it means, without a condition.
      #expect(attributes?[kSecAttrAccessControl] is SecAccessControl)

      let both = copy(password("a", [kSecReturnAttributes: true, kSecReturnData: true])).dictionary
      #expect(both?[kSecValueData] as? Data == Data("secret of a".utf8))
      #expect(both?[kSecAttrAccount] as? String == "a")
      #expect(both?[kSecValuePersistentRef] == nil)

      let pair = copy(password("a", [kSecReturnData: true, kSecReturnPersistentRef: true]))
      #expect(pair.dictionary?[kSecValueData] as? Data == Data("secret of a".utf8))
      #expect(pair.dictionary?[kSecValuePersistentRef] as? Data != nil)
      #expect(pair.dictionary?[kSecAttrAccount] == nil)

      // A password has no object.
      let everything = copy(
        password(
          "a", [kSecReturnAttributes: true, kSecReturnData: true, kSecReturnRef: true, kSecReturnPersistentRef: true])
      ).dictionary
      #expect(everything?[kSecValueRef] == nil)
      #expect(everything?[kSecValuePersistentRef] as? Data != nil)
    }

    @Test func searchingMakesNoStore() {
      #expect(find(password("a")) == errSecItemNotFound)
      #expect(delete(password("a")) == errSecItemNotFound)
      #expect(update(password("a"), secret("x")) == errSecItemNotFound)
      #expect(!FileManager.default.fileExists(atPath: store.path))
    }

    /// Which items are found is in `ModelTests`.
    @Test func synchronizableIsATruthValueInAnyForm() {
      insert(password("away", [kSecAttrSynchronizable: true]))
      for (wanted, status) in [(kCFBooleanFalse as Any, errSecItemNotFound), (NSNumber(value: 1), errSecSuccess)] {
        #expect(find(password("away", [kSecAttrSynchronizable: wanted])) == status)
      }
    }

    @Test func everyAttributeIsAPlainFilter() {
      let values: [(CFString, Any, Any)] = [
        (kSecAttrLabel, "label", "other"), (kSecAttrComment, "comment", "other"),
        (kSecAttrDescription, "kind", "other"), (kSecAttrGeneric, Data([1, 2]), Data([1])), (kSecAttrCreator, 7, 8),
        (kSecAttrType, 9, 10), (kSecAttrIsInvisible, true, false), (kSecAttrIsNegative, true, false),
        (kSecAttrAccessible, kSecAttrAccessibleAfterFirstUnlock, kSecAttrAccessibleWhenUnlocked),
        (kSecAttrSyncViewHint, "hint", "other"),
      ]
      var item = password("anna")
      for (name, value, _) in values { item[name] = value }
      insert(item)
      insert(password("otto"))
      for (name, value, other) in values {
        let found = attributes([kSecClass: kSecClassGenericPassword, name: value])
        #expect(found?[kSecAttrAccount] as? String == "anna", "\(name)")
        #expect(find(password("anna", [name: other])) == errSecItemNotFound, "\(name)")
        #expect(find(password("anna", [name: value])) == errSecSuccess, "\(name)")
      }
    }

    @Test("An empty or zero value finds no item without the attribute, unless it is part of a primary key")
    func missingIsNotEmpty() {
      let generic: [String: Any] = [kSecClass: kSecClassGenericPassword]
      let certificate: [String: Any] = [kSecClass: kSecClassCertificate]
      for item in [generic, certificate, [kSecClass: kSecClassInternetPassword], [kSecClass: kSecClassKey]] {
        insert(item)
      }
      let nullable: [(CFString, Any)] = [
        (kSecAttrLabel, ""), (kSecAttrDescription, ""), (kSecAttrComment, ""), (kSecAttrGeneric, Data()),
        (kSecAttrGeneric, ""), (kSecAttrCreator, 0), (kSecAttrType, 0), (kSecAttrIsInvisible, false),
        (kSecAttrIsNegative, false), (kSecAttrSyncViewHint, ""),
      ]
      let loose: [String: Any] = [kSecMatchCaseInsensitive: true]
      for (name, value) in nullable {
        #expect(find(generic, [name: value]) == errSecItemNotFound, "\(name)")
        #expect(find(generic, [name: value], loose) == errSecItemNotFound, "\(name)")
        #expect(delete(generic, [name: value]) == errSecItemNotFound, "\(name)")
      }
      for name in [kSecAttrLabel, kSecAttrSubject, kSecAttrPublicKeyHash] {
        #expect(find(certificate, [name: Data()]) == errSecItemNotFound)
      }
      #expect(find([kSecClass: kSecClassKey, kSecAttrCanSign: false]) == errSecItemNotFound)
      for (itemClass, name, value) in [
        (kSecClassGenericPassword, kSecAttrAccount, ""), (kSecClassGenericPassword, kSecAttrService, ""),
        (kSecClassInternetPassword, kSecAttrServer, ""), (kSecClassInternetPassword, kSecAttrPort, 0),
        (kSecClassInternetPassword, kSecAttrSecurityDomain, ""), (kSecClassInternetPassword, kSecAttrPath, ""),
        (kSecClassCertificate, kSecAttrSerialNumber, Data()), (kSecClassKey, kSecAttrApplicationTag, Data()),
        (kSecClassKey, kSecAttrKeySizeInBits, 0),
      ] as [(CFString, CFString, Any)] {
        let query: [String: Any] = [kSecClass: itemClass, name: value]
        #expect(find(query) == errSecSuccess, "\(itemClass) \(name)")
        #expect(find(query, loose) == errSecSuccess, "\(itemClass) \(name)")
      }
      // What is missing is not given back either; what was stored empty is found and given back.
      let item = attributes(generic)
      for (name, _) in nullable { #expect(item?[name] == nil, "\(name)") }
      for (name, value) in nullable where name != kSecAttrGeneric {
        let text = "stored \(name)"
        insert(password(text, [name: value]))
        let found = attributes(generic, [name: value])
        #expect(found?[kSecAttrAccount] as? String == text)
        #expect(found?[name] != nil, "\(name)")
      }
    }

    @Test func datesNumbersAndDataAreCompared() {
      let start = Date(timeIntervalSince1970: 1_700_000_000.25)
      let key: [String: Any] = [kSecClass: kSecClassKey]
      insert(key, [kSecAttrKeySizeInBits: 256, "sdat": start, kSecAttrApplicationTag: Data([0, 255])])
      for (name, value, status) in [
        ("sdat", start, errSecSuccess), ("sdat", start + 0.001, errSecItemNotFound),
        (kSecAttrKeySizeInBits, UInt16(256), errSecSuccess), (kSecAttrKeySizeInBits, 257, errSecItemNotFound),
        (kSecAttrApplicationTag, NSData(data: Data([0, 255])), errSecSuccess),
        (kSecAttrApplicationTag, Data([0]), errSecItemNotFound),
      ] as [(CFString, Any, OSStatus)] { #expect(find(key, [name: value]) == status, "\(name): \(value)") }
    }

    @Test func caseMattersUnlessTheQuerySaysOtherwise() {
      insert(password("Anna", service: "STRASSE", [kSecAttrLabel: "Ärger"]))
      let loose: [String: Any] = [kSecMatchCaseInsensitive: true]
      for (account, more, status) in [
        ("anna", [:], errSecItemNotFound), ("aNNA", loose, errSecSuccess),
        ("anna", [kSecAttrLabel: "äRGER", kSecMatchCaseInsensitive: true], errSecSuccess),
        ("anne", loose, errSecItemNotFound), ("anna", [kSecMatchCaseInsensitive: false], errSecItemNotFound),
        // Groups are exact.
        ("anna", [kSecAttrAccessGroup: "TEAM.OWN", kSecMatchCaseInsensitive: true], errSecMissingEntitlement),
      ] as [(String, [String: Any], OSStatus)] {
        #expect(find(password(account, service: "Strasse", more)) == status, "\(account) \(more)")
      }
    }

    @Test func aHostCoversTheNamesBelowIt() {
      for server in ["example.org", "mail.example.org", "badexample.org", "example.com"] {
        insert([kSecClass: kSecClassInternetPassword, kSecAttrServer: server])
      }
      let answer = copy([
        kSecClass: kSecClassInternetPassword, kSecMatchHostOrSubdomainOfHost: "Example.ORG",
        kSecMatchLimit: kSecMatchLimitAll, kSecReturnAttributes: true,
      ])
      #expect(answer.array?.compactMap { $0[kSecAttrServer] as? String } == ["example.org", "mail.example.org"])
    }

    @Test func conditionsThatAreNotLookedAtAreRefused() throws {
      insertThree()
      for name in [
        kSecMatchPolicy, kSecMatchIssuers, kSecMatchSubjectContains, kSecMatchValidOnDate, kSecMatchTrustedOnly,
        kSecMatchDiacriticInsensitive, kSecMatchEmailAddressIfPresent,
      ] { #expect(find(password("a", [name: true])) == errSecUnimplemented, "\(name)") }
      #expect(find(password("a", [kSecMatchTrustedOnly: false])) == errSecSuccess)
    }

    @Test func whatASearchGivesFindsTheItemAgain() throws {
      insertThree()
      let item = try #require(attributes(password("b")))
      #expect(text(item) == "secret of b")
    }

    @Test func missingTextsOfThePrimaryKeyComeBackEmpty() {
      insert([kSecClass: kSecClassInternetPassword, kSecAttrServer: "a.example"])
      let item = attributes([kSecClass: kSecClassInternetPassword])
      #expect(item?[kSecAttrPath] as? String == "")
      #expect(item?[kSecAttrAccount] as? String == "")
      #expect(item?[kSecAttrPort] as? Int == 0)
      #expect(item?[kSecAttrService] == nil)
      #expect(item?[kSecAttrProtocol] == nil)
    }
  }
}

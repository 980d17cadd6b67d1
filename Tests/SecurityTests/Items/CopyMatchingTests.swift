// SPDX-License-Identifier: Apache-2.0

import Foundation
import Security
import Testing

extension OwnKeychain {
  @Suite struct CopyMatchingTests {
    private func store(_ accounts: [String] = ["a", "b", "c"]) throws -> ProgramStore {
      let store = try ProgramStore()
      for account in accounts {
        #expect(add(password(account, secret("secret of \(account)"))) == errSecSuccess)
      }
      return store
    }

    private let all: [String: Any] = [kSecClass: kSecClassGenericPassword, kSecAttrService: "mail"]

    @Test func theDefaultLimitIsOne() throws {
      let store = try store()
      let answer = copy(all.merging([kSecReturnAttributes: true]) { $1 })
      #expect(answer.dictionary?[kSecAttrAccount] as? String == "a")
      #expect(answer.array == nil)
      withExtendedLifetime(store) {}
    }

    @Test func limitOneAndTheNumberOneGiveASingleValue() throws {
      let store = try store()
      let limits: [Any] = [kSecMatchLimitOne, 1, NSNumber(value: 1), Int64(1), "m_LimitOne"]
      for limit in limits {
        let answer = copy(all.merging([kSecReturnData: true, kSecMatchLimit: limit]) { $1 })
        #expect(answer.data == Data("secret of a".utf8))
      }
      withExtendedLifetime(store) {}
    }

    @Test func everyOtherLimitGivesAnArrayEvenForOneHit() throws {
      let store = try store()
      for limit in [kSecMatchLimitAll, 2, 100] as [Any] {
        let query = password("b", [kSecReturnData: true, kSecMatchLimit: limit])
        #expect(copy(query).result as? [Data] == [Data("secret of b".utf8)])
      }
      let query = password("b", [kSecReturnAttributes: true, kSecMatchLimit: kSecMatchLimitAll])
      #expect(copy(query).array?.count == 1)
      withExtendedLifetime(store) {}
    }

    @Test func aNumberLimitsTheArray() throws {
      let store = try store(["a", "b", "c", "d", "e"])
      for (limit, expected) in [(2, 2), (4, 4), (5, 5), (6, 5), (Int.max, 5)] {
        let answer = copy(all.merging([kSecReturnAttributes: true, kSecMatchLimit: limit]) { $1 })
        #expect(answer.array?.count == expected)
      }
      for limit in [0, -1, "m_LimitSome", Data()] as [Any] {
        #expect(copy(all.merging([kSecMatchLimit: limit]) { $1 }).status == errSecParam)
      }
      withExtendedLifetime(store) {}
    }

    @Test func withoutAReturnKeyThereIsOnlyTheStatus() throws {
      let store = try store()
      #expect(copy(password("a")).status == errSecSuccess)
      #expect(copy(password("a")).result == nil)
      #expect(SecItemCopyMatching(password("a") as CFDictionary, nil) == errSecSuccess)
      #expect(SecItemCopyMatching(password("z") as CFDictionary, nil) == errSecItemNotFound)
      // Asked for and not fetched.
      #expect(
        SecItemCopyMatching(password("a", [kSecReturnData: true]) as CFDictionary, nil)
          == errSecSuccess)
      withExtendedLifetime(store) {}
    }

    @Test func justTheDataOrTheReferenceIsGivenBare() throws {
      let store = try store()
      #expect(copy(password("a", [kSecReturnData: true])).data == Data("secret of a".utf8))
      let reference = copy(password("a", [kSecReturnPersistentRef: true])).data
      #expect(try #require(reference).count > 0)
      #expect(reference != copy(password("b", [kSecReturnPersistentRef: true])).data)
      withExtendedLifetime(store) {}
    }

    @Test func everythingElseIsADictionary() throws {
      let store = try store()
      let attributes = copy(password("a", [kSecReturnAttributes: true])).dictionary
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
          "a",
          [
            kSecReturnAttributes: true, kSecReturnData: true, kSecReturnRef: true,
            kSecReturnPersistentRef: true,
          ])
      ).dictionary
      #expect(everything?[kSecValueRef] == nil)
      #expect(everything?[kSecValuePersistentRef] as? Data != nil)
      withExtendedLifetime(store) {}
    }

    @Test func allWithDataAndAttributes() throws {
      let store = try store()
      let query = all.merging([
        kSecMatchLimit: kSecMatchLimitAll, kSecReturnAttributes: true, kSecReturnData: true,
      ]) { $1 }
      let items = try #require(copy(query).array)
      #expect(items.map { $0[kSecAttrAccount] as? String } == ["a", "b", "c"])
      #expect(
        items.map { $0[kSecValueData] as? Data }
          == ["a", "b", "c"].map { Data("secret of \($0)".utf8) })
      withExtendedLifetime(store) {}
    }

    @Test func noMatchIsNotFound() throws {
      let store = try store()
      #expect(copy(password("z", [kSecReturnData: true])).status == errSecItemNotFound)
      #expect(copy(password("z", [kSecMatchLimit: kSecMatchLimitAll])).status == errSecItemNotFound)
      #expect(copy([kSecClass: kSecClassInternetPassword]).status == errSecItemNotFound)
      #expect(errSecItemNotFound == -25300)
      withExtendedLifetime(store) {}
    }

    @Test func searchingMakesNoStore() throws {
      let store = try ProgramStore()
      #expect(copy(password("a")).status == errSecItemNotFound)
      #expect(SecItemDelete(password("a") as CFDictionary) == errSecItemNotFound)
      #expect(
        SecItemUpdate(password("a") as CFDictionary, secret("x") as CFDictionary)
          == errSecItemNotFound)
      #expect(!FileManager.default.fileExists(atPath: store.path))
    }

    @Test func synchronizableItemsAreLeftOutUnlessAskedFor() throws {
      let store = try store(["local"])
      #expect(add(password("away", [kSecAttrSynchronizable: true])) == errSecSuccess)
      func accounts(_ more: [String: Any]) -> [String]? {
        let query = all.merging([kSecMatchLimit: kSecMatchLimitAll, kSecReturnAttributes: true]) {
          $1
        }
        return copy(query.merging(more) { $1 }).array?.compactMap { $0[kSecAttrAccount] as? String }
      }
      #expect(accounts([:]) == ["local"])
      #expect(accounts([kSecAttrSynchronizable: false]) == ["local"])
      #expect(accounts([kSecAttrSynchronizable: kCFBooleanFalse as Any]) == ["local"])
      #expect(accounts([kSecAttrSynchronizable: true]) == ["away"])
      #expect(accounts([kSecAttrSynchronizable: NSNumber(value: 1)]) == ["away"])
      #expect(accounts([kSecAttrSynchronizable: kSecAttrSynchronizableAny]) == ["local", "away"])
      #expect(copy(password("away")).status == errSecItemNotFound)
      withExtendedLifetime(store) {}
    }

    @Test func withoutAGroupAllGroupsOfTheProgramAreSearched() throws {
      let store = try ProgramStore(groups: ["one", "two", "three"])
      for group in ["one", "two", "three"] {
        #expect(add(password("anna", [kSecAttrAccessGroup: group])) == errSecSuccess)
      }
      func groups(_ more: [String: Any] = [:]) -> [String]? {
        let query = password(
          "anna", [kSecMatchLimit: kSecMatchLimitAll, kSecReturnAttributes: true])
        return copy(query.merging(more) { $1 }).array?.compactMap {
          $0[kSecAttrAccessGroup] as? String
        }
      }
      #expect(groups() == ["one", "two", "three"])
      #expect(groups([kSecAttrAccessGroup: "two"]) == ["two"])
      store.use(groups: ["three", "four"])
      #expect(groups() == ["three"])
      #expect(
        copy(password("anna", [kSecAttrAccessGroup: "one"])).status == errSecMissingEntitlement)
    }

    @Test func everyAttributeIsAPlainFilter() throws {
      let store = try ProgramStore()
      let values: [(CFString, Any, Any)] = [
        (kSecAttrLabel, "label", "other"), (kSecAttrComment, "comment", "other"),
        (kSecAttrDescription, "kind", "other"), (kSecAttrGeneric, Data([1, 2]), Data([1])),
        (kSecAttrCreator, 7, 8), (kSecAttrType, 9, 10), (kSecAttrIsInvisible, true, false),
        (kSecAttrIsNegative, true, false),
        (
          kSecAttrAccessible, kSecAttrAccessibleAfterFirstUnlock, kSecAttrAccessibleWhenUnlocked
        ), (kSecAttrSyncViewHint, "hint", "other"),
      ]
      var item = password("anna")
      for (name, value, _) in values { item[name] = value }
      #expect(add(item) == errSecSuccess)
      #expect(add(password("otto")) == errSecSuccess)
      for (name, value, other) in values {
        let found = copy([
          kSecClass: kSecClassGenericPassword, name: value, kSecReturnAttributes: true,
        ])
        #expect(found.dictionary?[kSecAttrAccount] as? String == "anna", "\(name)")
        #expect(copy(password("anna", [name: other])).status == errSecItemNotFound, "\(name)")
        #expect(copy(password("anna", [name: value])).status == errSecSuccess, "\(name)")
      }
      withExtendedLifetime(store) {}
    }

    @Test(
      "An empty or zero value finds no item without the attribute, unless it is part of a primary key"
    )
    func missingIsNotEmpty() throws {
      let store = try ProgramStore()
      let generic: [String: Any] = [kSecClass: kSecClassGenericPassword]
      let certificate: [String: Any] = [kSecClass: kSecClassCertificate]
      for item in [
        generic, certificate, [kSecClass: kSecClassInternetPassword], [kSecClass: kSecClassKey],
      ] { #expect(add(item) == errSecSuccess) }
      let nullable: [(CFString, Any)] = [
        (kSecAttrLabel, ""), (kSecAttrDescription, ""), (kSecAttrComment, ""),
        (kSecAttrGeneric, Data()), (kSecAttrGeneric, ""), (kSecAttrCreator, 0), (kSecAttrType, 0),
        (kSecAttrIsInvisible, false), (kSecAttrIsNegative, false), (kSecAttrSyncViewHint, ""),
      ]
      let loose: [String: Any] = [kSecMatchCaseInsensitive: true]
      for (name, value) in nullable {
        let query = generic.merging([name: value]) { $1 }
        #expect(copy(query).status == errSecItemNotFound, "\(name)")
        #expect(copy(query.merging(loose) { $1 }).status == errSecItemNotFound, "\(name)")
        #expect(SecItemDelete(query as CFDictionary) == errSecItemNotFound, "\(name)")
      }
      for name in [kSecAttrLabel, kSecAttrSubject, kSecAttrPublicKeyHash] {
        #expect(copy(certificate.merging([name: Data()]) { $1 }).status == errSecItemNotFound)
      }
      #expect(copy([kSecClass: kSecClassKey, kSecAttrCanSign: false]).status == errSecItemNotFound)
      for (itemClass, name, value) in [
        (kSecClassGenericPassword, kSecAttrAccount, ""),
        (kSecClassGenericPassword, kSecAttrService, ""),
        (kSecClassInternetPassword, kSecAttrServer, ""),
        (kSecClassInternetPassword, kSecAttrPort, 0),
        (kSecClassInternetPassword, kSecAttrSecurityDomain, ""),
        (kSecClassInternetPassword, kSecAttrPath, ""),
        (kSecClassCertificate, kSecAttrSerialNumber, Data()),
        (kSecClassKey, kSecAttrApplicationTag, Data()),
        (kSecClassKey, kSecAttrKeySizeInBits, 0),
      ] as [(CFString, CFString, Any)] {
        let query: [String: Any] = [kSecClass: itemClass, name: value]
        #expect(copy(query).status == errSecSuccess, "\(itemClass) \(name)")
        #expect(copy(query.merging(loose) { $1 }).status == errSecSuccess, "\(itemClass) \(name)")
      }
      // What is missing is not given back either; what was stored empty is found and given back.
      let item = copy(generic.merging([kSecReturnAttributes: true]) { $1 }).dictionary
      for (name, _) in nullable { #expect(item?[name] == nil, "\(name)") }
      for (name, value) in nullable where name != kSecAttrGeneric {
        let text = "stored \(name)"
        #expect(add(password(text, [name: value])) == errSecSuccess)
        let query = generic.merging([name: value, kSecReturnAttributes: true]) { $1 }
        let found = copy(query).dictionary
        #expect(found?[kSecAttrAccount] as? String == text)
        #expect(found?[name] != nil, "\(name)")
      }
      withExtendedLifetime(store) {}
    }

    @Test func datesNumbersAndDataAreCompared() throws {
      let store = try ProgramStore()
      let start = Date(timeIntervalSince1970: 1_700_000_000.25)
      let item: [String: Any] = [
        kSecClass: kSecClassKey, kSecAttrKeySizeInBits: 256, "sdat": start,
        kSecAttrApplicationTag: Data([0, 255]),
      ]
      #expect(add(item) == errSecSuccess)
      #expect(copy([kSecClass: kSecClassKey, "sdat": start]).status == errSecSuccess)
      #expect(
        copy([kSecClass: kSecClassKey, "sdat": start.addingTimeInterval(0.001)]).status
          == errSecItemNotFound)
      #expect(
        copy([kSecClass: kSecClassKey, kSecAttrKeySizeInBits: UInt16(256)]).status == errSecSuccess)
      #expect(
        copy([kSecClass: kSecClassKey, kSecAttrKeySizeInBits: 257]).status == errSecItemNotFound)
      #expect(
        copy([kSecClass: kSecClassKey, kSecAttrApplicationTag: NSData(data: Data([0, 255]))])
          .status == errSecSuccess)
      #expect(
        copy([kSecClass: kSecClassKey, kSecAttrApplicationTag: Data([0])]).status
          == errSecItemNotFound)
      withExtendedLifetime(store) {}
    }

    @Test func caseMattersUnlessTheQuerySaysOtherwise() throws {
      let store = try ProgramStore()
      #expect(add(password("Anna", service: "STRASSE", [kSecAttrLabel: "Ärger"])) == errSecSuccess)
      #expect(copy(password("anna", service: "strasse")).status == errSecItemNotFound)
      let loose: [String: Any] = [kSecMatchCaseInsensitive: true]
      #expect(copy(password("aNNA", service: "Strasse", loose)).status == errSecSuccess)
      #expect(
        copy(password("anna", service: "strasse", [kSecAttrLabel: "äRGER"].merging(loose) { $1 }))
          .status == errSecSuccess)
      #expect(copy(password("anne", service: "strasse", loose)).status == errSecItemNotFound)
      #expect(
        copy(password("anna", service: "strasse", [kSecMatchCaseInsensitive: false])).status
          == errSecItemNotFound)
      // Data has no case, and groups are exact.
      #expect(
        copy(
          password(
            "anna", service: "strasse", [kSecAttrAccessGroup: "TEAM.OWN"].merging(loose) { $1 })
        )
        .status == errSecMissingEntitlement)
      withExtendedLifetime(store) {}
    }

    @Test func aHostCoversTheNamesBelowIt() throws {
      let store = try ProgramStore()
      for server in ["example.org", "mail.example.org", "badexample.org", "example.com"] {
        #expect(
          add([kSecClass: kSecClassInternetPassword, kSecAttrServer: server]) == errSecSuccess)
      }
      let answer = copy([
        kSecClass: kSecClassInternetPassword, kSecMatchHostOrSubdomainOfHost: "Example.ORG",
        kSecMatchLimit: kSecMatchLimitAll, kSecReturnAttributes: true,
      ])
      #expect(
        answer.array?.compactMap { $0[kSecAttrServer] as? String }
          == ["example.org", "mail.example.org"])
      withExtendedLifetime(store) {}
    }

    @Test func conditionsThatAreNotLookedAtAreRefused() throws {
      let store = try store()
      for name in [
        kSecMatchPolicy, kSecMatchIssuers, kSecMatchSubjectContains, kSecMatchValidOnDate,
        kSecMatchTrustedOnly, kSecMatchDiacriticInsensitive, kSecMatchEmailAddressIfPresent,
      ] {
        #expect(copy(password("a", [name: true])).status == errSecUnimplemented, "\(name)")
      }
      #expect(copy(password("a", [kSecMatchTrustedOnly: false])).status == errSecSuccess)
      withExtendedLifetime(store) {}
    }

    @Test func whatASearchGivesFindsTheItemAgain() throws {
      let store = try store()
      let item = try #require(copy(password("b", [kSecReturnAttributes: true])).dictionary)
      let answer = copy(item.merging([kSecReturnData: true]) { $1 })
      #expect(answer.data == Data("secret of b".utf8))
      withExtendedLifetime(store) {}
    }

    @Test func missingTextsOfThePrimaryKeyComeBackEmpty() throws {
      let store = try ProgramStore()
      #expect(
        add([kSecClass: kSecClassInternetPassword, kSecAttrServer: "a.example"]) == errSecSuccess)
      let item = copy([kSecClass: kSecClassInternetPassword, kSecReturnAttributes: true]).dictionary
      #expect(item?[kSecAttrPath] as? String == "")
      #expect(item?[kSecAttrAccount] as? String == "")
      #expect(item?[kSecAttrPort] as? Int == 0)
      #expect(item?[kSecAttrService] == nil)
      #expect(item?[kSecAttrProtocol] == nil)
      withExtendedLifetime(store) {}
    }
  }
}

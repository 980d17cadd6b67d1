// SPDX-License-Identifier: Apache-2.0

import Foundation
import Security
import Testing

extension OwnKeychain {
  /// Wrappers that make their queries as Foundation's dictionaries.
  @Suite struct DictionaryClientTests {
    @Test func literalsAsFoundationsDictionaries() throws {
      let store = try ProgramStore()
      let set = DictionaryLiterals.set
      #expect(set(Data("1".utf8), "anna", "mail") == errSecSuccess)
      #expect(set(Data("2".utf8), "anna", "mail") == errSecSuccess)
      #expect(DictionaryLiterals.get(account: "anna", service: "mail") == Data("2".utf8))
      let query = password("anna")
      let foundation = NSDictionary(dictionary: query)
      #expect(SecItemUpdate(foundation, [kSecAttrLabel: "1"] as CFDictionary) == errSecSuccess)
      #expect(
        SecItemUpdate(query as CFDictionary, [kSecAttrLabel: "2"] as NSDictionary) == errSecSuccess)
      #expect(copy(password("anna", [kSecAttrLabel: "2"])).status == errSecSuccess)
      #expect(DictionaryLiterals.delete(service: "mail") == errSecSuccess)
      #expect(DictionaryLiterals.delete(service: "mail") == errSecItemNotFound)
      withExtendedLifetime(store) {}
    }

    @Test func keysOfFoundationsDictionariesHaveToBeTexts() throws {
      let store = try ProgramStore()
      #expect(add(password("anna", secret("x"))) == errSecSuccess)
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
      withExtendedLifetime(store) {}
    }

    @Test func callsInVariablesAreOfDictionaries() throws {
      let store = try ProgramStore()
      let calls = DictionaryLiterals.Calls()
      #expect(calls.add(password("anna", secret("x")), nil) == errSecSuccess)
      #expect(calls.copy(password("anna"), nil) == errSecSuccess)
      #expect(calls.update(password("anna"), [kSecAttrLabel: "1"]) == errSecSuccess)
      #expect(calls.delete(password("anna")) == errSecSuccess)
      withExtendedLifetime(store) {}
    }
  }
}

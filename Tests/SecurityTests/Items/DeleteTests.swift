// SPDX-License-Identifier: Apache-2.0

import Foundation
import Security
import Testing

extension OwnKeychain {
  @Suite struct DeleteTests {
    private func delete(_ query: [String: Any]) -> OSStatus { SecItemDelete(query as CFDictionary) }

    @Test func everyMatchGoesAndNothingElse() throws {
      let store = try ProgramStore()
      for account in ["a", "b", "c"] { #expect(add(password(account)) == errSecSuccess) }
      #expect(add(password("a", service: "files")) == errSecSuccess)
      #expect(add(password("away", [kSecAttrSynchronizable: true])) == errSecSuccess)
      #expect(
        add([kSecClass: kSecClassInternetPassword, kSecAttrAccount: "a"]) == errSecSuccess)
      #expect(
        delete([kSecClass: kSecClassGenericPassword, kSecAttrService: "mail"]) == errSecSuccess)
      #expect(count() == 2)
      #expect(count(kSecClassInternetPassword) == 1)
      #expect(copy(password("a", service: "files")).status == errSecSuccess)
      #expect(copy(password("away", [kSecAttrSynchronizable: true])).status == errSecSuccess)
      withExtendedLifetime(store) {}
    }

    @Test func noMatchIsNotFound() throws {
      let store = try ProgramStore()
      #expect(add(password("a")) == errSecSuccess)
      #expect(delete(password("b")) == errSecItemNotFound)
      #expect(delete(password("a")) == errSecSuccess)
      #expect(delete(password("a")) == errSecItemNotFound)
      withExtendedLifetime(store) {}
    }

    @Test func aLimitOtherThanAllIsRefused() throws {
      let store = try ProgramStore()
      for account in ["a", "b"] { #expect(add(password(account)) == errSecSuccess) }
      for limit in [kSecMatchLimitOne, 1, 2, 100] as [Any] {
        #expect(delete(password("a", [kSecMatchLimit: limit])) == errSecParam)
      }
      #expect(count() == 2)
      #expect(delete(password("a", [kSecMatchLimit: kSecMatchLimitAll])) == errSecSuccess)
      #expect(count() == 1)
      withExtendedLifetime(store) {}
    }

    @Test func aClassAloneMeansAllOfIt() throws {
      let store = try ProgramStore()
      for account in ["a", "b", "c"] { #expect(add(password(account)) == errSecSuccess) }
      #expect(delete([kSecClass: kSecClassGenericPassword]) == errSecSuccess)
      #expect(count() == 0)
      #expect(delete([:]) == errSecParam)
      #expect(delete([kSecAttrAccount: "a"]) == errSecParam)
      withExtendedLifetime(store) {}
    }

    @Test func anyPartOfAnItemWillDo() throws {
      let store = try ProgramStore()
      #expect(add(password("a", [kSecAttrLabel: "x", kSecAttrComment: "y"])) == errSecSuccess)
      #expect(add(password("b", [kSecAttrLabel: "x"])) == errSecSuccess)
      #expect(add(password("c", [kSecAttrLabel: "z"])) == errSecSuccess)
      #expect(delete([kSecClass: kSecClassGenericPassword, kSecAttrComment: "y"]) == errSecSuccess)
      #expect(count() == 2)
      #expect(
        delete([
          kSecClass: kSecClassGenericPassword, kSecAttrLabel: "X", kSecMatchCaseInsensitive: true,
        ])
          == errSecSuccess)
      #expect(copy(password("c")).status == errSecSuccess)
      #expect(count() == 1)
      withExtendedLifetime(store) {}
    }

    @Test func otherProgramsItemsAreOutOfReach() throws {
      let store = try ProgramStore(groups: ["one"])
      #expect(add(password("a")) == errSecSuccess)
      store.use(groups: ["two"])
      #expect(delete([kSecClass: kSecClassGenericPassword]) == errSecItemNotFound)
      #expect(delete(password("a", [kSecAttrAccessGroup: "one"])) == errSecMissingEntitlement)
      store.use(groups: ["one"])
      #expect(delete(password("a")) == errSecSuccess)
    }

    @Test func skippingIsForSearchesOnly() throws {
      let store = try ProgramStore()
      #expect(add(password("a")) == errSecSuccess)
      let skip: [String: Any] = [kSecUseAuthenticationUI: kSecUseAuthenticationUISkip]
      #expect(delete(password("a", skip)) == errSecParam)
      #expect(
        SecItemUpdate(password("a", skip) as CFDictionary, secret("x") as CFDictionary)
          == errSecParam)
      #expect(copy(password("a", skip)).status == errSecSuccess)
      withExtendedLifetime(store) {}
    }
  }
}

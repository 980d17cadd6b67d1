// SPDX-License-Identifier: Apache-2.0

import Foundation
import Security
import Testing

extension OwnKeychain {
  @Suite struct PersistentReferenceTests {
    private func reference(_ account: String) throws -> Data {
      try #require(copy(password(account, [kSecReturnPersistentRef: true])).data)
    }

    @Test func itFindsTheItemByItself() throws {
      let store = try ProgramStore()
      for account in ["a", "b"] {
        #expect(add(password(account, secret(account))) == errSecSuccess)
      }
      let reference = try reference("b")
      #expect(
        copy([kSecValuePersistentRef: reference, kSecReturnData: true]).data == Data("b".utf8))
      let item = copy([kSecValuePersistentRef: reference, kSecReturnAttributes: true])
      #expect(item.dictionary?[kSecAttrAccount] as? String == "b")
      #expect(
        copy([kSecClass: kSecClassGenericPassword, kSecValuePersistentRef: reference]).status
          == errSecSuccess)
      withExtendedLifetime(store) {}
    }

    /// Who walks over references has asked for synchronizable items before.
    @Test func itFindsASynchronizableItemUnasked() throws {
      let store = try ProgramStore()
      let added = addAndCopy(
        password(
          "a",
          secret("x").merging([kSecAttrSynchronizable: true, kSecReturnPersistentRef: true]) { $1 })
      )
      let reference = try #require(added.data)
      #expect(
        copy([kSecValuePersistentRef: reference, kSecReturnData: true]).data == Data("x".utf8))
      let list: [String: Any] = [kSecMatchItemList: [reference], kSecReturnData: true]
      #expect(copy(list).data == Data("x".utf8))
      let no: [String: Any] = [kSecValuePersistentRef: reference, kSecAttrSynchronizable: false]
      #expect(copy(no).status == errSecItemNotFound)
      #expect(
        SecItemUpdate(
          [kSecValuePersistentRef: reference] as CFDictionary, [kSecAttrLabel: "x"] as CFDictionary)
          == errSecSuccess)
      #expect(SecItemDelete([kSecValuePersistentRef: reference] as CFDictionary) == errSecSuccess)
      withExtendedLifetime(store) {}
    }

    @Test func itOutlivesChangesAndTheProgram() throws {
      let store = try ProgramStore()
      #expect(add(password("a", secret("old"))) == errSecSuccess)
      let reference = try reference("a")
      #expect(
        SecItemUpdate(
          password("a") as CFDictionary,
          secret("new").merging([
            kSecAttrAccount: "b", kSecAttrAccessGroup: "team.shared",
            kSecAttrAccessible: kSecAttrAccessibleAlways,
          ]) { $1 } as CFDictionary) == errSecSuccess)
      LinuxKeychain.close()
      #expect(
        copy([kSecValuePersistentRef: reference, kSecReturnData: true]).data == Data("new".utf8))
      #expect(
        copy([kSecValuePersistentRef: reference, kSecReturnPersistentRef: true]).data == reference)
      withExtendedLifetime(store) {}
    }

    @Test func itUpdatesAndDeletesThatItemAlone() throws {
      let store = try ProgramStore()
      for account in ["a", "b"] { #expect(add(password(account)) == errSecSuccess) }
      let reference = try reference("a")
      #expect(
        SecItemUpdate(
          [kSecValuePersistentRef: reference] as CFDictionary, [kSecAttrLabel: "x"] as CFDictionary)
          == errSecSuccess)
      #expect(copy(password("a", [kSecAttrLabel: "x"])).status == errSecSuccess)
      #expect(copy(password("b", [kSecAttrLabel: "x"])).status == errSecItemNotFound)
      #expect(SecItemDelete([kSecValuePersistentRef: reference] as CFDictionary) == errSecSuccess)
      #expect(copy([kSecValuePersistentRef: reference]).status == errSecItemNotFound)
      #expect(
        SecItemDelete([kSecValuePersistentRef: reference] as CFDictionary) == errSecItemNotFound)
      #expect(count() == 1)
      withExtendedLifetime(store) {}
    }

    /// The row's number may be given again; the item's name is not.
    @Test func itNeverNamesAnotherItem() throws {
      let store = try ProgramStore()
      #expect(add(password("a")) == errSecSuccess)
      let reference = try reference("a")
      #expect(SecItemDelete(password("a") as CFDictionary) == errSecSuccess)
      #expect(add(password("a")) == errSecSuccess)
      #expect(copy([kSecValuePersistentRef: reference]).status == errSecItemNotFound)
      withExtendedLifetime(store) {}
    }

    @Test func otherConditionsHoldToo() throws {
      let store = try ProgramStore()
      #expect(add(password("a")) == errSecSuccess)
      let reference = try reference("a")
      func status(_ more: [String: Any]) -> OSStatus {
        copy(more.merging([kSecValuePersistentRef: reference]) { $1 }).status
      }
      #expect(status([kSecAttrAccount: "a"]) == errSecSuccess)
      #expect(status([kSecAttrAccount: "b"]) == errSecItemNotFound)
      #expect(status([kSecAttrSynchronizable: true]) == errSecItemNotFound)
      #expect(status([kSecClass: kSecClassInternetPassword]) == errSecItemNotFound)
      store.use(groups: ["team.other"])
      #expect(status([:]) == errSecItemNotFound)
    }

    @Test func aListOfThemIsAChoice() throws {
      let store = try ProgramStore()
      for account in ["a", "b", "c"] { #expect(add(password(account)) == errSecSuccess) }
      let list = [try reference("c"), try reference("a")]
      let answer = copy([
        kSecMatchItemList: list, kSecMatchLimit: kSecMatchLimitAll, kSecReturnAttributes: true,
      ])
      #expect(answer.array?.compactMap { $0[kSecAttrAccount] as? String } == ["c", "a"])
      let filtered = copy([
        kSecClass: kSecClassGenericPassword, kSecAttrAccount: "a", kSecMatchItemList: list,
        kSecMatchLimit: kSecMatchLimitAll, kSecReturnAttributes: true,
      ])
      #expect(filtered.array?.count == 1)
      #expect(
        copy([kSecClass: kSecClassGenericPassword, kSecAttrAccount: "b", kSecMatchItemList: list])
          .status == errSecItemNotFound)
      #expect(copy([kSecMatchItemList: list, kSecAttrAccount: "b"]).status == errSecItemNotFound)
      #expect(copy([kSecMatchItemList: [Data]()]).status == errSecItemNotFound)
      #expect(copy([kSecMatchItemList: "x"]).status == errSecParam)
      #expect(
        SecItemDelete(
          [kSecClass: kSecClassGenericPassword, kSecMatchItemList: list] as CFDictionary)
          == errSecSuccess)
      #expect(count() == 1)
      withExtendedLifetime(store) {}
    }
  }
}

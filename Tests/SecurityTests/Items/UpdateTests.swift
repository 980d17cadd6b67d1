// SPDX-License-Identifier: Apache-2.0

import Foundation
import Security
import Testing

extension OwnKeychain {
  @Suite struct UpdateTests {
    private func update(_ query: [String: Any], _ change: [String: Any]) -> OSStatus {
      SecItemUpdate(query as CFDictionary, change as CFDictionary)
    }

    private func snapshot() -> [[String: Any]] {
      copy([
        kSecClass: kSecClassGenericPassword, kSecMatchLimit: kSecMatchLimitAll,
        kSecReturnAttributes: true, kSecReturnData: true, kSecReturnPersistentRef: true,
        kSecAttrSynchronizable: kSecAttrSynchronizableAny,
      ]).array ?? []
    }

    @Test func everyMatchIsChangedAndNothingElse() throws {
      let store = try ProgramStore()
      for account in ["a", "b"] { #expect(add(password(account, secret("old"))) == errSecSuccess) }
      #expect(add(password("a", service: "files", secret("old"))) == errSecSuccess)
      #expect(
        update(
          [kSecClass: kSecClassGenericPassword, kSecAttrService: "mail"],
          secret("new").merging([kSecAttrLabel: "changed"]) { $1 }) == errSecSuccess)
      for account in ["a", "b"] {
        let item = copy(password(account, [kSecReturnData: true, kSecReturnAttributes: true]))
        #expect(item.dictionary?[kSecValueData] as? Data == Data("new".utf8))
        #expect(item.dictionary?[kSecAttrLabel] as? String == "changed")
      }
      let other = copy(
        password("a", service: "files", [kSecReturnData: true, kSecReturnAttributes: true]))
      #expect(other.dictionary?[kSecValueData] as? Data == Data("old".utf8))
      #expect(other.dictionary?[kSecAttrLabel] == nil)
      withExtendedLifetime(store) {}
    }

    @Test func noMatchIsNotFound() throws {
      let store = try ProgramStore()
      #expect(add(password("a")) == errSecSuccess)
      #expect(update(password("z"), secret("new")) == errSecItemNotFound)
      withExtendedLifetime(store) {}
    }

    @Test func aCollisionChangesNothingAtAll() throws {
      let store = try ProgramStore()
      for account in ["a", "b", "c"] {
        #expect(add(password(account, secret(account))) == errSecSuccess)
      }
      #expect(add(password("x", service: "files")) == errSecSuccess)
      let before = snapshot()
      // The first of the three could have its way.
      #expect(
        update(
          [kSecClass: kSecClassGenericPassword, kSecAttrService: "mail"],
          secret("new").merging([kSecAttrAccount: "y"]) { $1 }) == errSecDuplicateItem)
      #expect(
        update(password("a"), [kSecAttrAccount: "x", kSecAttrService: "files"])
          == errSecDuplicateItem)
      #expect(areEqual(snapshot() as AnyObject, before as AnyObject))
      #expect(errSecDuplicateItem == -25299)
      withExtendedLifetime(store) {}
    }

    @Test func returnAndMatchKeysAreRefused() throws {
      let store = try ProgramStore()
      #expect(add(password("a", secret("old"))) == errSecSuccess)
      for name in [kSecReturnData, kSecReturnAttributes, kSecReturnRef, kSecReturnPersistentRef] {
        #expect(update(password("a", [name: true]), secret("new")) == errSecParam, "\(name)")
      }
      let matching: [(CFString, Any)] = [
        (kSecMatchLimit, kSecMatchLimitAll), (kSecMatchLimit, kSecMatchLimitOne),
        (kSecMatchLimit, 5), (kSecMatchCaseInsensitive, true), (kSecMatchCaseInsensitive, false),
        (kSecMatchItemList, [Data]()),
      ]
      for (name, value) in matching {
        #expect(update(password("a", [name: value]), secret("new")) == errSecParam, "\(name)")
      }
      #expect(update([kSecAttrAccount: "a"], secret("new")) == errSecParam, "no class")
      #expect(copy(password("a", [kSecReturnData: true])).data == Data("old".utf8))
      withExtendedLifetime(store) {}
    }

    @Test func whatIsNoAttributeCannotBeChanged() throws {
      let store = try ProgramStore()
      #expect(add(password("a")) == errSecSuccess)
      let changes: [(CFString, Any, OSStatus)] = [
        (kSecClass, kSecClassInternetPassword, errSecParam), (kSecReturnData, true, errSecParam),
        (kSecMatchLimit, 1, errSecParam), (kSecValuePersistentRef, Data(), errSecParam),
        (kSecAttrSynchronizable, kSecAttrSynchronizableAny, errSecParam),
        (kSecAttrServer, "a.example", errSecNoSuchAttr), (kSecAttrLabel, 5, errSecParam),
        (kSecAttrAccessGroup, "team.other", errSecMissingEntitlement),
        (kSecUseAuthenticationUI, kSecUseAuthenticationUISkip, errSecParam),
      ]
      for (name, value, status) in changes {
        #expect(update(password("a"), [name: value]) == status, "\(name)")
      }
      withExtendedLifetime(store) {}
    }

    @Test func aNewAccessibilityKeepsTheSecret() throws {
      let store = try ProgramStore()
      #expect(add(password("a", secret("kept"))) == errSecSuccess)
      let codes = [
        kSecAttrAccessibleAfterFirstUnlock, kSecAttrAccessibleAlways,
        kSecAttrAccessibleWhenUnlocked,
      ]
      for code in codes {
        #expect(update(password("a"), [kSecAttrAccessible: code]) == errSecSuccess)
        let item = copy(password("a", [kSecReturnData: true, kSecReturnAttributes: true]))
        #expect(item.dictionary?[kSecAttrAccessible] as? String == code)
        #expect(item.dictionary?[kSecValueData] as? Data == Data("kept".utf8))
        #expect(copy(password("a", [kSecAttrAccessible: code])).status == errSecSuccess)
        LinuxKeychain.close()
        #expect(copy(password("a", [kSecReturnData: true])).data == Data("kept".utf8))
      }
      withExtendedLifetime(store) {}
    }

    @Test func theModificationDateIsStampedAndTheCreationDateStays() throws {
      let store = try ProgramStore()
      let added = addAndCopy(password("a", [kSecReturnAttributes: true])).dictionary
      #expect(
        update(
          password("a"),
          [kSecAttrLabel: "x", kSecAttrCreationDate: Date(timeIntervalSince1970: 5)])
          == errSecSuccess)
      let changed = copy(password("a", [kSecReturnAttributes: true])).dictionary
      #expect(
        changed?[kSecAttrCreationDate] as? Date == added?[kSecAttrCreationDate] as? Date)
      let before = try #require(added?[kSecAttrModificationDate] as? Date)
      #expect(try #require(changed?[kSecAttrModificationDate] as? Date) > before)
      withExtendedLifetime(store) {}
    }

    @Test func anItemCanMoveToAnotherGroupAccountAndSynchronization() throws {
      let store = try ProgramStore()
      #expect(add(password("a", secret("kept"))) == errSecSuccess)
      #expect(
        update(
          password("a"),
          [
            kSecAttrAccessGroup: "team.shared", kSecAttrAccount: "b", kSecAttrSynchronizable: true,
          ]) == errSecSuccess)
      #expect(copy(password("a")).status == errSecItemNotFound)
      let moved = copy(
        password(
          "b",
          [
            kSecAttrAccessGroup: "team.shared", kSecAttrSynchronizable: true, kSecReturnData: true,
          ]))
      #expect(moved.data == Data("kept".utf8))
      // Back, and onto itself.
      #expect(
        update(password("b", [kSecAttrSynchronizable: true]), [kSecAttrSynchronizable: false])
          == errSecSuccess)
      #expect(update(password("b"), [kSecAttrAccount: "b"]) == errSecSuccess)
      #expect(count() == 1)
      withExtendedLifetime(store) {}
    }

    /// Some wrappers pass the whole item as a change, and as the query the item with its new data.
    @Test func dataInTheQueryDoesNotMatter() throws {
      let store = try ProgramStore()
      #expect(add(password("a", secret("old"))) == errSecSuccess)
      let item = password("a", secret("new"))
      var change = item
      change[kSecClass] = nil
      #expect(update(item, change) == errSecSuccess)
      #expect(copy(item.merging([kSecReturnData: true]) { $1 }).data == Data("new".utf8))
      #expect(SecItemDelete(password("a", secret("whatever")) as CFDictionary) == errSecSuccess)
      withExtendedLifetime(store) {}
    }

    @Test func anEmptiedAttributeIsFoundByTheEmptyValue() throws {
      let store = try ProgramStore()
      #expect(add(password("a", [kSecAttrLabel: "x"])) == errSecSuccess)
      #expect(update(password("a"), [kSecAttrLabel: ""]) == errSecSuccess)
      #expect(copy(password("a", [kSecAttrLabel: ""])).status == errSecSuccess)
      #expect(update(password("a"), [kSecAttrAccount: ""]) == errSecSuccess)
      #expect(
        copy([kSecClass: kSecClassGenericPassword, kSecAttrAccount: ""]).status == errSecSuccess)
      #expect(
        add([kSecClass: kSecClassGenericPassword, kSecAttrService: "mail"]) == errSecDuplicateItem)
      withExtendedLifetime(store) {}
    }
  }
}

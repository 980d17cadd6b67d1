import Foundation
import Security
import Testing

extension OwnKeychain {
  /// What is changed or deleted by which query is in `ModelTests`.
  @Suite struct UpdateTests {
    private let store = ProgramStore()

    @Test func returnAndMatchKeysAreRefused() {
      insert(password("a", secret("old")))
      for name in [kSecReturnData, kSecReturnAttributes, kSecReturnRef, kSecReturnPersistentRef] {
        #expect(update(password("a", [name: true]), secret("new")) == errSecParam, "\(name)")
      }
      let matching: [(CFString, Any)] = [
        (kSecMatchLimit, kSecMatchLimitAll), (kSecMatchLimit, kSecMatchLimitOne), (kSecMatchLimit, 5),
        (kSecMatchCaseInsensitive, true), (kSecMatchCaseInsensitive, false), (kSecMatchItemList, [Data]()),
      ]
      for (name, value) in matching {
        #expect(update(password("a", [name: value]), secret("new")) == errSecParam, "\(name)")
      }
      #expect(update([kSecAttrAccount: "a"], secret("new")) == errSecParam, "no class")
      #expect(text(password("a")) == "old")
    }

    @Test func whatIsNoAttributeCannotBeChanged() {
      insert(password("a"))
      let changes: [(CFString, Any, OSStatus)] = [
        (kSecClass, kSecClassInternetPassword, errSecParam), (kSecReturnData, true, errSecParam),
        (kSecMatchLimit, 1, errSecParam), (kSecValuePersistentRef, Data(), errSecParam),
        (kSecAttrSynchronizable, kSecAttrSynchronizableAny, errSecParam),
        (kSecAttrServer, "a.example", errSecNoSuchAttr), (kSecAttrLabel, 5, errSecParam),
        (kSecAttrAccessGroup, "team.other", errSecMissingEntitlement),
        (kSecUseAuthenticationUI, kSecUseAuthenticationUISkip, errSecParam),
      ]
      for (name, value, status) in changes { #expect(update(password("a"), [name: value]) == status, "\(name)") }
    }

    @Test("No change makes an item synchronizable and for this device only, and none of several is changed")
    func deviceOnly() throws {
      let device: [String: Any] = [kSecAttrAccessible: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly]
      insert(password("device", device))
      insert(password("cloud", [kSecAttrSynchronizable: true]))
      insert(password("plain"))
      let cloud = password("cloud", [kSecAttrSynchronizable: true])
      let both = device.merging([kSecAttrSynchronizable: true]) { $1 }
      #expect(update(password("device"), [kSecAttrSynchronizable: true]) == errSecParam)
      #expect(update(cloud, device) == errSecParam)
      #expect(update(password("plain"), both) == errSecParam)
      #expect(update([kSecClass: kSecClassGenericPassword], [kSecAttrSynchronizable: true]) == errSecParam)
      #expect(find(password("plain")) == errSecSuccess, "it is not synchronizable")
      // Both at once, or what leads away from there.
      #expect(update(cloud, device.merging([kSecAttrSynchronizable: false]) { $1 }) == errSecSuccess)
      #expect(
        update(password("device"), [kSecAttrSynchronizable: true, kSecAttrAccessible: kSecAttrAccessibleWhenUnlocked])
          == errSecSuccess)
    }

    /// Some wrappers pass the whole item as a change, and as the query the item with its new data.
    @Test func dataInTheQueryDoesNotMatter() {
      insert(password("a", secret("old")))
      let item = password("a", secret("new"))
      var change = item
      change[kSecClass] = nil
      #expect(update(item, change) == errSecSuccess)
      #expect(text(item) == "new")
      #expect(delete(password("a", secret("whatever"))) == errSecSuccess)
    }

    @Test func aLimitOtherThanAllOfADeletionIsRefusedAndSoIsNoClass() {
      for account in ["a", "b"] { insert(password(account)) }
      for limit in [kSecMatchLimitOne, 1, 2, 100] as [Any] {
        #expect(delete(password("a", [kSecMatchLimit: limit])) == errSecParam)
      }
      #expect(delete([:]) == errSecParam)
      #expect(delete([kSecAttrAccount: "a"]) == errSecParam)
      #expect(count() == 2)
      #expect(delete(password("a", [kSecMatchLimit: kSecMatchLimitAll])) == errSecSuccess)
      #expect(count() == 1)
    }

    @Test func whatIsDeletedCanBeNamedInAnyCase() {
      for label in ["x", "X", "z"] { insert(password(label, [kSecAttrLabel: label])) }
      #expect(
        delete([kSecClass: kSecClassGenericPassword, kSecAttrLabel: "X", kSecMatchCaseInsensitive: true])
          == errSecSuccess)
      #expect(find(password("z")) == errSecSuccess)
      #expect(count() == 1)
    }

    @Test func skippingIsForSearchesOnly() {
      insert(password("a"))
      let skip: [String: Any] = [kSecUseAuthenticationUI: kSecUseAuthenticationUISkip]
      #expect(delete(password("a", skip)) == errSecParam)
      #expect(update(password("a", skip), secret("x")) == errSecParam)
      #expect(find(password("a", skip)) == errSecSuccess)
    }
  }
}

import Foundation
import Security
import Testing

extension OwnKeychain {
  @Suite struct PersistentReferenceTests {
    private let store = ProgramStore()

    private func reference(_ account: String) throws -> Data {
      try #require(copy(password(account, [kSecReturnPersistentRef: true])).data)
    }

    @Test func itFindsTheItemByItself() throws {
      for account in ["a", "b"] { insert(password(account, secret(account))) }
      let reference = try reference("b")
      #expect(text([kSecValuePersistentRef: reference]) == "b")
      let item = copy([kSecValuePersistentRef: reference, kSecReturnAttributes: true])
      #expect(item.dictionary?[kSecAttrAccount] as? String == "b")
      #expect(find([kSecClass: kSecClassGenericPassword, kSecValuePersistentRef: reference]) == errSecSuccess)
    }

    /// Who walks over references has asked for synchronizable items before.
    @Test func itFindsASynchronizableItemUnasked() throws {
      let added = addAndCopy(password("a", secret("x"), [kSecAttrSynchronizable: true, kSecReturnPersistentRef: true]))
      let reference = try #require(added.data)
      #expect(text([kSecValuePersistentRef: reference]) == "x")
      let list: [String: Any] = [kSecMatchItemList: [reference], kSecReturnData: true]
      #expect(copy(list).data == Data("x".utf8))
      let no: [String: Any] = [kSecValuePersistentRef: reference, kSecAttrSynchronizable: false]
      #expect(find(no) == errSecItemNotFound)
      #expect(update([kSecValuePersistentRef: reference], [kSecAttrLabel: "x"]) == errSecSuccess)
      #expect(delete([kSecValuePersistentRef: reference]) == errSecSuccess)
    }

    @Test func itOutlivesChangesAndTheProgram() throws {
      insert(password("a", secret("old")))
      let reference = try reference("a")
      #expect(
        update(
          password("a"), secret("new"),
          [kSecAttrAccount: "b", kSecAttrAccessGroup: "team.shared", kSecAttrAccessible: kSecAttrAccessibleAlways])
          == errSecSuccess)
      LinuxKeychain.close()
      #expect(text([kSecValuePersistentRef: reference]) == "new")
      #expect(copy([kSecValuePersistentRef: reference, kSecReturnPersistentRef: true]).data == reference)
    }

    @Test func itUpdatesAndDeletesThatItemAlone() throws {
      for account in ["a", "b"] { insert(password(account)) }
      let reference = try reference("a")
      #expect(update([kSecValuePersistentRef: reference], [kSecAttrLabel: "x"]) == errSecSuccess)
      #expect(find(password("a", [kSecAttrLabel: "x"])) == errSecSuccess)
      #expect(find(password("b", [kSecAttrLabel: "x"])) == errSecItemNotFound)
      #expect(delete([kSecValuePersistentRef: reference]) == errSecSuccess)
      #expect(find([kSecValuePersistentRef: reference]) == errSecItemNotFound)
      #expect(delete([kSecValuePersistentRef: reference]) == errSecItemNotFound)
      #expect(count() == 1)
    }

    /// The row's number may be given again; the item's name is not.
    @Test func itNeverNamesAnotherItem() throws {
      insert(password("a"))
      let reference = try reference("a")
      #expect(delete(password("a")) == errSecSuccess)
      insert(password("a"))
      #expect(find([kSecValuePersistentRef: reference]) == errSecItemNotFound)
    }

    @Test func otherConditionsHoldToo() throws {
      insert(password("a"))
      let reference = try reference("a")
      func status(_ more: [String: Any]) -> OSStatus { find(more, [kSecValuePersistentRef: reference]) }
      #expect(status([kSecAttrAccount: "a"]) == errSecSuccess)
      #expect(status([kSecAttrAccount: "b"]) == errSecItemNotFound)
      #expect(status([kSecAttrSynchronizable: true]) == errSecItemNotFound)
      #expect(status([kSecClass: kSecClassInternetPassword]) == errSecItemNotFound)
      store.use(groups: ["team.other"])
      #expect(status([:]) == errSecItemNotFound)
    }

    @Test func aListOfThemIsAChoice() throws {
      for account in ["a", "b", "c"] { insert(password(account)) }
      let list = [try reference("c"), try reference("a")]
      let answer = copy([kSecMatchItemList: list, kSecMatchLimit: kSecMatchLimitAll, kSecReturnAttributes: true])
      #expect(answer.array?.compactMap { $0[kSecAttrAccount] as? String } == ["c", "a"])
      let filtered = copy([
        kSecClass: kSecClassGenericPassword, kSecAttrAccount: "a", kSecMatchItemList: list,
        kSecMatchLimit: kSecMatchLimitAll, kSecReturnAttributes: true,
      ])
      #expect(filtered.array?.count == 1)
      #expect(
        find([kSecClass: kSecClassGenericPassword, kSecAttrAccount: "b", kSecMatchItemList: list]) == errSecItemNotFound
      )
      #expect(find([kSecMatchItemList: list, kSecAttrAccount: "b"]) == errSecItemNotFound)
      #expect(find([kSecMatchItemList: [Data]()]) == errSecItemNotFound)
      #expect(find([kSecMatchItemList: "x"]) == errSecParam)
      #expect(delete([kSecClass: kSecClassGenericPassword, kSecMatchItemList: list]) == errSecSuccess)
      #expect(count() == 1)
    }
  }
}

import Foundation
import Security
import Testing

extension OwnKeychain {
  @Suite struct AddTests {
    private let store = ProgramStore()

    @Test func aPersistentReferenceMakesNoSense() throws {
      let reference = addAndCopy(password("anna", [kSecReturnPersistentRef: true])).data
      #expect(add(password("otto", [kSecValuePersistentRef: try #require(reference)])) == errSecParam)
    }

    @Test func datesAreStampedWhateverIsGiven() throws {
      let given: [String: Any] = [
        kSecAttrCreationDate: Date(timeIntervalSince1970: 1_000_000_000),
        kSecAttrModificationDate: Date(timeIntervalSince1970: 1_000_000_000),
      ]
      func dates() throws -> [Date] {
        let found = attributes(password("anna"))
        return try [kSecAttrCreationDate, kSecAttrModificationDate].map { try #require(found?[$0] as? Date) }
      }
      let start = Date()
      insert(password("anna", given))
      let before = try dates()
      #expect(before.allSatisfy { $0 >= start.addingTimeInterval(-0.001) && $0 <= Date() })
      #expect(update(password("anna"), given, [kSecAttrLabel: "x"]) == errSecSuccess)
      let after = try dates()
      #expect(after[0] == before[0] && after[1] > before[1])
    }

    @Test(arguments: [
      [kSecReturnData], [kSecReturnAttributes], [kSecReturnPersistentRef], [kSecReturnData, kSecReturnAttributes],
      [kSecReturnAttributes, kSecReturnPersistentRef],
      [kSecReturnData, kSecReturnAttributes, kSecReturnRef, kSecReturnPersistentRef],
    ]) func theNewItemIsGivenAsASearchWouldGiveIt(_ names: [CFString]) {
      let wanted = Dictionary(uniqueKeysWithValues: names.map { ($0, true as Any) })
      let added = addAndCopy(password("anna", secret("hunter2")), wanted)
      let found = copy(password("anna"), wanted)
      #expect(added.status == errSecSuccess)
      #expect(found.status == errSecSuccess)
      #expect(areEqual(added.result, found.result))
    }

    @Test func withoutAReturnKeyNothingIsGiven() {
      let answer = addAndCopy(password("anna", [kSecReturnData: false]))
      #expect(answer.status == errSecSuccess)
      #expect(answer.result == nil)
    }

    @Test("An item without data returns no data, one with empty data returns that") func noDataIsNotEmptyData() {
      let both: [String: Any] = [kSecReturnAttributes: true, kSecReturnData: true]
      let none = addAndCopy(password("none", both))
      #expect(none.status == errSecSuccess)
      #expect(none.dictionary?[kSecAttrAccount] as? String == "none")
      #expect(none.dictionary?.keys.contains(kSecValueData) == false)
      insert(password("empty", [kSecValueData: Data()]))
      func item(_ account: String) -> [String: Any]? {
        LinuxKeychain.close()
        return copy(password(account, both)).dictionary
      }
      #expect(item("none")?.keys.contains(kSecValueData) == false)
      #expect(item("empty")?[kSecValueData] as? Data == Data())
      // Alone, data is a value in any case.
      for account in ["none", "empty"] { #expect(copy(password(account, [kSecReturnData: true])).data == Data()) }
      #expect(update(password("none"), [kSecAttrLabel: "x"]) == errSecSuccess)
      #expect(item("none")?.keys.contains(kSecValueData) == false)
      #expect(update(password("none"), [kSecValueData: Data()]) == errSecSuccess)
      #expect(item("none")?[kSecValueData] as? Data == Data())
    }

    /// Byte by byte, as in the original: Unicode's equivalences are no business of a primary key.
    @Test func anyTextIsAnAccount() {
      let accounts = ["", " ", "a\u{0}b", "äöü", "👩‍👩‍👧‍👦🇩🇪", "e\u{301}", "\u{E9}", String(repeating: "x", count: 10_000)]
      for account in accounts { insert(password(account, secret("of " + account))) }
      for account in accounts {
        let item = attributes(password(account, [kSecReturnData: true]))
        #expect(item?[kSecValueData] as? Data == Data("of \(account)".utf8))
        let found = item?[kSecAttrAccount] as? String
        #expect(found.map { Array($0.utf8) } == Array(account.utf8))
      }
      #expect(count() == accounts.count)
    }

    struct Refusal: Sendable, CustomTestStringConvertible {
      let testDescription: String
      let item: @Sendable () -> [String: Any]
      let status: OSStatus

      init(_ what: String, _ status: OSStatus, _ item: @autoclosure @escaping @Sendable () -> [String: Any]) {
        testDescription = what
        self.status = status
        self.item = item
      }
    }

    static let refusals = [
      Refusal("nothing at all", errSecParam, [:]), Refusal("no class", errSecParam, [kSecAttrAccount: "anna"]),
      Refusal("an unknown class", errSecParam, [kSecClass: "appl"]),
      Refusal("a class of another type", errSecParam, [kSecClass: 5]),
      Refusal("an identity", errSecParam, [kSecClass: kSecClassIdentity]),
      Refusal("a text as data", errSecParam, password("anna", [kSecValueData: "hunter2"])),
      Refusal("a number as account", errSecParam, password("anna", [kSecAttrAccount: 5])),
      Refusal("a text as date", errSecParam, [kSecClass: kSecClassKey, "sdat": "today"]),
      Refusal("an array as label", errSecParam, password("anna", [kSecAttrLabel: ["a"]])),
      Refusal("null", errSecParam, password("anna", [kSecAttrLabel: NSNull()])),
      Refusal("any synchronizable", errSecParam, password("anna", [kSecAttrSynchronizable: kSecAttrSynchronizableAny])),
      Refusal(
        "synchronizable and for this device only", errSecParam,
        password(
          "anna", [kSecAttrSynchronizable: true, kSecAttrAccessible: kSecAttrAccessibleWhenUnlockedThisDeviceOnly])),
      Refusal(
        "the same by an access control", errSecParam,
        password("anna", [kSecAttrSynchronizable: true], control(kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly))),
      Refusal("an unknown accessibility", errSecParam, password("anna", [kSecAttrAccessible: "zz"])),
      Refusal("an unknown key", errSecParam, password("anna", ["unknown key": "a"])),
      Refusal("an unknown return key", errSecParam, password("anna", ["r_Everything": true])),
      Refusal("an attribute of another class", errSecNoSuchAttr, password("anna", [kSecAttrServer: "mail.example"])),
      Refusal("an attribute that there is not", errSecNoSuchAttr, password("anna", ["zzzz": "a"])),
      Refusal(
        "a service of a server", errSecNoSuchAttr, [kSecClass: kSecClassInternetPassword, kSecAttrService: "mail"]),
      Refusal("skipping", errSecParam, password("anna", [kSecUseAuthenticationUI: kSecUseAuthenticationUISkip])),
      Refusal("no authentication UI", errSecParam, password("anna", [kSecUseAuthenticationUI: "x"])),
      Refusal("a damaged reference", errSecParam, [kSecValuePersistentRef: Data([1, 2, 3])]),
      Refusal(
        "an application password", errSecUnimplemented,
        password("anna", control(kSecAttrAccessibleWhenUnlocked, .applicationPassword))),
      Refusal(
        "two accessibilities", errSecParam, password("anna", [kSecAttrAccessible: kSecAttrAccessibleAlways], control())),
    ]

    @Test(arguments: refusals) func whatMakesNoSenseIsRefusedAndLeavesNothing(_ refusal: Refusal) {
      #expect(add(refusal.item()) == refusal.status)
      #expect(count() == 0)
      #expect(!FileManager.default.fileExists(atPath: store.path), "a refusal makes no store")
    }
  }

  @Suite struct AccessGroupTests {
    private let store = ProgramStore()

    @Test func twoProgramsShareAGroupAndKeepTheRest() {
      store.use(groups: ["one", "shared"])
      insert(password("private", secret("1")))
      insert(password("common", secret("2"), [kSecAttrAccessGroup: "shared"]))
      store.use(groups: ["two", "shared"])
      #expect(find(password("private")) == errSecItemNotFound)
      #expect(text(password("common")) == "2")
      // The same primary key but for the group.
      insert(password("private", secret("3")))
      store.use(groups: ["one", "two", "shared"])
      #expect(count() == 3)
    }

    @Test func aProgramWithoutAGroupHasNothing() {
      store.use(groups: ["one"])
      insert(password("a"))
      var settings = LinuxKeychain.settings
      settings.accessGroups = []
      LinuxKeychain.bootstrap(settings)
      #expect(add(password("b")) == errSecMissingEntitlement)
      #expect(find(password("a")) == errSecItemNotFound)
    }

    @Test func theInternalGroupCannotBeHad() {
      store.use(groups: ["threadkeeper.internal", "one"])
      #expect(add(password("a", [kSecAttrAccessGroup: "threadkeeper.internal"])) == errSecMissingEntitlement)
      #expect(add(password("a", [kSecAttrAccessGroup: ""])) == errSecMissingEntitlement)
      let item = addAndCopy(password("a", [kSecReturnAttributes: true])).dictionary
      #expect(item?[kSecAttrAccessGroup] as? String == "one")
    }
  }
}

// SPDX-License-Identifier: Apache-2.0

import Foundation
import Security
import Testing

extension OwnKeychain {
  @Suite struct AddTests {
    @Test func aGroupThatIsNotTheProgramsIsRefused() throws {
      let store = try ProgramStore()
      #expect(
        add(password("anna", [kSecAttrAccessGroup: "team.other"])) == errSecMissingEntitlement)
      #expect(add(password("anna", [kSecAttrAccessGroup: ""])) == errSecMissingEntitlement)
      #expect(errSecMissingEntitlement == -34018)
      #expect(count() == 0)
      withExtendedLifetime(store) {}
    }

    @Test func withoutAGroupTheItemGoesToTheFirst() throws {
      let store = try ProgramStore(groups: ["one", "two"])
      let answer = addAndCopy(password("anna", [kSecReturnAttributes: true]))
      #expect(answer.dictionary?[kSecAttrAccessGroup] as? String == "one")
      withExtendedLifetime(store) {}
    }

    @Test func aPersistentReferenceMakesNoSense() throws {
      let store = try ProgramStore()
      let reference = addAndCopy(password("anna", [kSecReturnPersistentRef: true])).data
      #expect(
        add(password("otto", [kSecValuePersistentRef: try #require(reference)])) == errSecParam)
      withExtendedLifetime(store) {}
    }

    @Test func datesAreStampedWhateverIsGiven() throws {
      let store = try ProgramStore()
      let before = Date()
      let long = Date(timeIntervalSince1970: 1_000_000_000)
      let answer = addAndCopy(
        password(
          "anna",
          [
            kSecAttrCreationDate: long, kSecAttrModificationDate: long, kSecReturnAttributes: true,
          ]))
      let after = Date()
      for name in [kSecAttrCreationDate, kSecAttrModificationDate] {
        let date = try #require(answer.dictionary?[name] as? Date)
        #expect(date >= before.addingTimeInterval(-0.001) && date <= after)
      }
      withExtendedLifetime(store) {}
    }

    @Test(arguments: [
      [kSecReturnData], [kSecReturnAttributes], [kSecReturnPersistentRef],
      [kSecReturnData, kSecReturnAttributes], [kSecReturnAttributes, kSecReturnPersistentRef],
      [kSecReturnData, kSecReturnAttributes, kSecReturnRef, kSecReturnPersistentRef],
    ])
    func theNewItemIsGivenAsASearchWouldGiveIt(_ names: [CFString]) throws {
      let store = try ProgramStore()
      let wanted = Dictionary(uniqueKeysWithValues: names.map { ($0, true as Any) })
      let added = addAndCopy(
        password("anna", secret("hunter2")).merging(wanted) { $1 })
      let found = copy(password("anna").merging(wanted) { $1 })
      #expect(added.status == errSecSuccess)
      #expect(found.status == errSecSuccess)
      #expect(areEqual(added.result, found.result))
      withExtendedLifetime(store) {}
    }

    @Test func withoutAReturnKeyNothingIsGiven() throws {
      let store = try ProgramStore()
      let answer = addAndCopy(password("anna", [kSecReturnData: false]))
      #expect(answer.status == errSecSuccess)
      #expect(answer.result == nil)
      withExtendedLifetime(store) {}
    }

    @Test("An item without data returns no data, one with empty data returns that")
    func noDataIsNotEmptyData() throws {
      let store = try ProgramStore()
      let both: [String: Any] = [kSecReturnAttributes: true, kSecReturnData: true]
      let none = addAndCopy(password("none", both))
      #expect(none.status == errSecSuccess)
      #expect(none.dictionary?[kSecAttrAccount] as? String == "none")
      #expect(none.dictionary?.keys.contains(kSecValueData) == false)
      #expect(add(password("empty", [kSecValueData: Data()])) == errSecSuccess)
      func item(_ account: String) -> [String: Any]? {
        LinuxKeychain.close()
        return copy(password(account, both)).dictionary
      }
      #expect(item("none")?.keys.contains(kSecValueData) == false)
      #expect(item("empty")?[kSecValueData] as? Data == Data())
      // Alone, data is a value in any case.
      for account in ["none", "empty"] {
        #expect(copy(password(account, [kSecReturnData: true])).data == Data())
      }
      let query = password("none") as CFDictionary
      #expect(SecItemUpdate(query, [kSecAttrLabel: "x"] as CFDictionary) == errSecSuccess)
      #expect(item("none")?.keys.contains(kSecValueData) == false)
      #expect(SecItemUpdate(query, [kSecValueData: Data()] as CFDictionary) == errSecSuccess)
      #expect(item("none")?[kSecValueData] as? Data == Data())
      withExtendedLifetime(store) {}
    }

    @Test(arguments: [
      "", " ", "a\u{0}b", "äöü", "👩‍👩‍👧‍👦🇩🇪", "e\u{301}", "\u{E9}", String(repeating: "x", count: 10_000),
    ])
    func anyTextIsAnAccount(_ account: String) throws {
      let store = try ProgramStore()
      #expect(add(password(account, secret(account))) == errSecSuccess)
      let answer = copy(password(account, [kSecReturnData: true, kSecReturnAttributes: true]))
      #expect(answer.dictionary?[kSecValueData] as? Data == Data(account.utf8))
      let found = try #require(answer.dictionary?[kSecAttrAccount] as? String)
      #expect(Array(found.utf8) == Array(account.utf8))
      withExtendedLifetime(store) {}
    }

    /// Byte by byte, as in the original: Unicode's equivalences are no business of a primary key.
    @Test func composedAndDecomposedTextsAreDifferent() throws {
      let store = try ProgramStore()
      #expect(add(password("e\u{301}")) == errSecSuccess)
      #expect(add(password("\u{E9}")) == errSecSuccess)
      #expect(count() == 2)
      withExtendedLifetime(store) {}
    }

    @Test(arguments: [1, 63, 64, 65, 100_000, 1_000_000])
    func dataOfAnyLengthComesBack(_ length: Int) throws {
      let store = try ProgramStore()
      let data = Data((0..<length).map { UInt8(truncatingIfNeeded: $0 &* 31) })
      #expect(add(password("anna", [kSecValueData: data])) == errSecSuccess)
      #expect(copy(password("anna", [kSecReturnData: true])).data == data)
      withExtendedLifetime(store) {}
    }

    @Test func whatIsTooLargeIsRefused() throws {
      let store = try ProgramStore()
      let data = Data(count: 17 << 20)
      #expect(add(password("anna", [kSecValueData: data])) == errSecDataTooLarge)
      #expect(count() == 0)
      withExtendedLifetime(store) {}
    }

    struct Refusal: Sendable, CustomTestStringConvertible {
      let testDescription: String
      let item: @Sendable () -> [String: Any]
      let status: OSStatus

      init(
        _ what: String, _ status: OSStatus,
        _ item: @autoclosure @escaping @Sendable () -> [String: Any]
      ) {
        testDescription = what
        self.status = status
        self.item = item
      }
    }

    static let refusals = [
      Refusal("nothing at all", errSecParam, [:]),
      Refusal("no class", errSecParam, [kSecAttrAccount: "anna"]),
      Refusal("an unknown class", errSecParam, [kSecClass: "appl"]),
      Refusal("a class of another type", errSecParam, [kSecClass: 5]),
      Refusal("an identity", errSecParam, [kSecClass: kSecClassIdentity]),
      Refusal("a text as data", errSecParam, password("anna", [kSecValueData: "hunter2"])),
      Refusal("a number as account", errSecParam, password("anna", [kSecAttrAccount: 5])),
      Refusal("a text as date", errSecParam, [kSecClass: kSecClassKey, "sdat": "today"]),
      Refusal("an array as label", errSecParam, password("anna", [kSecAttrLabel: ["a"]])),
      Refusal("null", errSecParam, password("anna", [kSecAttrLabel: NSNull()])),
      Refusal(
        "any synchronizable", errSecParam,
        password("anna", [kSecAttrSynchronizable: kSecAttrSynchronizableAny])),
      Refusal(
        "an unknown accessibility", errSecParam, password("anna", [kSecAttrAccessible: "zz"])),
      Refusal("an unknown key", errSecParam, password("anna", ["unknown key": "a"])),
      Refusal("an unknown return key", errSecParam, password("anna", ["r_Everything": true])),
      Refusal(
        "an attribute of another class", errSecNoSuchAttr,
        password("anna", [kSecAttrServer: "mail.example"])),
      Refusal("an attribute that there is not", errSecNoSuchAttr, password("anna", ["zzzz": "a"])),
      Refusal(
        "a service of a server", errSecNoSuchAttr,
        [kSecClass: kSecClassInternetPassword, kSecAttrService: "mail"]),
      Refusal(
        "skipping", errSecParam,
        password("anna", [kSecUseAuthenticationUI: kSecUseAuthenticationUISkip])),
      Refusal(
        "no authentication UI", errSecParam, password("anna", [kSecUseAuthenticationUI: "x"])),
      Refusal("a damaged reference", errSecParam, [kSecValuePersistentRef: Data([1, 2, 3])]),
      Refusal(
        "two accessibilities", errSecParam,
        password(
          "anna",
          [
            kSecAttrAccessible: kSecAttrAccessibleAlways,
            kSecAttrAccessControl: SecAccessControlCreateWithFlags(
              nil, kSecAttrAccessibleWhenUnlocked, .userPresence, nil) as Any,
          ])),
    ]

    @Test(arguments: refusals)
    func whatMakesNoSenseIsRefusedAndLeavesNothing(_ refusal: Refusal) throws {
      let store = try ProgramStore()
      #expect(add(refusal.item()) == refusal.status)
      #expect(count() == 0)
      #expect(!FileManager.default.fileExists(atPath: store.path), "a refusal makes no store")
    }

    @Test func dataStillUnderAPresentApplicationPasswordIsNotSupported() throws {
      let store = try ProgramStore()
      let control = SecAccessControlCreateWithFlags(
        nil, kSecAttrAccessibleWhenUnlocked, .applicationPassword, nil)
      #expect(
        add(password("anna", [kSecAttrAccessControl: try #require(control)])) == errSecUnimplemented
      )
      withExtendedLifetime(store) {}
    }
  }
}

import Foundation
import Security
import Testing

extension OwnKeychain {
  @Suite struct PrimaryKeyTests {
    private let store = ProgramStore()

    struct Row: Sendable, CustomTestStringConvertible {
      let itemClass: CFString
      /// A whole primary key, and another value for each of its attributes.
      let key: [(name: CFString, value: any Sendable, other: any Sendable)]
      /// Attributes of the class that are not part of it.
      let beside: [(name: CFString, value: any Sendable)]

      var testDescription: String { itemClass }

      var item: [String: Any] {
        var item: [String: Any] = [kSecClass: itemClass, kSecValueData: Data([1])]
        for part in key { item[part.name] = part.value }
        return item
      }
    }

    static let rows = [
      Row(
        itemClass: kSecClassGenericPassword,
        key: [
          (kSecAttrAccount, "anna", "otto"), (kSecAttrService, "mail", "files"),
          (kSecAttrAccessGroup, "team.own", "team.shared"), (kSecAttrSynchronizable, false, true),
        ],
        beside: [
          (kSecAttrLabel, "a label"), (kSecAttrGeneric, Data([7])), (kSecAttrComment, "a comment"),
          (kSecAttrAccessible, kSecAttrAccessibleAfterFirstUnlock), (kSecAttrCreator, 5),
          (kSecAttrDescription, "a kind"), (kSecAttrType, 6), (kSecAttrIsInvisible, true), (kSecAttrIsNegative, true),
        ]),
      Row(
        itemClass: kSecClassInternetPassword,
        key: [
          (kSecAttrAccount, "anna", "otto"), (kSecAttrSecurityDomain, "here", "there"),
          (kSecAttrServer, "mail.example", "www.example"),
          (kSecAttrProtocol, kSecAttrProtocolIMAPS, kSecAttrProtocolHTTPS),
          (kSecAttrAuthenticationType, kSecAttrAuthenticationTypeDefault, kSecAttrAuthenticationTypeHTMLForm),
          (kSecAttrPort, 993, 443), (kSecAttrPath, "/a", "/b"), (kSecAttrAccessGroup, "team.own", "team.shared"),
          (kSecAttrSynchronizable, false, true),
        ],
        beside: [
          (kSecAttrLabel, "a label"), (kSecAttrComment, "a comment"), (kSecAttrAccessible, kSecAttrAccessibleAlways),
        ]),
      Row(
        itemClass: kSecClassCertificate,
        key: [
          (kSecAttrCertificateType, 3, 1), (kSecAttrIssuer, Data([1, 2]), Data([1, 3])),
          (kSecAttrSerialNumber, Data([9]), Data([8])), (kSecAttrAccessGroup, "team.own", "team.shared"),
          (kSecAttrSynchronizable, false, true),
        ],
        beside: [
          (kSecAttrLabel, "a label"), (kSecAttrSubject, Data([4])), (kSecAttrPublicKeyHash, Data([5])),
          (kSecAttrCertificateEncoding, 3),
        ]),
      Row(
        itemClass: kSecClassKey,
        key: [
          (kSecAttrKeyClass, kSecAttrKeyClassPrivate, kSecAttrKeyClassPublic),
          (kSecAttrApplicationLabel, Data([1]), Data([2])), (kSecAttrApplicationTag, Data([3]), Data([4])),
          (kSecAttrCreator, 5, 6), (kSecAttrKeyType, kSecAttrKeyTypeRSA, kSecAttrKeyTypeEC),
          (kSecAttrKeySizeInBits, 2048, 4096), (kSecAttrEffectiveKeySize, 2048, 4096),
          ("sdat", Date(timeIntervalSince1970: 1), Date(timeIntervalSince1970: 2)),
          ("edat", Date(timeIntervalSince1970: 3), Date(timeIntervalSince1970: 4)),
          (kSecAttrAccessGroup, "team.own", "team.shared"), (kSecAttrSynchronizable, false, true),
        ], beside: [(kSecAttrLabel, "a label"), (kSecAttrCanSign, true), (kSecAttrIsPermanent, true)]),
    ]

    @Test(arguments: rows) func thePrimaryKeyAndNothingElseMakesAnItem(_ row: Row) {
      insert(row.item)
      #expect(add(row.item) == errSecDuplicateItem)
      for (name, value) in row.beside {
        let other = [name: value, kSecValueData: Data([2])]
        #expect(add(row.item, other) == errSecDuplicateItem, "\(name) is no part of the key")
      }
      for part in row.key {
        let status = add(row.item, [part.name: part.other])
        #expect(status == errSecSuccess, "\(part.name) is part of the key")
      }
      #expect(count(row.itemClass) == row.key.count + 1)
    }

    @Test func whatIsMissingCountsAsEmptyOrZero() {
      for itemClass in [kSecClassGenericPassword, kSecClassInternetPassword] {
        insert([kSecClass: itemClass])
        #expect(add([kSecClass: itemClass, kSecAttrSynchronizable: false]) == errSecDuplicateItem)
      }
      #expect(add(password("", service: "")) == errSecDuplicateItem)
      #expect(add([kSecClass: kSecClassInternetPassword, kSecAttrPort: 0, kSecAttrPath: ""]) == errSecDuplicateItem)
    }

    /// Numbers that are given as text, as constants are, and text that is given as data.
    @Test func theSameValueInAnotherTypeIsTheSameKey() {
      for (itemClass, name, value, others) in [
        (kSecClassKey, kSecAttrKeyType, kSecAttrKeyTypeRSA, [42]),
        (kSecClassGenericPassword, kSecAttrAccount, "anna", [Data("anna".utf8)]),
        (kSecClassInternetPassword, kSecAttrPort, 443, [NSNumber(value: 443), "443"]),
        // "htps".
        (kSecClassInternetPassword, kSecAttrProtocol, kSecAttrProtocolHTTPS, [0x6874_7073]),
      ] as [(CFString, CFString, Any, [Any])] {
        insert([kSecClass: itemClass, name: value])
        for other in others { #expect(add([kSecClass: itemClass, name: other]) == errSecDuplicateItem, "\(other)") }
      }
    }
  }
}

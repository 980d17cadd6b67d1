// SPDX-License-Identifier: Apache-2.0

import KeychainCore
import TestKit
import Testing

@Suite struct PrimaryKeyTests {
  @Test(arguments: ItemClass.allCases)
  func everyAttributeOfThePrimaryKeyTellsItemsApart(_ itemClass: ItemClass) throws {
    let store = try TemporaryStore()
    var all = ItemAttributes()
    for attribute in itemClass.primaryKey { all[attribute] = Self.value(of: attribute, 1) }
    func item(_ attributes: ItemAttributes) -> NewItem {
      NewItem(
        itemClass, attributes: attributes, secret: Sample.secret("x"), accessible: .always)
    }
    try store.keychain.add(item(all))
    refuses(.duplicateItem) { try store.keychain.add(item(all)) }
    for attribute in itemClass.primaryKey {
      var missing = all
      missing[attribute] = nil
      try store.keychain.add(item(missing))
      if attribute != .synchronizable {
        var other = all
        other[attribute] = Self.value(of: attribute, 2)
        try store.keychain.add(item(other))
        refuses(.duplicateItem) { try store.keychain.add(item(other)) }
      }
    }
    // What is not part of the key makes no difference.
    var labelled = all
    labelled[.label] = .string("a label")
    labelled[.comment] = .string("a comment")
    refuses(.duplicateItem) { try store.keychain.add(item(labelled)) }
    #expect(
      try store.keychain.items(ItemQuery(itemClass, all, synchronizable: .any)).count == 1)
  }

  private static func value(of attribute: ItemAttribute, _ number: Int64) -> AttributeValue {
    switch attribute {
    case .synchronizable: .bool(true)
    case .port, .protocolType, .authenticationType, .keySize: .integer(number)
    case .serialNumber, .issuer, .applicationTag: .data([UInt8(number)])
    case .startDate, .endDate: .date(microseconds: number)
    default: .string("value \(number)")
    }
  }

  @Test func aMissingAttributeCountsAsEmpty() throws {
    let store = try TemporaryStore()
    func item(_ attributes: ItemAttributes) -> NewItem {
      NewItem(
        .internetPassword, attributes: attributes, secret: Sample.secret("x"), accessible: .always)
    }
    try store.keychain.add(item([:]))
    for empty: ItemAttributes in [
      [:], [.account: .string("")], [.port: .integer(0)], [.synchronizable: .bool(false)],
      [.path: .data([])], [.label: .string("not in the key")],
    ] {
      refuses(.duplicateItem) { try store.keychain.add(item(empty)) }
    }
  }

  @Test func neighboursAreNotConfused() throws {
    let store = try TemporaryStore()
    // The same bytes, cut at another place, or in another class.
    try store.keychain.add(Sample.password("ab", service: "c"))
    try store.keychain.add(Sample.password("a", service: "bc"))
    try store.keychain.add(Sample.password("abc", service: ""))
    try store.keychain.add(
      NewItem(
        .internetPassword,
        attributes: [.account: .string("abc"), .accessGroup: .string("own")],
        secret: Sample.secret("x"), accessible: .always))
    let query = ItemQuery(.genericPassword, [.account: .string("ab"), .service: .string("c")])
    #expect(try store.keychain.items(query).count == 1)
  }

  @Test func textsAreComparedByteByByte() throws {
    let store = try TemporaryStore()
    // The same letter to a reader, two spellings in Unicode: two accounts, as with Apple.
    try store.keychain.add(Sample.password("caf\u{E9}"))
    try store.keychain.add(Sample.password("cafe\u{301}"))
    try store.keychain.add(Sample.password("CAF\u{E9}"))
    let query = ItemQuery(
      .genericPassword, [.account: .string("caf\u{E9}"), .service: .string("mail")])
    #expect(try store.keychain.items(query).count == 1)
    #expect(AttributeValue.string("caf\u{E9}") != .string("cafe\u{301}"))
  }

  @Test func aBorderAgentIDBelongsToOneTeam() throws {
    let store = try TemporaryStore()
    let first = try store.keychain.add(Sample.credential("a1b2c3d4e5f60718", team: "team-a"))
    refuses(.duplicateItem) {
      try store.keychain.add(Sample.credential("a1b2c3d4e5f60718", team: "team-b"))
    }
    // In another home, and for what is no Thread credential, it is another item.
    try store.keychain.add(Sample.credential("a1b2c3d4e5f60718", home: "cabin"))
    for group in ["team-a", "team-b"] {
      try store.keychain.add(Sample.password("a1b2c3d4e5f60718", service: "thread", group: group))
    }
    // Found without its team, and not found under another.
    let named: ItemAttributes = [
      .account: .string("a1b2c3d4e5f60718"), .service: .string("thread-network/home"),
    ]
    #expect(try store.keychain.items(ItemQuery(.genericPassword, named)).map(\.id) == [first.id])
    let other = ItemQuery(.genericPassword, named, accessGroups: ["team-b"])
    #expect(try store.keychain.items(other).isEmpty)
  }
}

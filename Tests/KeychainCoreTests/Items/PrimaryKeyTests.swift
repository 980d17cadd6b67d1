// SPDX-License-Identifier: Apache-2.0

import KeychainCore
import TestKit
import Testing

@Suite struct PrimaryKeyTests {
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

  @Test func anotherGroupIsAnotherItem() throws {
    let store = try TemporaryStore()
    let first = try store.keychain.add(Sample.credential("a1b2c3d4e5f60718", team: "team-a"))
    refuses(.duplicateItem) {
      try store.keychain.add(Sample.credential("a1b2c3d4e5f60718", team: "team-a"))
    }
    try store.keychain.add(Sample.credential("a1b2c3d4e5f60718", team: "team-b"))
    try store.keychain.add(Sample.credential("a1b2c3d4e5f60718", home: "cabin"))
    let named: ItemAttributes = [
      .account: .string("a1b2c3d4e5f60718"), .service: .string("thread-network/home"),
    ]
    #expect(try store.keychain.items(ItemQuery(.genericPassword, named)).count == 2)
    let one = ItemQuery(.genericPassword, named, accessGroups: ["team-a"])
    #expect(try store.keychain.items(one).map(\.id) == [first.id])
  }
}

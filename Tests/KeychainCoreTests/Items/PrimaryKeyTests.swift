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

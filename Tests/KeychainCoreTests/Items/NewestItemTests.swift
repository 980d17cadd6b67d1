// SPDX-License-Identifier: Apache-2.0

import SQLiteDatabase
import TestKit
import Testing

@testable import KeychainCore

@Suite("The newest items, and whether there are newer ones")
struct NewestItemTests {
  private let mail = [2, 3, 4, 5, 8, 9, 10, 11, 14, 15, 16, 17]
  private static let query = ItemQuery(.genericPassword, [.service: .string("mail")])

  private func newest(
    _ limit: Int?, _ keychain: Keychain, _ attributes: ItemAttributes
  ) throws -> [String] {
    var query = ItemQuery(.genericPassword, attributes, limit: limit, unreadable: .skip)
    query.isNewestFirst = true
    return try keychain.items(query).compactMap { $0[.account]?.string }
  }

  @Test("Newest first is the other way round in every way of searching, and under two index keys")
  func order() throws {
    let rotated = try RotatedStore()
    let expected = mail.reversed().map(RotatedStore.name)
    func check() throws {
      let keychain = rotated.keychain
      for limit in [nil, 100, 4, 1, 0] {
        let some = Array(expected.prefix(limit ?? .max))
        #expect(try newest(limit, keychain, [.service: .string("mail")]) == some)
      }
      // Without an index.
      let group = try newest(4, keychain, [.accessGroup: .string("own")])
      #expect(group == [17, 16, 15, 14].map(RotatedStore.name))
      let account = try newest(1, keychain, [.account: .string(RotatedStore.name(4))])
      #expect(account == [RotatedStore.name(4)])
    }
    try check()
    try rotated.keychain.database.read { tx in
      // It holds the old index key.
      _ = try rotated.keychain.count(in: tx)
      try rotated.rotate()
    }
    #expect(rotated.keychain.keys.index.count == 2)
    try check()
    try rotated.keychain.tick()
    try check()
  }

  @Test("With a limit no older item is opened")
  func limited() throws {
    let rotated = try RotatedStore()
    try rotated.keychain.database.write {
      try $0.execute("UPDATE items SET metadata = zeroblob(length(metadata)) WHERE id <= 16")
    }
    #expect(
      try newest(2, rotated.keychain, [.service: .string("mail")])
        == [17, 16].map(RotatedStore.name))
    #expect(rotated.keychain.quarantine.isEmpty)
    #expect(try newest(3, rotated.keychain, [.service: .string("mail")]).count == 2)
    #expect(!rotated.keychain.quarantine.isEmpty)
  }

  @Test("The mark is another one after each addition, the same otherwise, and opens nothing")
  func mark() throws {
    let rotated = try RotatedStore()
    let keychain = rotated.keychain
    func mark() throws -> String? {
      try keychain.database.read { try keychain.newestMark(matching: Self.query, in: $0) }
    }
    var seen = [try mark()]
    try keychain.add(RotatedStore.item(18))
    #expect(try mark() == seen.last, "of another service")
    for number in [21, 22] {
      let before = try #require(try mark())
      try keychain.database.write { tx in
        // The last row goes and its number is used again.
        if number == 22 {
          let last = try #require(try keychain.items(matching: Self.query, in: tx).last)
          try keychain.delete(last, in: tx)
        }
        try keychain.add(RotatedStore.item(number), in: tx)
      }
      #expect(try mark() != before)
      seen.append(try mark())
    }
    #expect(Set(seen).count == 3)
    try rotated.rotate()
    #expect(try mark() == seen.last)
    try keychain.add(RotatedStore.item(27 + 6 * seen.count))
    seen.append(try mark())
    #expect(Set(seen).count == seen.count && !seen.contains(nil))
    #expect(
      try keychain.database.read {
        try keychain.newestMark(
          matching: ItemQuery(.genericPassword, [.service: .string("nothing")]), in: $0)
      } == "none")
    #expect(
      try keychain.database.read { try keychain.newestMark(matching: ItemQuery(), in: $0) } == nil)
    try keychain.database.write {
      try $0.execute("UPDATE items SET metadata = zeroblob(length(metadata))")
    }
    #expect(try mark() == seen.last)
    #expect(keychain.quarantine.isEmpty)
  }
}

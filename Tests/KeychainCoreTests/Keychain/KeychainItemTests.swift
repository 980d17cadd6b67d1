// SPDX-License-Identifier: Apache-2.0

import KeychainCore
import SQLiteDatabase
import SodiumCrypto
import TestKit
import Testing

@Suite struct KeychainItemTests {
  @Test func anItemIsFoundAgainAfterReopening() throws {
    let store = try TemporaryStore()
    try store.keychain.add(Sample.password("anna"))
    try store.reopen()
    #expect(store.keychain.condition == .healthy && store.keychain.notices.isEmpty)
    let query = ItemQuery(
      .genericPassword, [.account: .string("anna"), .service: .string("mail")])
    let items = try store.keychain.items(query)
    let item = try #require(items.first)
    #expect(items.count == 1 && item.accessGroup == "own")
    #expect(item.accessible == .afterFirstUnlock)
    #expect(try store.keychain.secret(of: item) == Sample.secret("secret"))
  }

  @Test func everyPartOfAnItemHasANonceOfItsOwn() throws {
    let store = try TemporaryStore()
    for number in 0..<20 { try store.keychain.add(Sample.password("user-\(number)")) }
    let drawn = try store.keychain.database.read { tx in
      try tx.all("SELECT uuid, wrapped_key, metadata, secret FROM items") { row in
        // Names are shorter: a nonce that begins with one would be found by it.
        [row.blob(0)] + (1...3).map { Array(row.blob($0)[5..<29]) }
      }
    }
    let starts = drawn.joined().map { Array($0.prefix(16)) }
    #expect(starts.count == 80 && Set(starts).count == 80)
  }

  @Test func everyKindOfValueComesBackAsItWent() throws {
    let store = try TemporaryStore()
    let attributes: ItemAttributes = [
      .account: .string("Zoë 🔑"), .service: .string(""), .generic: .data([0, 255, 0]),
      .comment: .string(String(repeating: "long ", count: 100)), .creator: .integer(-129),
      .type: .integer(.max), .port: .integer(0), .isInvisible: .bool(true),
      .isNegative: .bool(false), .startDate: .date(microseconds: -1),
      .endDate: .date(microseconds: .min), .label: .data([]),
      ItemAttribute(rawValue: 255): .string("of a later version"),
    ]
    let added = try store.keychain.add(
      NewItem(
        .genericPassword, attributes: attributes, secret: Sample.secret(""), accessible: .always))
    try store.reopen()
    let found = try #require(try store.keychain.items(ItemQuery()).first)
    for (attribute, value) in attributes { #expect(found[attribute] == value) }
    #expect(found.attributes == added.attributes)
    #expect(found.attributes.count == attributes.count + 2)
    #expect(try store.keychain.secret(of: found).count == 0)
  }

  @Test(arguments: [0, 1, 63, 64, 65, 4096, 100_000, 1 << 20])
  func aSecretOfAnyLengthComesBack(_ count: Int) throws {
    let store = try TemporaryStore()
    let secret = SecretBytes(random: count)
    let item = try store.keychain.add(
      NewItem(.genericPassword, attributes: [:], secret: secret, accessible: .afterFirstUnlock))
    #expect(try store.keychain.secret(of: item) == secret)
  }

  @Test func whatIsTooLargeIsRefused() throws {
    let store = try TemporaryStore()
    let large = NewItem(
      .genericPassword, attributes: [:], secret: SecretBytes(random: NewItem.secretLimit + 1))
    refuses(.dataTooLarge) { try store.keychain.add(large) }
    let wide = NewItem(
      .genericPassword,
      attributes: [.comment: .string(String(repeating: "x", count: NewItem.attributesLimit))],
      secret: Sample.secret(""))
    refuses(.dataTooLarge) { try store.keychain.add(wide) }
    #expect(try store.keychain.items(ItemQuery()).isEmpty)
    #expect(try store.keychain.verify().matchesManifest)
  }

  @Test func theDatesAreStamped() throws {
    let clock = ManualClock(microseconds: 1_000_000)
    var options = KeychainOptions()
    options.now = { clock.microseconds }
    let store = try TemporaryStore(options: options)
    let item = try store.keychain.add(Sample.password("anna"))
    #expect(item.created == 1_000_000 && item.modified == 1_000_000)
    clock.advance(microseconds: 1_000_000)
    let changed = try store.keychain.update(item, secret: Sample.secret("new"))
    #expect(changed.created == 1_000_000 && changed.modified == 2_000_000)
    #expect(changed.version == item.version + 1)
  }

  @Test func anItemThatIsGoneIsNotFound() throws {
    let store = try TemporaryStore()
    let item = try store.keychain.add(Sample.password("anna"))
    try store.keychain.delete(item)
    #expect(try store.keychain.items(ItemQuery()).isEmpty)
    refuses(.itemNotFound) { _ = try store.keychain.secret(of: item) }
    refuses(.itemNotFound) { try store.keychain.delete(item) }
    refuses(.itemNotFound) { try store.keychain.update(item, attributes: [:]) }
    // Another item in the same row is not the same item.
    try store.keychain.add(Sample.password("bert"))
    refuses(.itemNotFound) { _ = try store.keychain.secret(of: item) }
  }

  @Test func whatATransactionThrowsAwayIsAsIfItNeverWas() throws {
    struct Refusal: Error {}
    let store = try TemporaryStore()
    let keychain = store.keychain
    let kept = try keychain.add(Sample.password("kept"))
    #expect(throws: Refusal.self) {
      try keychain.database.write { tx in
        // The first item of its class: its class key is thrown away too.
        try keychain.add(Sample.password("lost", accessible: .always), in: tx)
        try keychain.delete(kept, in: tx)
        throw Refusal()
      }
    }
    #expect(try keychain.items(ItemQuery()).map(\.id) == [kept.id])
    let again = try keychain.add(Sample.password("again", accessible: .always))
    try store.reopen()
    #expect(store.keychain.condition == .healthy)
    #expect(try store.keychain.secret(of: again) == Sample.secret("secret"))
  }

  @Test func aSavepointUndoesItemsToo() throws {
    struct Refusal: Error {}
    let store = try TemporaryStore()
    let keychain = store.keychain
    try keychain.database.write { tx in
      try keychain.add(Sample.password("kept"), in: tx)
      do {
        try tx.savepoint {
          try keychain.add(Sample.password("lost", accessible: .always), in: tx)
          throw Refusal()
        }
      } catch is Refusal {}
      try keychain.add(Sample.password("also kept", accessible: .always), in: tx)
    }
    try store.reopen()
    #expect(store.keychain.condition == .healthy)
    let items = try store.keychain.items(ItemQuery())
    #expect(items.map { $0[.account] } == [.string("kept"), .string("also kept")])
    for item in items { #expect(try store.keychain.secret(of: item) == Sample.secret("secret")) }
  }

  @Test func theTableOfAnotherComponentCommitsTogether() throws {
    let store = try TemporaryStore()
    let keychain = store.keychain
    try keychain.database.write { try $0.execute("CREATE TABLE routers (id TEXT)") }
    #expect(throws: KeychainError.self) {
      try keychain.database.write { tx in
        try tx.execute("INSERT INTO routers VALUES ('a')")
        try keychain.add(Sample.password("anna"), in: tx)
        try keychain.add(Sample.password("anna"), in: tx)
      }
    }
    let count = try keychain.database.read {
      try $0.first("SELECT count(*) FROM routers") { $0.integer(0) }
    }
    #expect(count == 0)
    #expect(try keychain.items(ItemQuery()).isEmpty)
  }
}

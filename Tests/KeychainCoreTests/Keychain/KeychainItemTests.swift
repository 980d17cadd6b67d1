import KeychainCore
import SodiumCrypto
import TestKit
import Testing

@Suite struct KeychainItemTests {
  @Test func everyPartOfAnItemHasANonceOfItsOwn() throws {
    let store = try TemporaryStore()
    for number in 0..<20 { try store.add("user-\(number)") }
    let drawn = try store.keychain.database.read { tx in
      try tx.all("SELECT uuid, metadata, secret FROM items") { row in
        // Names are shorter: a nonce that begins with one would be found by it.
        [row.blob(0)] + (1...2).map { Array(row.blob($0)[5..<29]) }
      }
    }
    let starts = drawn.joined().map { Array($0.prefix(16)) }
    #expect(starts.count == 60 && Set(starts).count == 60)
  }

  @Test func everyKindOfValueComesBackAsItWent() throws {
    let store = try TemporaryStore()
    let attributes: ItemAttributes = [
      .account: .string("Zoë 🔑"), .service: .string(""), .generic: .data([0, 255, 0]),
      .comment: .string(String(repeating: "long ", count: 100)), .creator: .integer(-129), .type: .integer(.max),
      .port: .integer(0), .isInvisible: .bool(true), .isNegative: .bool(false), .startDate: .date(microseconds: -1),
      .endDate: .date(microseconds: .min), .label: .data([]),
      ItemAttribute(rawValue: 255): .string("of a later version"),
    ]
    let added = try store.add(
      NewItem(.genericPassword, attributes: attributes, secret: Sample.secret(""), accessible: .always))
    try store.reopen()
    let found = try #require(try store.keychain.items(ItemQuery()).first)
    for (attribute, value) in attributes { #expect(found[attribute] == value) }
    #expect(found.attributes == added.attributes)
    #expect(found.attributes.count == attributes.count + 2)
    #expect(try store.keychain.secret(of: found).count == 0)
  }

  @Test func aSecretOfAnyLengthComesBack() throws {
    let store = try TemporaryStore()
    for count in [0, 1, 63, 64, 65, 4096, 100_000, 1 << 20] {
      let secret = SecretBytes(random: count)
      let item = try store.add(
        NewItem(
          .genericPassword, attributes: [.account: .string("\(count)")], secret: secret, accessible: .afterFirstUnlock))
      #expect(try store.keychain.secret(of: item) == secret)
    }
  }

  @Test func whatIsTooLargeIsRefused() throws {
    let store = try TemporaryStore()
    let large = NewItem(.genericPassword, attributes: [:], secret: SecretBytes(random: NewItem.secretLimit + 1))
    refuses(.dataTooLarge) { try store.add(large) }
    let wide = NewItem(
      .genericPassword, attributes: [.comment: .string(String(repeating: "x", count: NewItem.attributesLimit))],
      secret: Sample.secret(""))
    refuses(.dataTooLarge) { try store.add(wide) }
    #expect(try store.keychain.items(ItemQuery()).isEmpty)
    #expect(try store.keychain.verify().matchesManifest)
  }

  @Test func theDatesAreStamped() throws {
    let clock = ManualClock(microseconds: 1_000_000)
    let store = try TemporaryStore { $0.now = { clock.microseconds } }
    let item = try store.add("anna")
    #expect(item.created == 1_000_000 && item.modified == 1_000_000)
    clock.advance(microseconds: 1_000_000)
    let changed = try store.keychain.update(item, secret: Sample.secret("new"))
    #expect(changed.created == 1_000_000 && changed.modified == 2_000_000)
    #expect(changed.version == item.version + 1)
  }

  @Test func anItemThatIsGoneIsNotFound() throws {
    let store = try TemporaryStore()
    let item = try store.add("anna")
    try store.keychain.delete(item)
    #expect(try store.keychain.items(ItemQuery()).isEmpty)
    refuses(.itemNotFound) { try store.keychain.secret(of: item) }
    refuses(.itemNotFound) { try store.keychain.delete(item) }
    refuses(.itemNotFound) { try store.keychain.update(item, attributes: [:]) }
    // Another item in the same row is not the same item.
    try store.add("bert")
    refuses(.itemNotFound) { try store.keychain.secret(of: item) }
  }

  @Test func whatATransactionThrowsAwayIsAsIfItNeverWas() throws {
    struct Refusal: Error {}
    let store = try TemporaryStore()
    let keychain = store.keychain
    let kept = try keychain.add("kept")
    #expect(throws: Refusal.self) {
      try keychain.database.write { tx in
        // The first item of its class: its class key is thrown away too.
        try keychain.add("lost", accessible: .always, in: tx)
        try keychain.delete(kept, in: tx)
        throw Refusal()
      }
    }
    #expect(try keychain.items(ItemQuery()).map(\.id) == [kept.id])
    let again = try keychain.add("again", accessible: .always)
    try store.reopen()
    #expect(store.keychain.condition == .healthy)
    #expect(try store.text(of: again) == "secret")
  }

  @Test func aSavepointUndoesItemsToo() throws {
    struct Refusal: Error {}
    let store = try TemporaryStore()
    let keychain = store.keychain
    try keychain.database.write { tx in
      try keychain.add("kept", in: tx)
      do {
        try tx.savepoint {
          try keychain.add("lost", accessible: .always, in: tx)
          throw Refusal()
        }
      } catch is Refusal {}
      try keychain.add("also kept", accessible: .always, in: tx)
    }
    try store.reopen()
    #expect(store.keychain.condition == .healthy)
    let items = try store.keychain.items(ItemQuery())
    #expect(items.map { $0[.account] } == [.string("kept"), .string("also kept")])
    for item in items { #expect(try store.text(of: item) == "secret") }
  }

  @Test func theTableOfAnotherComponentCommitsTogether() throws {
    let store = try TemporaryStore()
    let keychain = store.keychain
    try keychain.database.write { try $0.execute("CREATE TABLE routers (id TEXT)") }
    #expect(throws: KeychainError.self) {
      try keychain.database.write { tx in
        try tx.execute("INSERT INTO routers VALUES ('a')")
        try keychain.add("anna", in: tx)
        try keychain.add("anna", in: tx)
      }
    }
    let count = try keychain.database.read { try $0.first("SELECT count(*) FROM routers") { $0.integer(0) } }
    #expect(count == 0)
    #expect(try keychain.items(ItemQuery()).isEmpty)
  }

  @Test func onlyWhatIsGivenChanges() throws {
    let store = try TemporaryStore()
    let keychain = store.keychain
    let item = try keychain.add("anna")
    let labelled = try keychain.update(item, attributes: [.label: .string("Anna's")])
    #expect(labelled[.label] == .string("Anna's") && labelled[.account] == .string("anna"))
    #expect(try keychain.text(of: labelled) == "secret")
    let renewed = try keychain.update(labelled, secret: Sample.secret("new"))
    #expect(renewed[.label] == .string("Anna's"))
    let bare = try keychain.update(renewed, removing: [.label])
    #expect(bare[.label] == nil)
    try store.reopen()
    let found = try #require(try store.keychain.items(ItemQuery()).first)
    #expect(found.attributes == bare.attributes && found.version == 4)
    #expect(try store.text(of: found) == "new")
    #expect(store.keychain.condition == .healthy)
  }

  @Test func anItemThatWasReadEarlierStillGivesItsSecret() throws {
    let store = try TemporaryStore()
    let keychain = store.keychain
    let old = try keychain.add("anna")
    try keychain.update(old, secret: Sample.secret("second"))
    #expect(try keychain.text(of: old) == "second")
    try keychain.update(old, attributes: [.label: .string("x")])
    #expect(try keychain.text(of: old) == "second")
  }

  @Test func neighboursAreNotConfused() throws {
    let store = try TemporaryStore()
    // The same bytes, cut at another place, or in another class; the same character in other bytes.
    for (account, service) in [("ab", "c"), ("a", "bc"), ("abc", ""), ("e\u{301}", "c"), ("\u{E9}", "c")] {
      try store.add(account, service: service)
    }
    try store.add(
      NewItem(
        .internetPassword, attributes: [.account: .string("abc"), .accessGroup: .string("own")],
        secret: Sample.secret("x"), accessible: .always))
    #expect(try store.keychain.items(Sample.query("ab", service: "c")).count == 1)
  }

  @Test func anotherGroupIsAnotherItem() throws {
    let store = try TemporaryStore()
    let first = try store.add(Sample.credential("a1b2c3d4e5f60718", team: "team-a"))
    refuses(.duplicateItem) { try store.add(Sample.credential("a1b2c3d4e5f60718", team: "team-a")) }
    try store.add(Sample.credential("a1b2c3d4e5f60718", team: "team-b"))
    try store.add(Sample.credential("a1b2c3d4e5f60718", home: "cabin"))
    let named: ItemAttributes = [.account: .string("a1b2c3d4e5f60718"), .service: .string("thread-network/home")]
    #expect(try store.keychain.items(ItemQuery(.genericPassword, named)).count == 2)
    let one = ItemQuery(.genericPassword, named, accessGroups: ["team-a"])
    #expect(try store.keychain.items(one).map(\.id) == [first.id])
  }
}

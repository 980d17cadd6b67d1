import KeychainCore
import SodiumCrypto
import TestKit
import Testing

/// A store with a few items of every form and a few records, and a check that it never tells anything wrong about
/// them: the right answer, or a refusal.
struct TamperedStore {
  let store: TemporaryStore
  /// What the store held, with the secrets.
  private let expected: [(item: Item, secret: SecretBytes)]
  /// All that there is, with what fills the pages.
  private let ids: Set<ItemID>
  private let slots: [KeySlot]
  private let records = [
    (id: RecordID(1), home: Int64(1), state: Array("router 1".utf8), secret: "dataset 1"),
    (id: RecordID(2), home: 2, state: Array("router 2".utf8), secret: "dataset 2"),
    (id: RecordID(3), home: 2, state: Array("an alert".utf8), secret: nil as String?),
  ]
  let raw: RawStore

  /// - Parameter filling: further items, so that the trees of the file have several levels.
  init(filling: Int = 0) throws {
    store = try TemporaryStore()
    let keychain = store.keychain
    try keychain.addKeySlot(.keyFile(path: store.path + "/spare.key"), label: "spare")
    for item in [
      Sample.password("anna"), Sample.credential("a1b2c3d4e5f60718"),
      Sample.internetPassword("berta", server: "example.org"),
      Sample.password("clara", secret: "another", accessible: .whenUnlocked),
    ] { try keychain.add(item) }
    expected = try keychain.items(ItemQuery()).map { ($0, try keychain.secret(of: $0)) }
    try keychain.database.write { tx in for number in 0..<filling { _ = try keychain.add("filling \(number)", in: tx) }
    }
    ids = Set(try keychain.items(ItemQuery()).map(\.id))
    slots = try keychain.slots()
    for record in records {
      var changes = RecordChanges()
      changes.records = [
        .init(
          id: record.id, home: record.home, state: record.state,
          secret: record.secret.map { .new(Sample.secret($0)) } ?? .none)
      ]
      try SealedRecords(keychain).commit(changes)
    }
    keychain.close()
    raw = try store.raw()
  }

  /// Opens the store beside the raw connection and asks for everything in every way. Returns the
  /// condition, or nil when the store was refused as a whole.
  @discardableResult func examine(_ comment: String) throws -> StoreCondition? {
    let keychain: Keychain
    do { keychain = try store.openBeside() } catch is KeychainError { return nil }
    defer { keychain.close() }
    for (item, secret) in expected {
      for query in Self.queries(for: item) {
        check(comment) {
          let found = try keychain.items(query)
          try #require(found.map(\.id) == [item.id], "found \(found.count)")
          try #require(found[0].attributes == item.attributes)
          try #require(found[0].accessible == item.accessible)
          try #require(found[0].itemClass == item.itemClass)
        }
        check(comment) {
          let found = try #require(try keychain.first(query))
          try #require(found.item.id == item.id && found.item.attributes == item.attributes)
          try #require(found.secret == secret)
        }
      }
      check(comment) { try #require(try keychain.secret(of: item) == secret) }
    }
    check(comment) {
      let all = try keychain.items(ItemQuery(synchronizable: .any))
      try #require(Set(all.map(\.id)) == ids)
    }
    check(comment) {
      let passwords = try keychain.items(ItemQuery(.genericPassword))
      try #require(passwords.count == ids.count - 1)
    }
    check(comment) { try #require(try keychain.slots() == slots) }
    check(comment) { try examineRecords(keychain) }
    return keychain.condition
  }

  private func examineRecords(_ keychain: Keychain) throws {
    let store = SealedRecords(keychain)
    var found: Set<RecordID> = []
    let damaged = try store.load { record in
      let expected = try #require(records.first { $0.id == record.id })
      try #require(record.home == expected.home && record.state == expected.state)
      try #require(record.hasSecret == (expected.secret != nil))
      found.insert(record.id)
    }
    found.formUnion(damaged.map(\.id))
    // Who takes a row out is found by the manifest.
    if keychain.condition == .healthy { try #require(found == Set(records.map(\.id))) }
    for record in records {
      do {
        let secret = try store.withSecret(of: record.id) { String(decoding: $0, as: UTF8.self) }
        try #require(secret == record.secret)
      } catch let error as KeychainError where error.status == .decode {}
    }
  }

  /// By the whole primary key, by an indexed attribute, by one that is in no index, by reference.
  private static func queries(for item: Item) -> [ItemQuery] {
    let key = item.attributes.filter { item.itemClass.primaryKey.contains($0.key) }
    var whole = key
    for attribute in item.itemClass.primaryKey where whole[attribute] == nil {
      if attribute != .synchronizable { whole[attribute] = .string("") }
    }
    let account = item.attributes.filter { $0.key == .account }
    return [
      ItemQuery(item.itemClass, whole), ItemQuery(item.itemClass, account), ItemQuery(nil, account),
      ItemQuery(reference: item.reference),
    ]
  }

  /// An answer must be right; the only refusal is -26275.
  private func check(_ comment: String, _ body: () throws -> Void) {
    do { try body() } catch let error as KeychainError where error.status == .decode {} catch {
      Issue.record("\(comment): \(error)")
    }
  }
}

import KeychainCore
import SQLiteDatabase
import SodiumCrypto
import TestKit
import Testing

/// Random operations, each done to the keychain and to a dictionary that cannot be wrong: 2,000 with SOAK_ROUNDS=all in
/// the environment.
@Suite final class ModelTests {
  private struct Entry: Equatable {
    var attributes: ItemAttributes { didSet { key = currentKey } }
    var accessible: Accessibility
    var secret: [UInt8]
    let itemClass: ItemClass
    /// What no two entries may share.
    private(set) var key = ""

    init(_ itemClass: ItemClass, _ attributes: ItemAttributes, _ accessible: Accessibility, secret: [UInt8]) {
      (self.itemClass, self.attributes, self.accessible) = (itemClass, attributes, accessible)
      self.secret = secret
      key = currentKey
    }

    private var currentKey: String {
      itemClass.primaryKey.map { "\(attributes[$0]?.string ?? "")|\(attributes[$0]?.bool ?? false)" }.joined(
        separator: "|") + itemClass.code
    }
  }

  private static let accounts = ["", "anna", "berta", "clara"]
  private static let services = ["", "mail", "thread-network/home", "thread-network/cabin"]
  private static let groups = ["own", "team-a", "team-b"]

  private var random: SeededGenerator
  private let seed: UInt64
  private let store: TemporaryStore
  private var model: [ItemID: Entry] = [:]

  init() throws {
    seed = UInt64.random(in: .min ... .max)
    random = SeededGenerator(seed: seed)
    store = try TemporaryStore()
  }

  @Test func randomOperationsAgreeWithADictionary() throws {
    print("model test: seed \(seed)")
    var done = 0
    while done < (Soak.triesAll ? 2_000 : 500) {
      // Several operations in one transaction; one in eight is thrown away.
      let before = model
      let isKept = Int.random(in: 0..<8, using: &random) > 0
      let count = Int.random(in: 1...40, using: &random)
      struct ThrownAway: Error {}
      do {
        try store.keychain.database.write { tx in
          for _ in 0..<count { try step(in: tx) }
          if !isKept { throw ThrownAway() }
        }
      } catch is ThrownAway { model = before }
      done += count
      if Int.random(in: 0..<10, using: &random) == 0 { try store.reopen() }
      try compare()
    }
    try store.reopen()
    try compare()
    #expect(try store.keychain.verify(.everything) == VerificationReport(items: model.count), "seed \(seed)")
  }

  private func step(in tx: WriteTransaction) throws {
    switch Int.random(in: 0..<10, using: &random) {
    case 0..<5: try add(in: tx)
    case 5..<8: try update(in: tx)
    case 8: try delete(in: tx)
    default: try search(in: tx)
    }
  }

  private func add(in tx: WriteTransaction) throws {
    let entry = randomEntry()
    let isTaken = model.values.contains { $0.key == entry.key }
    let new = NewItem(
      entry.itemClass, attributes: entry.attributes, secret: SecretBytes(copying: entry.secret),
      accessible: entry.accessible)
    let added = try unlessDuplicate { try store.keychain.add(new, in: tx) }
    #expect((added == nil) == isTaken, "seed \(seed)")
    if let added { model[added.id] = entry }
  }

  /// Nil when there is such an item already.
  private func unlessDuplicate(_ body: () throws -> Item) throws -> Item? {
    do { return try body() } catch let error as KeychainError {
      guard error.status == .duplicateItem else { throw error }
      return nil
    }
  }

  private func update(in tx: WriteTransaction) throws {
    guard let (id, old) = pick() else { return }
    let change = randomEntry()
    var new = old
    new.attributes = old.attributes.merging(change.attributes) { $1 }
    if Bool.random(using: &random) { new.secret = change.secret }
    if Bool.random(using: &random) { new.accessible = change.accessible }
    let isTaken = model.contains { $0.key != id && $0.value.key == new.key }
    let item = try #require(try items(ItemQuery(synchronizable: .any), in: tx).first { $0.id == id })
    let updated = try unlessDuplicate {
      try store.keychain.update(
        item, attributes: change.attributes, secret: new.secret == old.secret ? nil : SecretBytes(copying: new.secret),
        accessible: new.accessible == old.accessible ? nil : new.accessible, in: tx)
    }
    #expect((updated == nil) == isTaken, "seed \(seed)")
    if updated != nil { model[id] = new }
  }

  private func delete(in tx: WriteTransaction) throws {
    guard let (id, _) = pick() else { return }
    let item = try #require(try items(ItemQuery(synchronizable: .any), in: tx).first { $0.id == id })
    try store.keychain.delete(item, in: tx)
    model[id] = nil
  }

  private func search(in tx: ReadTransaction) throws {
    var wanted: ItemAttributes = [:]
    for (attribute, values) in [
      (ItemAttribute.account, Self.accounts), (.service, Self.services), (.accessGroup, Self.groups),
    ] where Int.random(in: 0..<3, using: &random) > 0 {
      wanted[attribute] = .string(values.randomElement(using: &random) ?? "")
    }
    let query = ItemQuery(
      [nil, .genericPassword, .internetPassword].randomElement(using: &random) ?? nil, wanted,
      synchronizable: [.no, .yes, .any].randomElement(using: &random) ?? .no)
    let expected = model.filter { _, entry in
      let isSynchronizable = entry.attributes[.synchronizable]?.bool ?? false
      return (query.itemClass == nil || query.itemClass == entry.itemClass)
        && (query.synchronizable == .any || isSynchronizable == (query.synchronizable == .yes))
        && wanted.allSatisfy { ($1.string ?? "") == (entry.attributes[$0]?.string ?? "") }
    }
    let found = try items(query, in: tx)
    #expect(Set(found.map(\.id)) == Set(expected.keys), "seed \(seed)")
    let first = try store.keychain.first(matching: query, in: tx)
    #expect(first?.item.id == found.first?.id, "seed \(seed)")
    #expect(
      first?.secret == found.first.flatMap { model[$0.id] }.map { SecretBytes(copying: $0.secret) }, "seed \(seed)")
  }

  private func pick() -> (ItemID, Entry)? {
    // In an order that comes again with the seed: that of the contents.
    let sorted = model.sorted { $0.value.key < $1.value.key }
    return sorted.randomElement(using: &random).map { ($0.key, $0.value) }
  }

  private func randomEntry() -> Entry {
    var attributes: ItemAttributes = [:]
    attributes[.account] = Self.accounts.randomElement(using: &random).map { .string($0) }
    if Bool.random(using: &random) {
      attributes[.service] = Self.services.randomElement(using: &random).map { .string($0) }
    }
    attributes[.accessGroup] = Self.groups.randomElement(using: &random).map { .string($0) }
    if Int.random(in: 0..<4, using: &random) == 0 { attributes[.synchronizable] = .bool(true) }
    let count = Int.random(in: 0..<200, using: &random)
    return Entry(
      Int.random(in: 0..<4, using: &random) == 0 ? .internetPassword : .genericPassword, attributes,
      [.whenUnlocked, .afterFirstUnlock, .always].randomElement(using: &random) ?? .always,
      secret: (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &random) })
  }

  private func items(_ query: ItemQuery, in tx: ReadTransaction) throws -> [Item] {
    try store.keychain.items(matching: query, in: tx)
  }

  private func compare() throws {
    let keychain = store.keychain
    #expect(keychain.condition == .healthy, "seed \(seed)")
    let found = try keychain.items(ItemQuery(synchronizable: .any))
    #expect(Set(found.map(\.id)) == Set(model.keys), "seed \(seed)")
    for item in found {
      guard let entry = model[item.id] else { continue }
      let attributes = item.attributes.filter { $0.key != .creationDate && $0.key != .modificationDate }
      #expect(attributes == entry.attributes && item.accessible == entry.accessible, "seed \(seed)")
      #expect(try keychain.secret(of: item) == SecretBytes(copying: entry.secret), "seed \(seed)")
    }
  }
}

import Foundation
import SQLiteDatabase
import SodiumCrypto
import TestKit
import Testing

@testable import KeychainCore

/// A store with items of every form, for tests of the rotation.
struct RotatedStore {
  let store: TemporaryStore
  var keychain: Keychain { store.keychain }

  init(items: Int = 18, _ change: (inout KeychainOptions) -> Void = { _ in }) throws {
    store = try TemporaryStore(change)
    try store.keychain.database.write { tx in
      for number in 0..<items { _ = try store.keychain.add(Self.item(number), in: tx) }
    }
  }

  @discardableResult func rotate() throws -> RotationReport { try keychain.rotateKeys([store.keyFile]) }

  static func name(_ number: Int) -> String { "user \(number)" }

  static func item(_ number: Int, secret: String? = nil) -> NewItem {
    let secret = secret ?? "secret \(number)"
    switch number % 6 {
    case 0: return Sample.credential("router \(number)", secret: secret)
    case 1:
      return NewItem(
        .internetPassword,
        attributes: [.account: .string(name(number)), .server: .string("example.org"), .accessGroup: .string("own")],
        secret: Sample.secret(secret), accessible: .always)
    case 2: return Sample.password(name(number), secret: secret, accessible: .whenUnlocked)
    default: return Sample.password(name(number), service: "mail", secret: secret)
    }
  }

  /// Every secret, with the account that it belongs to.
  static func contents(_ keychain: Keychain, in tx: ReadTransaction) throws -> [String: String] {
    var found: [String: String] = [:]
    for item in try keychain.items(matching: ItemQuery(), in: tx) {
      let account = item[.account]?.string ?? ""
      try #require(found[account] == nil, "\(account) is there twice")
      found[account] = try keychain.secret(of: item, in: tx).text
    }
    return found
  }

  func contents() throws -> [String: String] { try keychain.database.read { try Self.contents(keychain, in: $0) } }

  static func expected(_ numbers: some Sequence<Int>) -> [String: String] {
    Dictionary(
      uniqueKeysWithValues: numbers.map { number in
        (number % 6 == 0 ? "router \(number)" : name(number), "secret \(number)")
      })
  }

  /// Finds an item by its whole primary key and by a side index.
  static func expectFound(_ number: Int, _ keychain: Keychain, in tx: ReadTransaction) throws {
    let attributes = item(number).attributes
    let itemClass = item(number).itemClass
    var queries = [ItemQuery(itemClass, attributes)]
    if number % 6 != 0 { queries.append(ItemQuery(itemClass, [.account: .string(name(number))])) }
    for query in queries {
      let found = try keychain.items(matching: query, in: tx)
      #expect(found.count == 1, "item \(number)")
      guard let first = found.first else { continue }
      #expect(try keychain.secret(of: first, in: tx) == Sample.secret("secret \(number)"))
    }
  }

  /// The ids of the key records, as `purpose.epoch`.
  func keyRecords() throws -> [String] {
    try keychain.database.read { tx in
      try tx.all("SELECT id FROM keys ORDER BY id") {
        let id = KeyID(rawValue: UInt32(truncatingIfNeeded: $0.integer(0)))
        return "\(id.purpose.rawValue).\(id.epoch)"
      }
    }
  }

  /// The epochs of the newest keys, roots aside: all are one.
  func newestEpochs() throws -> Set<UInt32> {
    try keychain.database.read { tx in
      Set(
        try ([.metadata, .blindIndex, .manifest, .audit, .records] + Accessibility.allCases.map(\.keyPurpose))
          .compactMap { try KeyTable.newest($0, in: tx)?.epoch })
    }
  }

  /// The epoch of the session key that lies beside the others.
  func session() throws -> UInt32? { try keychain.database.read { try KeyTable.newest(.session, in: $0)?.epoch } }
}

/// All keys that somebody had who opened the store at one time: the roots, and what they opened then.
struct LeakedKeys {
  private let keys: [KeyID: GuardedKey]
  private let arena = KeyArena()

  init(_ keychain: Keychain) { keys = keychain.keys.loaded.withLock { $0.keys } }

  private func keys(_ purpose: KeyPurpose) -> [(id: KeyID, key: GuardedKey)] {
    keys.filter { $0.key.purpose == purpose }.map { ($0.key, $0.value) }
  }

  /// What of the store, as it is now, opens with any of them. Of the audit, what comes after `record`.
  func opens(_ keychain: Keychain, after record: Int64 = 0) throws -> [String] {
    try keychain.database.read { tx in
      try keyRecords(keychain, in: tx) + items(keychain, in: tx) + records(keychain, in: tx)
        + head(keychain, after: record, in: tx)
    }
  }

  private func keyRecords(_ keychain: Keychain, in tx: ReadTransaction) throws -> [String] {
    let device = keys(.device).first?.key
    return try KeyTable.records(in: tx).filter { id, wrapped in
      (keys(.master) + keys(.session)).contains { root in
        wrapped.withUnsafeBytes { wrapped in
          let isForDevice = id.purpose.accessibility?.isThisDeviceOnly == true
          return
            (try? KeyRecord.unwrap(
              wrapped, id: id, store: keychain.storeID, wrapper: root.key, device: isForDevice ? device : nil, in: arena
            )) != nil
        }
      }
    }.map { "key \($0.id.purpose.rawValue).\($0.id.epoch)" }
  }

  private func items(_ keychain: Keychain, in tx: ReadTransaction) throws -> [String] {
    var found: [String] = []
    try tx.forEach("SELECT id, uuid, class, version, metadata, secret, index_epoch FROM items", bound: []) { row in
      guard let id = row.withBlob(1, { ItemID($0) }) else { return true }
      var item = Item(
        rowID: 0, id: id, itemClass: ItemClass(rawValue: UInt8(row.integer(2))) ?? .key, version: row.integer(3))
      let metadata = item.binding(of: .metadata, keychain.storeID)
      if keys(.metadata).contains(where: { opens(row.blob(4), metadata, $0.key) }) {
        found.append("attributes of row \(row.integer(0))")
      }
      let classes = Accessibility.allCases.flatMap { keys($0.keyPurpose) }
      for version in 1...max(row.integer(3), 1) {
        item.secretVersion = version
        let secret = item.binding(of: .secret, keychain.storeID)
        if classes.contains(where: { opens(row.blob(5), secret, $0.key) }) {
          found.append("secret of row \(row.integer(0))")
        }
      }
      if keys(.blindIndex).contains(where: { Int64($0.id.epoch) == row.integer(6) }) {
        found.append("index of row \(row.integer(0))")
      }
      return true
    }
    return found
  }

  private func records(_ keychain: Keychain, in tx: ReadTransaction) throws -> [String] {
    var found: [String] = []
    try RecordRow.forEach(in: tx) { record, columns in
      let parts: [(SealedPart.Role, column: Int32)] = [(.recordState, 4), (.recordSecret, 5)]
      for (part, column) in parts {
        let binding = record.binding(of: part, keychain.storeID)
        if keys(.records).contains(where: { opens(columns.blob(column), binding, $0.key) }) {
          found.append("\(part) of record \(record.id)")
        }
      }
    }
    return found
  }

  private func head(_ keychain: Keychain, after record: Int64, in tx: ReadTransaction) throws -> [String] {
    var found: [String] = []
    let manifest = try tx.first("SELECT sealed FROM manifest") { $0.blob(0) } ?? []
    for (id, key) in keys(.manifest) {
      let key = try ManifestKey(id, key, in: arena)
      if opens(manifest, Manifest.binding(keychain.storeID), key.seal.key) { found.append("manifest") }
    }
    let audit = try tx.all("SELECT id, sealed FROM audit WHERE id > ?", .integer(record)) {
      (number: $0.integer(0), sealed: $0.blob(1))
    }
    for (id, key) in keys(.audit) {
      let key = try AuditKey(id, key, in: arena)
      for (number, sealed) in audit
      where (try? key.open(sealed, number: number, store: keychain.storeID) { _ in }) != nil {
        found.append("audit \(number)")
      }
    }
    return found
  }

  private func opens(_ sealed: [UInt8], _ binding: SealedPart.Binding, _ key: GuardedKey) -> Bool {
    sealed.withUnsafeBytes { sealed in
      do {
        return try withScratchMemory(SealedPart.plaintextCount(sealed)) { memory in
          try key.withUnsafeBytes { try SealedPart.open(sealed, at: binding, key: $0, into: memory) }
          return true
        }
      } catch { return false }
    }
  }
}

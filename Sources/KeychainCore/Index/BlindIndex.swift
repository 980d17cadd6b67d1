import SQLiteDatabase
import SodiumCrypto

/// Sixteen bytes that stand for attributes in an index without telling them: BLAKE2b-128 under
/// the index key over
///
///     domain 1 | class 1 | (attribute tag 1 | length 4 | canonical bytes) …
///
/// Domain 1: the primary key, every attribute of it, a missing one with length 0. Domain 2: one
/// attribute. What it leaks is which items have an attribute in common.
struct BlindIndex {
  static let length = 16

  private enum Domain: UInt8 {
    case primaryKey = 1
    case attribute = 2
  }

  let key: GuardedKey
  /// Of the key.
  let epoch: UInt32

  /// - Parameters:
  ///   - group: instead of that among the attributes.
  ///   - isSynchronizable: instead of what the attributes say.
  func primaryKey(
    of itemClass: ItemClass, _ attributes: ItemAttributes, group: String? = nil, isSynchronizable: Bool? = nil
  ) throws -> ItemID {
    let key = itemClass.primaryKey
    let room = attributes.bytes.count + (group?.utf8.count ?? 0) + 6 * key.count
    return try hash(.primaryKey, itemClass, room: room) { message in
      for attribute in key {
        if attribute == .accessGroup, let group {
          AttributeValue.string(group).withCanonicalBytes { Self.write(attribute, $0, to: &message) }
        } else if attribute == .synchronizable, let isSynchronizable {
          AttributeValue.bool(isSynchronizable).withCanonicalBytes { Self.write(attribute, $0, to: &message) }
        } else {
          attributes.withPlace(of: attribute) { Self.write(attribute, $0?.canonical, to: &message) }
        }
      }
    }
  }

  /// Nil where there is nothing to find: an empty attribute is not indexed.
  func side(_ attribute: ItemAttribute, of itemClass: ItemClass, _ attributes: ItemAttributes) throws -> ItemID? {
    try attributes.withPlace(of: attribute) { place in
      guard let value = place?.canonical, !value.isEmpty else { return nil }
      return try hash(.attribute, itemClass, room: 5 + value.count) { Self.write(attribute, value, to: &$0) }
    }
  }

  private static func write(_ attribute: ItemAttribute, _ value: UnsafeRawBufferPointer?, to message: inout RowWriter) {
    message.write(attribute.rawValue)
    message.write(UInt32(clamping: value?.count ?? 0))
    if let value { message.write(value) }
  }

  /// - Parameter room: for what `body` writes.
  private func hash(_ domain: Domain, _ itemClass: ItemClass, room: Int, _ body: (inout RowWriter) -> Void) throws
    -> ItemID
  {
    try withScratchMemory(Self.length + 2 + room) { memory in
      let hash = UnsafeMutableRawBufferPointer(rebasing: memory[..<Self.length])
      let rest = UnsafeMutableRawBufferPointer(rebasing: memory[Self.length...])
      var message = RowWriter(rest)
      message.write(domain.rawValue)
      message.write(itemClass.rawValue)
      body(&message)
      try key.withUnsafeBytes {
        try BLAKE2b.hash(UnsafeRawBufferPointer(rebasing: rest[..<message.count]), key: $0, into: hash)
      }
      return ItemID(UnsafeRawBufferPointer(hash)) ?? .zero
    }
  }
}

/// What follows from the store's keys, and from nothing that changes: it stays the same over restarts, backups and key
/// rotations. It comes from the first audit key, which no rotation removes, as the root of one subkey for each purpose
/// (`crypto_kdf`, context "tk-pseu1").
extension Keychain {
  private enum Subkey: UInt64 {
    case pseudonyms = 1
    case hashes = 2
  }

  /// 32 hexadecimal digits that follow from the store's keys and a label, and that nobody computes without the keys: a
  /// BLAKE2b-128 of the label.
  ///
  /// - Parameter tx: a store of an early version has no audit key; a write transaction makes it.
  /// - Throws: `decode` when the key is damaged, or missing and `tx` cannot make it.
  package func pseudonym(for label: String, in tx: ReadTransaction) throws(KeychainError) -> String {
    try KeychainError.wrap("deriving a pseudonym") {
      try subkey(.pseudonyms, in: tx).withUnsafeBytes { try BLAKE2b.hash(Array(label.utf8), key: $0, count: 16) }
        .hexadecimal
    }
  }

  /// The key of hashes that stand for secrets in sealed records, so that equal ones are found without opening any.
  ///
  /// - Throws: as `pseudonym(for:in:)`.
  package func hashKey(in tx: ReadTransaction) throws(KeychainError) -> SecretBytes {
    try KeychainError.wrap("deriving the key of hashes") {
      try subkey(.hashes, in: tx).withUnsafeBytes { SecretBytes(copying: $0) }
    }
  }

  private func subkey(_ subkey: Subkey, in tx: ReadTransaction) throws -> GuardedKey {
    if let tx = tx as? WriteTransaction, try KeyTable.newest(.audit, in: tx) == nil {
      _ = try keys.current(.audit, ledger(tx), in: tx)
    }
    let root = try keys.key(KeyID(.audit, epoch: 1), in: tx)
    return try keys.arena.subkey(subkey.rawValue, context: "tk-pseu1", of: root)
  }
}

/// How a query finds its rows: a statement, run with each of some keys. Its columns are the first seven of `ItemRow`.
struct SearchPlan {
  enum Key {
    case row(Int64)
    case index(ItemID)
    /// Every row is opened.
    case all
  }

  /// The most look-ups before a scan is as good.
  private static let limit = 32
  static let byRow: StaticString =
    "SELECT id, uuid, class, version, metadata, class_key, secret FROM items WHERE id = ?"

  let sql: StaticString
  let keys: [Key]
  /// What the rows are found by, where that is one attribute.
  private(set) var indexed: ItemAttribute?

  static let scan = SearchPlan(
    "SELECT id, uuid, class, version, metadata, class_key, secret FROM items ORDER BY id", [.all])

  private init(_ sql: StaticString, _ keys: [Key], by indexed: ItemAttribute? = nil) {
    (self.sql, self.keys, self.indexed) = (sql, keys, indexed)
  }

  /// - Parameter indexes: one for each epoch of the index key.
  init(_ query: ItemQuery, indexes: [BlindIndex]) throws {
    self = .scan
    if let reference = query.reference {
      self.init(Self.byRow, [.row(reference.rowID)])
    } else if let itemClass = query.itemClass {
      if let keys = try Self.primaryKeys(query, itemClass, indexes) {
        self.init(
          """
          SELECT id, uuid, class, version, metadata, class_key, secret
          FROM items WHERE primary_index = ?
          """, keys)
        return
      }
      let (first, second) = itemClass.sideIndexes
      func keys(_ side: ItemAttribute) throws -> [Key] {
        try indexes.compactMap { try $0.side(side, of: itemClass, query.attributes).map { .index($0) } }
      }
      let firsts = try keys(first)
      let seconds = firsts.isEmpty ? try keys(second) : []
      if !firsts.isEmpty {
        self.init(
          """
          SELECT id, uuid, class, version, metadata, class_key, secret
          FROM items WHERE index_1 = ? ORDER BY id
          """, firsts, by: first)
      } else if !seconds.isEmpty {
        self.init(
          """
          SELECT id, uuid, class, version, metadata, class_key, secret
          FROM items WHERE index_2 = ? ORDER BY id
          """, seconds, by: second)
      }
    }
  }

  /// Every primary key that the query could mean, as it stands in the index; nil when the query leaves
  /// a part of it open, or means too many.
  private static func primaryKeys(_ query: ItemQuery, _ itemClass: ItemClass, _ indexes: [BlindIndex]) throws -> [Key]?
  {
    // Nil: the attributes say it.
    var groups: [String]?
    for attribute in itemClass.primaryKey where attribute != .synchronizable {
      guard query.attributes.withPlace(of: attribute, { $0 == nil }) else { continue }
      guard attribute == .accessGroup, let accessGroups = query.accessGroups else { return nil }
      groups = accessGroups
    }
    let synchronizable: [Bool] =
      switch query.synchronizable {
      case .no: [false]
      case .yes: [true]
      case .any: [false, true]
      }
    let count = (groups?.count ?? 1) * synchronizable.count * indexes.count
    guard count > 0, count <= limit else { return nil }
    var keys: [Key] = []
    keys.reserveCapacity(count)
    for index in indexes {
      for isSynchronizable in synchronizable {
        func add(_ group: String?) throws {
          keys.append(
            .index(
              try index.primaryKey(of: itemClass, query.attributes, group: group, isSynchronizable: isSynchronizable)))
        }
        if let groups { for group in groups { try add(group) } } else { try add(nil) }
      }
    }
    return keys
  }

  /// Runs the statement.
  func forEach(_ key: Key, in tx: ReadTransaction, _ body: (SQLiteRow) throws -> Bool) throws {
    switch key {
    case .row(let number): try tx.forEach(sql, lending: [.integer(number)], row: body)
    case .index(let hash): try hash.withBytes { try tx.forEach(sql, lending: [.bytes($0)], row: body) }
    case .all: try tx.forEach(sql, lending: [], row: body)
    }
  }
}

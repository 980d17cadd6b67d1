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

  /// - Parameter value: gives the value of an attribute, nil for one that is missing.
  func primaryKey(of itemClass: ItemClass, value: (ItemAttribute) -> AttributeValue?) throws -> ItemID {
    var message = Self.message(.primaryKey, itemClass)
    for attribute in itemClass.primaryKey { Self.append(attribute, value(attribute) ?? .data([]), to: &message) }
    return try hash(&message)
  }

  /// Nil where there is nothing to find: an empty attribute is not indexed.
  func side(_ attribute: ItemAttribute, of itemClass: ItemClass, _ attributes: ItemAttributes) throws -> ItemID? {
    guard let value = attributes[attribute], !value.isEmpty else { return nil }
    var message = Self.message(.attribute, itemClass)
    Self.append(attribute, value, to: &message)
    return try hash(&message)
  }

  private static func message(_ domain: Domain, _ itemClass: ItemClass) -> [UInt8] {
    var message: [UInt8] = []
    message.reserveCapacity(128)
    message.append(domain.rawValue)
    message.append(itemClass.rawValue)
    return message
  }

  private static func append(_ attribute: ItemAttribute, _ value: AttributeValue, to message: inout [UInt8]) {
    message.append(attribute.rawValue)
    value.withCanonicalBytes { bytes in
      message.write(UInt32(clamping: bytes.count))
      message.write(bytes)
    }
  }

  private func hash(_ message: inout [UInt8]) throws -> ItemID {
    defer { wipe(&message) }
    return try withUnsafeTemporaryAllocation(byteCount: Self.length, alignment: 8) { hash in
      try message.withUnsafeBytes { message in
        try key.withUnsafeBytes { try BLAKE2b.hash(message, key: $0, into: hash) }
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

/// How a query finds its rows: a statement, run with each of some values.
struct SearchPlan {
  /// The most look-ups before a scan is as good.
  private static let limit = 32

  let sql: StaticString
  let values: [[SQLiteValue]]
  /// What the rows are found by, where that is one attribute.
  private(set) var indexed: ItemAttribute?
  /// Whether each value finds at most one row.
  private(set) var isUnique = false

  /// Every row is opened.
  static let scan = SearchPlan("SELECT id, uuid, class, version, metadata FROM items ORDER BY id", [[]])

  private init(_ sql: StaticString, _ values: [[SQLiteValue]]) { (self.sql, self.values) = (sql, values) }

  private init(_ sql: StaticString, _ values: [ItemID]) { self.init(sql, values.map { [.blob($0.bytes)] }) }

  /// - Parameter indexes: one for each epoch of the index key.
  init(_ query: ItemQuery, indexes: [BlindIndex]) throws {
    self = .scan
    if let reference = query.reference {
      self.init("SELECT id, uuid, class, version, metadata FROM items WHERE id = ?", [[.integer(reference.rowID)]])
    } else if let itemClass = query.itemClass {
      if let keys = try Self.primaryKeys(query, itemClass, indexes) {
        self.init("SELECT id, uuid, class, version, metadata FROM items WHERE primary_index = ?", keys)
        isUnique = true
        return
      }
      let (first, second) = itemClass.sideIndexes
      let firsts = try indexes.compactMap { try $0.side(first, of: itemClass, query.attributes) }
      let seconds = try indexes.compactMap { try $0.side(second, of: itemClass, query.attributes) }
      if !firsts.isEmpty {
        self.init("SELECT id, uuid, class, version, metadata FROM items WHERE index_1 = ? ORDER BY id", firsts)
        indexed = first
      } else if !seconds.isEmpty {
        self.init("SELECT id, uuid, class, version, metadata FROM items WHERE index_2 = ? ORDER BY id", seconds)
        indexed = second
      }
    }
  }

  /// Every primary key that the query could mean, as it stands in the index; nil when the query leaves
  /// a part of it open, or means too many.
  private static func primaryKeys(_ query: ItemQuery, _ itemClass: ItemClass, _ indexes: [BlindIndex]) throws
    -> [ItemID]?
  {
    var groups: [AttributeValue?] = [nil]
    for attribute in itemClass.primaryKey where attribute != .synchronizable {
      guard query.attributes[attribute] == nil else { continue }
      guard attribute == .accessGroup, let accessGroups = query.accessGroups else { return nil }
      groups = accessGroups.map { .string($0) }
    }
    let synchronizable: [Bool] =
      switch query.synchronizable {
      case .no: [false]
      case .yes: [true]
      case .any: [false, true]
      }
    let count = groups.count * synchronizable.count * indexes.count
    guard count > 0, count <= limit else { return nil }
    var keys: [ItemID] = []
    keys.reserveCapacity(count)
    for index in indexes {
      for group in groups {
        for isSynchronizable in synchronizable {
          // Not by way of a dictionary: that would be a large part of a look-up.
          keys.append(
            try index.primaryKey(of: itemClass) { attribute in
              switch attribute {
              case .synchronizable: .bool(isSynchronizable)
              case .accessGroup: group ?? query.attributes[attribute]
              default: query.attributes[attribute]
              }
            })
        }
      }
    }
    return keys
  }
}

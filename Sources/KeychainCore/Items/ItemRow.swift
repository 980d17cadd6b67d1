import SQLiteDatabase
import SodiumCrypto

/// A row of `items`, but for what is sealed in it:
///
///     id | uuid | class | version | metadata | class_key | secret | index_epoch | primary_index | index_1 | index_2
///
/// That is the order in which columns are read: by who needs the metadata alone the first five, with the secret seven.
package struct ItemRow {
  var rowID: Int64
  /// The byte of its class.
  let itemClass: UInt8
  let id: ItemID
  var version: Int64
  var metadataTag = ItemID.zero
  var secretTag = ItemID.zero
  var indexEpoch: UInt32 = 0
  var primaryIndex: ItemID?
  var index1: ItemID?
  var index2: ItemID?
  /// What the secret is sealed by.
  var classKey = KeyID.none
}

extension ItemRow {
  /// - Parameter health: learns of a row that cannot be read as one.
  init(_ row: SQLiteRow, _ health: StoreHealth) throws {
    guard let id = row.withBlob(1, { ItemID($0) }), let itemClass = UInt8(exactly: row.integer(2)),
      let indexEpoch = UInt32(exactly: row.integer(7)), let classKey = UInt32(exactly: row.integer(5))
    else { throw health.corrupt(row: row.integer(0), "what names it") }
    self.init(
      rowID: row.integer(0), itemClass: itemClass, id: id, version: row.integer(3), metadataTag: row.tag(4),
      secretTag: row.tag(6), indexEpoch: indexEpoch, primaryIndex: row.withBlob(8) { ItemID($0) },
      index1: row.isNull(9) ? nil : row.withBlob(9) { ItemID($0) },
      index2: row.isNull(10) ? nil : row.withBlob(10) { ItemID($0) }, classKey: KeyID(rawValue: classKey))
  }

  /// All of them.
  static func forEach(in tx: ReadTransaction, _ health: StoreHealth, _ body: (ItemRow) throws -> Void) throws {
    try tx.forEach(
      """
      SELECT id, uuid, class, version, metadata, class_key, secret, index_epoch, primary_index, index_1, index_2
      FROM items
      """, bound: []
    ) { row in
      try body(ItemRow(row, health))
      return true
    }
  }

  /// Of the same attributes: nothing has to be written into an index.
  fileprivate func isFound(as other: ItemRow) -> Bool {
    (primaryIndex, index1, index2, indexEpoch) == (other.primaryIndex, other.index1, other.index2, other.indexEpoch)
  }
}

extension Keychain {
  /// The row with that number; nil when there is none.
  func row<R>(_ rowID: Int64, in tx: ReadTransaction, _ body: (ItemRow, SQLiteRow) throws -> R) throws -> R? {
    try tx.first(
      """
      SELECT id, uuid, class, version, metadata, class_key, secret, index_epoch, primary_index, index_1, index_2
      FROM items WHERE id = ?
      """, .integer(rowID)
    ) { try body(ItemRow($0, health), $0) }
  }

  /// Seals an item by the newest keys, with the indexes over the same attributes, and writes its row.
  ///
  /// - Parameters:
  ///   - item: gets the number of its row, where that is new.
  ///   - old: the row that it replaces; nil: a new one.
  ///   - secret: to be sealed by that key of a class; nil: it stays.
  ///   - nonces: two, where they are drawn already.
  /// - Throws: `duplicateItem`, and then nothing has changed.
  func write(
    _ item: inout Item, over old: ItemRow?, _ secret: (bytes: SecretBytes, classKey: RootKeys.Root)?,
    nonces: UnsafeRawBufferPointer? = nil, _ ledger: ChangeLedger, in tx: WriteTransaction
  ) throws {
    func nonce(_ number: Int) -> UnsafeRawBufferPointer? {
      let length = XChaCha20Poly1305.nonceLength
      return nonces.map { UnsafeRawBufferPointer(rebasing: $0[(number * length)..<((number + 1) * length)]) }
    }
    var row = ItemRow(rowID: item.rowID, itemClass: item.itemClass.rawValue, id: item.id, version: item.version)
    var plaintext = item.encoded()
    defer { wipe(&plaintext) }
    guard plaintext.count <= NewItem.attributesLimit else { throw NewItem.tooLarge("attributes") }
    let metadataKey = try keys.current(.metadata, ledger, in: tx)
    let indexKey = try keys.current(.blindIndex, ledger, in: tx)
    let index = BlindIndex(key: indexKey.key, epoch: indexKey.id.epoch)
    row.indexEpoch = index.epoch
    row.primaryIndex = try index.primaryKey(of: item.itemClass, item.attributes)
    let sides = item.itemClass.sideIndexes
    row.index1 = try index.side(sides.first, of: item.itemClass, item.attributes)
    row.index2 = try index.side(sides.second, of: item.itemClass, item.attributes)
    (row.classKey, row.secretTag) = (old?.classKey ?? .none, old?.secretTag ?? .zero)
    // The sealed parts and four names, where SQLite takes them from.
    let room = plaintext.count + (secret?.bytes.count ?? 0) + 2 * (SealedPart.overhead + 64) + 4 * 16
    try withUnsafeTemporaryAllocation(byteCount: room, alignment: 16) { memory in
      var free = memory[...]
      func take(_ count: Int) -> UnsafeMutableRawBufferPointer {
        defer { free = free.dropFirst(count) }
        return UnsafeMutableRawBufferPointer(rebasing: free.prefix(count))
      }
      func seal(
        _ bytes: UnsafeRawBufferPointer, _ part: SealedPart.Role, by key: RootKeys.Root, _ number: Int,
        _ tag: inout ItemID
      ) throws -> SQLiteLoan {
        let output = take(part.sealedCount(bytes.count))
        try key.key.withUnsafeBytes {
          try SealedPart.seal(
            bytes, at: item.binding(of: part, storeID), by: key.id, key: $0, nonce: nonce(number), into: output)
        }
        tag = ItemID(tagOf: UnsafeRawBufferPointer(output))
        return .bytes(UnsafeRawBufferPointer(output))
      }
      func name(_ name: ItemID?) -> SQLiteLoan {
        guard let name else { return .null }
        let output = take(16)
        name.withBytes { output.copyMemory(from: $0) }
        return .bytes(UnsafeRawBufferPointer(output))
      }
      let metadata = try plaintext.withUnsafeBytes { try seal($0, .metadata, by: metadataKey, 0, &row.metadataTag) }
      var sealed = SQLiteLoan.null
      if let (bytes, classKey) = secret {
        row.classKey = classKey.id
        sealed = try bytes.withUnsafeBytes { try seal($0, .secret, by: classKey, 1, &row.secretTag) }
      }
      let values: [SQLiteLoan] = [
        .integer(row.version), metadata, .integer(Int64(row.classKey.rawValue)), sealed, .integer(row.rowID),
        .integer(Int64(row.indexEpoch)), name(row.primaryIndex), name(row.index1), name(row.index2), name(row.id),
        .integer(Int64(row.itemClass)),
      ]
      guard let old else {
        try tx.execute(
          """
          INSERT INTO items (version, metadata, class_key, secret, index_epoch, primary_index, index_1, index_2, uuid,
            class)
          VALUES (?1, ?2, ?3, ?4, ?6, ?7, ?8, ?9, ?10, ?11)
          """, lending: values)
        row.rowID = tx.lastInsertedRowID
        item.rowID = row.rowID
        return try ledger.insert(.item(row))
      }
      if row.isFound(as: old) {
        // SQLite would rewrite the indexes of whatever a statement names.
        try tx.execute(
          """
          UPDATE items SET version = ?1, metadata = ?2, class_key = ?3, secret = coalesce(?4, secret) WHERE id = ?5
          """, lending: Array(values[..<5]))
      } else {
        try tx.execute(
          """
          UPDATE items SET version = ?1, metadata = ?2, class_key = ?3, secret = coalesce(?4, secret),
            index_epoch = ?6, primary_index = ?7, index_1 = ?8, index_2 = ?9
          WHERE id = ?5
          """, lending: Array(values[..<9]))
      }
      try ledger.remove(.item(old))
      try ledger.insert(.item(row))
    }
  }
}

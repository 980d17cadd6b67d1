import SQLiteDatabase
import SodiumCrypto

/// One row as the manifest counts it. What is hashed:
///
///     item: 1 | class 1 | item 16 | version 8 | metadata tag 16 | secret tag 16
///           | index epoch 4 | primary index 16 | present 1 | index 1 16 | index 2 16 | row id 8
///           | class key 4
///     slot: 2 | slot 16 | payload tag 16 | number 8 | its other columns
///     key:  3 | key id 4 | tag 16
///     last record of the audit: 4 | number 8 | tag 16
///     record: 5 | id 8 | home 8 | version 8 | version of the secret 8 | state tag 16 | secret tag 16
///
/// A tag covers all that its part binds. Who renews a class key changes the element of every item of the class.
package enum ManifestElement {
  case item(ItemRow)
  case slot(id: ItemID, number: Int64, tag: ItemID, columns: [UInt8])
  case key(KeyID, tag: ItemID)
  case audit(number: Int64, tag: ItemID)
  case record(RecordRow)

  func hash(key: GuardedKey) throws -> SIMD4<UInt64> {
    try withUnsafeTemporaryAllocation(byteCount: 32 + room, alignment: 16) { memory in
      let output = UnsafeMutableRawBufferPointer(rebasing: memory[..<32])
      let message = UnsafeMutableRawBufferPointer(rebasing: memory[32...])
      let count = write(to: message)
      try key.withUnsafeBytes { key in
        try BLAKE2b.hash(UnsafeRawBufferPointer(rebasing: message[..<count]), key: key, into: output)
      }
      var hash = SIMD4<UInt64>()
      for word in 0..<4 { hash[word] = UInt64(littleEndian: output.load(fromByteOffset: word * 8, as: UInt64.self)) }
      return hash
    }
  }

  /// The most bytes that are hashed.
  private var room: Int { if case .slot(_, _, _, let columns) = self { 41 + columns.count } else { 123 } }

  private func write(to message: UnsafeMutableRawBufferPointer) -> Int {
    var writer = RowWriter(message)
    switch self {
    case .item(let row):
      writer.write(1 as UInt8)
      writer.write(row.itemClass)
      writer.write(row.id)
      writer.write(row.version)
      writer.write(row.metadataTag)
      writer.write(row.secretTag)
      writer.write(row.indexEpoch)
      writer.write(row.primaryIndex ?? .zero)
      let present = (row.primaryIndex == nil ? 0 : 1) | (row.index1 == nil ? 0 : 2) | (row.index2 == nil ? 0 : 4)
      writer.write(UInt8(present))
      writer.write(row.index1 ?? .zero)
      writer.write(row.index2 ?? .zero)
      writer.write(row.rowID)
      writer.write(row.classKey.rawValue)
    case .slot(let id, let number, let tag, let columns):
      writer.write(2 as UInt8)
      writer.write(id)
      writer.write(tag)
      writer.write(number)
      columns.withUnsafeBytes { writer.write($0) }
    case .key(let id, let tag):
      writer.write(3 as UInt8)
      writer.write(id.rawValue)
      writer.write(tag)
    case .audit(let number, let tag):
      writer.write(4 as UInt8)
      writer.write(number)
      writer.write(tag)
    case .record(let row):
      writer.write(5 as UInt8)
      for number in [row.id, row.home, row.version, row.secretVersion] { writer.write(number) }
      writer.write(row.stateTag)
      writer.write(row.secretTag)
    }
    return writer.count
  }
}

extension ManifestElement {
  /// Goes through every row that the manifest counts.
  ///
  /// - Parameter health: learns of a row that cannot be read as one.
  static func forEach(in tx: ReadTransaction, _ health: StoreHealth, _ body: (ManifestElement) throws -> Void) throws {
    try ItemRow.forEach(in: tx, health) { try body(.item($0)) }
    try tx.forEach("SELECT id, uuid, payload, kind, created, label, parameters FROM key_slots", bound: []) { row in
      guard let id = row.withBlob(1, { ItemID($0) }) else { return true }
      let columns = KeySlot.columns(
        kind: row.integer(3), created: row.integer(4), label: row.text(5), parameters: row.blob(6))
      try body(.slot(id: id, number: row.integer(0), tag: row.tag(2), columns: columns))
      return true
    }
    try tx.forEach("SELECT id, wrapped FROM keys", bound: []) { row in
      guard let id = UInt32(exactly: row.integer(0)) else { throw SodiumError.notAuthentic }
      try body(.key(KeyID(rawValue: id), tag: row.tag(1)))
      return true
    }
    if let last = try AuditRow.last(in: tx) { try body(last.manifestElement) }
    try RecordRow.forEach(in: tx) { row, _ in try body(.record(row)) }
  }
}

extension SQLiteRow {
  /// The tag of a sealed part; zeros where there is none.
  func tag(_ column: Int32) -> ItemID { withBlob(column) { ItemID(tagOf: $0) } }
}

// SPDX-License-Identifier: Apache-2.0

import SQLiteDatabase
import SodiumCrypto

/// One row as the manifest counts it. What is hashed:
///
///     item: 1 | class 1 | item 16 | version 8 | metadata tag 16 | secret tag 16
///           | index epoch 4 | primary index 16 | present 1 | index 1 16 | index 2 16 | row id 8
///           | class key 4 | wrapped key tag 16
///     slot: 2 | slot 16 | payload tag 16 | number 8 | its other columns
///     key:  3 | key id 4 | tag 16
///     last record of the audit: 4 | number 8 | tag 16
///     record: 5 | id 8 | home 8 | version 8 | version of the secret 8 | state tag 16 | secret tag 16
///
/// A tag covers all that its part binds. Who renews a class key changes the element of every item
/// that it wraps.
package enum ManifestElement {
  package struct ItemRow {
    var rowID: Int64
    var itemClass: UInt8
    var id: ItemID
    var version: Int64
    var metadataTag: ItemID
    var secretTag: ItemID
    var indexEpoch: UInt32
    var primaryIndex: ItemID?
    var index1: ItemID?
    var index2: ItemID?
    var classKey: KeyID
    var wrappedKeyTag: ItemID
  }

  case item(ItemRow)
  case slot(id: ItemID, number: Int64, tag: ItemID, columns: [UInt8])
  case key(KeyID, tag: ItemID)
  case audit(number: Int64, tag: ItemID)
  case record(RecordRow)

  func hash(key: GuardedKey) throws -> (UInt64, UInt64, UInt64, UInt64) {
    try withUnsafeTemporaryAllocation(byteCount: 32 + room, alignment: 16) { memory in
      let output = UnsafeMutableRawBufferPointer(rebasing: memory[..<32])
      let message = UnsafeMutableRawBufferPointer(rebasing: memory[32...])
      let count = write(to: message)
      try key.withUnsafeBytes { key in
        try BLAKE2b.hash(
          UnsafeRawBufferPointer(rebasing: message[..<count]), key: key, into: output)
      }
      func word(_ offset: Int) -> UInt64 {
        UInt64(littleEndian: output.load(fromByteOffset: offset, as: UInt64.self))
      }
      return (word(0), word(8), word(16), word(24))
    }
  }

  /// The most bytes that are hashed.
  private var room: Int {
    if case .slot(_, _, _, let columns) = self { 41 + columns.count } else { 139 }
  }

  private func write(to message: UnsafeMutableRawBufferPointer) -> Int {
    switch self {
    case .item(let row):
      let none = ItemID(high: 0, low: 0)
      message[0] = 1
      message[1] = row.itemClass
      row.id.write(to: message, at: 2)
      message.storeBytes(of: row.version.bigEndian, toByteOffset: 18, as: Int64.self)
      row.metadataTag.write(to: message, at: 26)
      row.secretTag.write(to: message, at: 42)
      message.storeBytes(of: row.indexEpoch.bigEndian, toByteOffset: 58, as: UInt32.self)
      (row.primaryIndex ?? none).write(to: message, at: 62)
      message[78] =
        (row.primaryIndex == nil ? 0 : 1) | (row.index1 == nil ? 0 : 2)
        | (row.index2 == nil ? 0 : 4)
      (row.index1 ?? none).write(to: message, at: 79)
      (row.index2 ?? none).write(to: message, at: 95)
      message.storeBytes(of: row.rowID.bigEndian, toByteOffset: 111, as: Int64.self)
      message.storeBytes(
        of: row.classKey.rawValue.bigEndian, toByteOffset: 119, as: UInt32.self)
      row.wrappedKeyTag.write(to: message, at: 123)
      return 139
    case .slot(let id, let number, let tag, let columns):
      message[0] = 2
      id.write(to: message, at: 1)
      tag.write(to: message, at: 17)
      message.storeBytes(of: number.bigEndian, toByteOffset: 33, as: Int64.self)
      columns.withUnsafeBytes {
        UnsafeMutableRawBufferPointer(rebasing: message[41...]).copyMemory(from: $0)
      }
      return 41 + columns.count
    case .key(let id, let tag):
      message[0] = 3
      message.storeBytes(of: id.rawValue.bigEndian, toByteOffset: 1, as: UInt32.self)
      tag.write(to: message, at: 5)
      return 21
    case .audit(let number, let tag):
      message[0] = 4
      message.storeBytes(of: number.bigEndian, toByteOffset: 1, as: Int64.self)
      tag.write(to: message, at: 9)
      return 25
    case .record(let row):
      message[0] = 5
      var offset = 1
      for number in [row.id, row.home, row.version, row.secretVersion] {
        message.storeBytes(of: number.bigEndian, toByteOffset: offset, as: Int64.self)
        offset += 8
      }
      row.stateTag.write(to: message, at: 33)
      row.secretTag.write(to: message, at: 49)
      return 65
    }
  }
}

extension ManifestElement {
  /// Goes through every row that the manifest counts.
  ///
  /// - Parameter health: learns of a row that cannot be read as one.
  static func forEach(
    in tx: ReadTransaction, _ health: StoreHealth, _ body: (ManifestElement) throws -> Void
  ) throws {
    try tx.forEach(
      """
      SELECT id, class, uuid, version, metadata, secret, index_epoch, primary_index, index_1,
        index_2, class_key, wrapped_key
      FROM items
      """, bound: []
    ) { row in
      guard let id = row.withBlob(2, { ItemID($0) }),
        let itemClass = UInt8(exactly: row.integer(1)),
        let indexEpoch = UInt32(exactly: row.integer(6)),
        let classKey = UInt32(exactly: row.integer(10))
      else { throw health.corrupt(row: row.integer(0), "what names it") }
      let element = ItemRow(
        rowID: row.integer(0), itemClass: itemClass, id: id,
        version: row.integer(3), metadataTag: row.tag(4), secretTag: row.tag(5),
        indexEpoch: indexEpoch,
        primaryIndex: row.withBlob(7) { ItemID($0) },
        index1: row.isNull(8) ? nil : row.withBlob(8) { ItemID($0) },
        index2: row.isNull(9) ? nil : row.withBlob(9) { ItemID($0) },
        classKey: KeyID(rawValue: classKey), wrappedKeyTag: row.tag(11))
      try body(.item(element))
      return true
    }
    try tx.forEach(
      "SELECT id, uuid, payload, kind, created, label, parameters FROM key_slots", bound: []
    ) { row in
      guard let id = row.withBlob(1, { ItemID($0) }) else { return true }
      let columns = KeySlotRow.columns(
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
  func tag(_ column: Int32) -> ItemID {
    withBlob(column) { bytes in
      ItemID(UnsafeRawBufferPointer(rebasing: bytes.suffix(16))) ?? ItemID(high: 0, low: 0)
    }
  }
}

// SPDX-License-Identifier: Apache-2.0

import SodiumCrypto

/// The end of a backup file. Before it lies the store's database, as SQLite copied it: sealed as it
/// is.
///
///     "TKBACKUP" | format 4 | 0 4 | store 16 | generation 8 | time 8 | database's length 8 | items 8
///     | tag 32
///
/// 64 bytes and the tag. Numbers are big-endian, the time is microseconds since 1970. The tag (`BackupTag`) covers the
/// database and the rest of the trailer, the bridge's tables in plaintext too.
package struct BackupTrailer: Equatable, Sendable {
  static let length = 64
  static let format: UInt32 = 1
  private static let magic = Array("TKBACKUP".utf8)

  package var store: StoreID
  package var generation: UInt64
  /// Microseconds since 1970.
  package var created: Int64
  /// Of the database, in bytes.
  package var databaseLength: UInt64
  package var items: UInt64

  /// All but the tag.
  var bytes: [UInt8] {
    Self.magic + Self.format.bigEndianBytes + [0, 0, 0, 0] + store.bytes
      + generation.bigEndianBytes + created.bigEndianBytes + databaseLength.bigEndianBytes
      + items.bigEndianBytes
  }

  init(
    store: StoreID, generation: UInt64, created: Int64, databaseLength: UInt64, items: UInt64
  ) {
    self.store = store
    self.generation = generation
    self.created = created
    self.databaseLength = databaseLength
    self.items = items
  }

  /// - Throws: `decode` when this is the end of something else, `notAvailable` for a newer format.
  init(decoding bytes: [UInt8], path: String) throws(KeychainError) {
    guard bytes.count == Self.length, bytes.starts(with: Self.magic) else {
      throw KeychainError(
        .decode, "\(path) is no backup of a threadkeeper store, or it ends too early")
    }
    func number(_ offset: Int, _ count: Int) -> UInt64 {
      bytes[offset..<offset + count].reduce(0) { $0 << 8 | UInt64($1) }
    }
    let format = number(8, 4)
    guard format == Self.format else {
      throw KeychainError(
        .notAvailable,
        "\(path) is a backup of format \(format), this program knows \(Self.format):"
          + " use the newer program")
    }
    guard number(12, 4) == 0, let store = StoreID(Array(bytes[16..<32])) else {
      throw KeychainError(.decode, "\(path) is damaged")
    }
    self.init(
      store: store, generation: number(32, 8), created: Int64(bitPattern: number(40, 8)),
      databaseLength: number(48, 8), items: number(56, 8))
  }
}

extension FixedWidthInteger {
  fileprivate var bigEndianBytes: [UInt8] {
    withUnsafeBytes(of: bigEndian) { Array($0) }
  }
}

// SPDX-License-Identifier: Apache-2.0

import KeychainCore
import TestKit
import Testing

@Suite struct AlteredByteTests {
  @Test(arguments: [
    "items", "keys", "key_slots", "manifest", "store", "sqlite_sequence", "records",
  ])
  func everyByteOfEveryColumnIsRightOrRefused(_ table: String) throws {
    try alterEveryByte(of: table, in: TamperedStore())
  }

  private func alterEveryByte(of table: String, in tampered: TamperedStore) throws {
    #expect(try tampered.examine("untouched") == .healthy)
    var random = SeededGenerator(seed: 20)
    var tried = 0
    for column in try tampered.raw.columns(table) {
      for row in try tampered.raw.run("SELECT rowid, \(column) FROM \(table)") {
        for altered in Self.alterations(of: row[1], with: &random) {
          let isRow = column == "id"
          // An id that another row has cannot be taken: SQLite itself refuses.
          guard (try? change(tampered.raw, table, column, row[0], to: altered)) != nil else {
            continue
          }
          try tampered.examine("\(table).\(column) of row \(row[0]) became \(altered)")
          try change(tampered.raw, table, column, isRow ? altered : row[0], to: row[1])
          tried += 1
        }
      }
    }
    #expect(try tampered.examine("put right again") == .healthy)
    #expect(tried > 8)
  }

  private func change(
    _ raw: RawStore, _ table: String, _ column: String, _ row: RawStore.Value,
    to value: RawStore.Value
  ) throws {
    try raw.run("PRAGMA ignore_check_constraints = ON")
    try raw.run("UPDATE \(table) SET \(column) = ? WHERE rowid = ?", [value, row])
  }

  /// One for each byte: some of its bits turned over.
  private static func alterations(
    of value: RawStore.Value, with random: inout SeededGenerator
  ) -> [RawStore.Value] {
    switch value {
    case .null:
      return [.blob([UInt8](repeating: 7, count: 16))]
    case .integer(let number):
      return (0..<8).map {
        .integer(number ^ Int64(bitPattern: UInt64.random(in: 1...255, using: &random) << ($0 * 8)))
      }
    case .text(let bytes):
      // Letters become other letters: the column stays text.
      return bytes.indices.map { position in
        var altered = bytes
        altered[position] ^= UInt8.random(in: 1...15, using: &random)
        return .text(altered)
      }
    case .blob(let bytes):
      return bytes.indices.map { position in
        var altered = bytes
        altered[position] ^= UInt8.random(in: 1...255, using: &random)
        return .blob(altered)
      } + [.blob([]), .blob(Array(bytes.dropLast())), .blob(bytes + [0])]
    }
  }
}

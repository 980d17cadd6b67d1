// SPDX-License-Identifier: Apache-2.0

import KeychainCore
import TestKit
import Testing

@Suite struct AlteredOctetTests {
  @Test(arguments: [
    "items", "keys", "key_slots", "manifest", "store", "migrations", "sqlite_sequence",
  ])
  func everyOctetOfEveryColumnIsRightOrRefused(_ table: String) throws {
    try alterEveryOctet(of: table, in: TamperedStore())
  }

  @Test(arguments: ["items", "keys", "manifest"])
  func everyOctetInTheMiddleOfARotationIsRightOrRefused(_ table: String) throws {
    try alterEveryOctet(of: table, in: TamperedStore(isHalfRotated: true))
  }

  private func alterEveryOctet(of table: String, in tampered: TamperedStore) throws {
    #expect(try tampered.examine("untouched") == .healthy)
    var random = SeededGenerator(seed: 20)
    let rowid = table == "migrations" ? "version" : "rowid"
    var tried = 0
    for column in try tampered.raw.columns(table) {
      for row in try tampered.raw.run("SELECT \(rowid), \(column) FROM \(table)") {
        for altered in Self.alterations(of: row[1], with: &random) {
          let isRow = column == "id" || column == rowid
          // An id that another row has cannot be taken: SQLite itself refuses.
          guard (try? change(tampered.raw, table, column, rowid, row[0], to: altered)) != nil else {
            continue
          }
          try tampered.examine("\(table).\(column) of row \(row[0]) became \(altered)")
          try change(tampered.raw, table, column, rowid, isRow ? altered : row[0], to: row[1])
          tried += 1
        }
      }
    }
    #expect(try tampered.examine("put right again") == .healthy)
    #expect(tried > 8)
  }

  private func change(
    _ raw: RawStore, _ table: String, _ column: String, _ rowid: String, _ row: RawStore.Value,
    to value: RawStore.Value
  ) throws {
    try raw.run("PRAGMA ignore_check_constraints = ON")
    try raw.run("UPDATE \(table) SET \(column) = ? WHERE \(rowid) = ?", [value, row])
  }

  /// One for each octet: some of its bits turned over.
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
    case .text(let octets):
      // Letters become other letters: the column stays text.
      return octets.indices.map { position in
        var altered = octets
        altered[position] ^= UInt8.random(in: 1...15, using: &random)
        return .text(altered)
      }
    case .blob(let octets):
      return octets.indices.map { position in
        var altered = octets
        altered[position] ^= UInt8.random(in: 1...255, using: &random)
        return .blob(altered)
      } + [.blob([]), .blob(Array(octets.dropLast())), .blob(octets + [0])]
    }
  }
}

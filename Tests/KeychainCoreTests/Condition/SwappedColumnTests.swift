// SPDX-License-Identifier: Apache-2.0

import KeychainCore
import TestKit
import Testing

@Suite struct SwappedColumnTests {
  @Test(arguments: ["items", "keys", "key_slots", "records"])
  func swappedColumnsAreNoticed(_ table: String) throws {
    let tampered = try TamperedStore()
    let raw = tampered.raw
    let rows = try raw.run("SELECT id FROM \(table) ORDER BY id").map { $0[0] }
    var tried = 0
    for column in try raw.columns(table) where column != "id" {
      for (position, first) in rows.enumerated() {
        for second in rows[(position + 1)...] {
          let values = try [first, second].map { row in
            try raw.run("SELECT \(column) FROM \(table) WHERE id = ?", [row])[0][0]
          }
          guard values[0] != values[1] else { continue }
          try swap(raw, table, column, (first, values[0]), (second, values[1]))
          let condition = try tampered.examine("\(table).\(column) of \(first) and \(second)")
          #expect(condition != .healthy, "\(table).\(column)")
          try swap(raw, table, column, (first, values[1]), (second, values[0]))
          tried += 1
        }
      }
    }
    #expect(tried > 0)
    #expect(try tampered.examine("put right again") == .healthy)
  }

  private func swap(
    _ raw: RawStore, _ table: String, _ column: String, _ first: (RawStore.Value, RawStore.Value),
    _ second: (RawStore.Value, RawStore.Value)
  ) throws {
    // By way of a third value, because some columns are unique.
    let isNumber = if case .integer = first.1 { true } else { false }
    let isText = if case .text = first.1 { true } else { false }
    let third: RawStore.Value = isNumber ? .integer(-1) : isText ? .text([63]) : .blob([1])
    let update = "UPDATE \(table) SET \(column) = ? WHERE id = ?"
    try raw.run(update, [third, first.0])
    try raw.run(update, [first.1, second.0])
    try raw.run(update, [second.1, first.0])
  }

  /// The manifest knows the end of each part.
  @Test(arguments: ["items", "keys", "key_slots", "records"])
  func everyColumnOfEveryRowIsCounted(_ table: String) throws {
    let tampered = try TamperedStore()
    var tried = 0
    for column in try tampered.raw.columns(table) {
      for row in try tampered.raw.run("SELECT id, \(column) FROM \(table)") {
        let altered: RawStore.Value =
          switch row[1] {
          case .null: .blob([UInt8](repeating: 7, count: 16))
          case .integer(let number): .integer(number ^ 64)
          case .text(let bytes): .text(bytes + [63])
          case .blob(let bytes): .blob(bytes.dropLast() + [(bytes.last ?? 0) ^ 1])
          }
        let update = "UPDATE \(table) SET \(column) = ? WHERE id = ?"
        try tampered.raw.run(update, [altered, row[0]])
        let condition = try tampered.examine("\(table).\(column) of \(row[0])")
        #expect(condition != .healthy, "\(table).\(column) of \(row[0])")
        try tampered.raw.run(update, [row[1], column == "id" ? altered : row[0]])
        tried += 1
      }
    }
    #expect(tried > 13)
    #expect(try tampered.examine("put right again") == .healthy)
  }
}

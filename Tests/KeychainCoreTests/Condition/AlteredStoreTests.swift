import Foundation
import TestKit
import Testing

/// Somebody without the keys alters the file of a store: every answer is right or refused. A sample is tried, and with
/// SOAK_ROUNDS=all in the environment everything.
@Suite struct AlteredStoreTests {
  @Test(arguments: ["items", "keys", "key_slots", "manifest", "store", "sqlite_sequence", "records"])
  func everyByteOfEveryColumnIsRightOrRefused(_ table: String) throws {
    let tampered = try TamperedStore()
    let raw = tampered.raw
    var random = SeededGenerator(seed: 20)
    var tried = 0
    try raw.run("PRAGMA ignore_check_constraints = ON")
    for column in try raw.columns(table) {
      for row in try raw.run("SELECT rowid, \(column) FROM \(table)") {
        for altered in Self.alterations(of: row[1], with: &random) {
          let update = "UPDATE \(table) SET \(column) = ? WHERE rowid = ?"
          // An id that another row has cannot be taken: SQLite itself refuses.
          guard (try? raw.run(update, [altered, row[0]])) != nil else { continue }
          try tampered.examine("\(table).\(column) of row \(row[0]) became \(altered)")
          try raw.run(update, [row[1], column == "id" ? altered : row[0]])
          tried += 1
        }
      }
    }
    #expect(try tampered.examine("put right again") == .healthy)
    #expect(tried > 3)
  }

  /// One for each byte, or for some: a few of its bits turned over.
  private static func alterations(of value: RawStore.Value, with random: inout SeededGenerator) -> [RawStore.Value] {
    func places(of count: Int, by step: Int) -> StrideTo<Int> {
      let step = Soak.triesAll ? 1 : min(step, max(count, 1))
      return stride(from: Int.random(in: 0..<step, using: &random), to: count, by: step)
    }
    switch value {
    case .null: return [.blob([UInt8](repeating: 7, count: 16))]
    case .integer(let number):
      return places(of: 8, by: 5).map {
        .integer(number ^ Int64(bitPattern: UInt64.random(in: 1...255, using: &random) << ($0 * 8)))
      }
    case .text(let bytes):
      // Letters become other letters: the column stays text.
      return places(of: bytes.count, by: 5).map { position in
        var altered = bytes
        altered[position] ^= UInt8.random(in: 1...15, using: &random)
        return .text(altered)
      }
    case .blob(let bytes):
      return places(of: bytes.count, by: 31).map { position in
        var altered = bytes
        altered[position] ^= UInt8.random(in: 1...255, using: &random)
        return .blob(altered)
      } + [.blob([]), .blob(Array(bytes.dropLast())), .blob(bytes + [0])]
    }
  }

  @Test(arguments: ["items", "keys", "key_slots", "records"]) func swappedColumnsAreNoticed(_ table: String) throws {
    let tampered = try TamperedStore()
    let raw = tampered.raw
    let rows = try raw.run("SELECT id FROM \(table) ORDER BY id").map { $0[0] }
    var tried = 0
    for column in try raw.columns(table) where column != "id" {
      for (position, first) in rows.enumerated() {
        for second in rows[(position + 1)...].prefix(Soak.triesAll ? rows.count : 1) {
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
  @Test(arguments: ["items", "keys", "key_slots", "records"]) func everyColumnOfEveryRowIsCounted(_ table: String)
    throws
  {
    let tampered = try TamperedStore()
    func expect(_ isHealthy: Bool, _ comment: Comment) throws {
      // One that is refused as a whole is not healthy either.
      let beside = try? tampered.store.openBeside()
      #expect((beside?.condition == .healthy) == isHealthy, comment)
      beside?.close()
    }
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
        try expect(false, "\(table).\(column) of \(row[0])")
        try tampered.raw.run(update, [row[1], column == "id" ? altered : row[0]])
      }
    }
    try expect(true, "put right again")
  }

  @Test func anyByteOfTheFileIsRightOrRefused() throws {
    let tampered = try TamperedStore(filling: 60)
    tampered.raw.close()
    let path = tampered.store.location.databasePath
    let whole = try Data(contentsOf: URL(fileURLWithPath: path))
    let seed = UInt64.random(in: .min ... .max)
    var random = SeededGenerator(seed: seed)
    for _ in 0..<(Soak.triesAll ? 300 : 30) {
      var altered = whole
      let position = Int.random(in: 0..<whole.count, using: &random)
      altered[position] ^= UInt8.random(in: 1...255, using: &random)
      try altered.write(to: URL(fileURLWithPath: path))
      try tampered.examine("byte \(position), seed \(seed)")
      for suffix in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) }
    }
  }

  @Test func aPageThatLeadsToOneRowTwiceIsRightOrRefused() throws {
    let tampered = try TamperedStore(filling: 60)
    tampered.raw.close()
    let path = tampered.store.location.databasePath
    let whole = try Data(contentsOf: URL(fileURLWithPath: path))
    // Leaves and inner pages of indexes and tables, and where their first pointers to cells are.
    let pointers = [10: 8, 13: 8, 2: 12, 5: 12]
    var pages = 0
    for page in stride(from: 4096, to: whole.count, by: 4096) {
      guard let first = pointers[Int(whole[page])].map({ page + $0 }), whole[page + 3] > 0 || whole[page + 4] > 1 else {
        continue
      }
      pages += 1
      var altered = whole
      altered.replaceSubrange(first..<(first + 2), with: whole[(first + 2)..<(first + 4)])
      try altered.write(to: URL(fileURLWithPath: path))
      try tampered.examine("page \(page / 4096 + 1)")
      for suffix in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) }
    }
    #expect(pages > 10)
  }

  @Test(arguments: ["primary_index", "index_1", "index_2"]) func anIndexThatDoesNotLeadToItsRowsIsNoticed(
    _ column: String
  ) throws {
    let store = try TemporaryStore()
    for account in ["anna", "berta", "clara"] { try store.add(account) }
    store.keychain.close()
    let path = store.location.databasePath
    let value = try store.raw().blob("SELECT \(column) FROM items WHERE id = 2")
    // The value stands in the row and in the index. A page of an index begins with 10 (a leaf).
    var file = try Data(contentsOf: URL(fileURLWithPath: path))
    let page = try #require(
      stride(from: 4096, to: file.count, by: 4096).first {
        file[$0] == 10 && file[$0..<($0 + 4096)].range(of: Data(value)) != nil
      })
    let place = try #require(file[page..<(page + 4096)].range(of: Data(value)))
    file[place.upperBound - 1] ^= 1
    try file.write(to: URL(fileURLWithPath: path))
    try store.reopen()
    #expect(store.keychain.condition == .readOnly(.fileDamaged))
    #expect(try store.keychain.items(Sample.query("berta")).count == 1)
    refuses(.readOnly) { try store.add("dora") }
  }

  @Test func anItemInADamagedStoreIsKept() throws {
    let store = try TemporaryStore()
    let item = try store.add("anna")
    try store.add("berta")
    try store.alter("UPDATE items SET secret = zeroblob(length(secret)) WHERE id = \(item.rowID)")
    #expect(store.keychain.condition == .readOnly(.manifestMismatch))
    refuses(.decode) { try store.keychain.secret(of: item) }
    #expect(store.keychain.quarantine == [item.rowID])
    refuses(.readOnly) { try store.keychain.delete(item) }
    store.keychain.close()
    #expect(try store.raw().run("SELECT count(*) FROM items") == [[.integer(2)]])
  }
}

// SPDX-License-Identifier: Apache-2.0

import Foundation
import SQLiteDatabase
import TestKit
import Testing

@Suite("A missing file")
struct DamageTests {
  private let test: TemporaryDatabase

  init() throws {
    test = try TemporaryDatabase()
    try test.database.write { tx in
      for number in 0..<500 { try test.add("note \(number)", in: tx) }
    }
    _ = try test.database.checkpointTruncate()
  }

  @Test(
    "A file that was deleted or replaced takes no commit, until it is back",
    arguments: ["", "-wal"], [false, true])
  func moved(suffix: String, isReplaced: Bool) throws {
    try test.database.write { try test.add("before", in: $0) }
    let path = test.path + suffix
    try FileManager.default.moveItem(atPath: path, toPath: path + ".away")
    if isReplaced { try FileManager.default.copyItem(atPath: path + ".away", toPath: path) }
    for _ in 1...2 {
      let error = try #require(throws: SQLiteError.self) {
        try test.database.write { try test.add("lost", in: $0) }
      }
      #expect(error.kind == .moved)
    }
    if isReplaced { try FileManager.default.removeItem(atPath: path) }
    try FileManager.default.moveItem(atPath: path + ".away", toPath: path)
    try test.database.write { try test.add("after", in: $0) }
    #expect(try test.notes().suffix(2) == ["before", "after"])
  }
}

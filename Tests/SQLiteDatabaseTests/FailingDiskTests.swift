// SPDX-License-Identifier: Apache-2.0

import Foundation
import SQLiteDatabase
import TestKit
import Testing

@Suite struct FailingDiskTests {
  private func options(_ disk: FaultyDisk) -> SQLiteDatabase.Options {
    var options = SQLiteDatabase.Options()
    options.vfs = disk.name
    return options
  }

  /// Runs one transaction of three notes against a fault at every call that it makes.
  private func tryEveryCall(
    _ fault: (Int) -> FaultyDisk.Fault, expecting kind: SQLiteError.Kind
  ) throws {
    var calls = 0
    for number in 1...200 {
      let disk = FaultyDisk()
      let test = try TemporaryDatabase(options(disk))
      try test.database.write { try test.add("before", in: $0) }
      disk.arm(fault(number))
      var failure: SQLiteError?
      do {
        try test.database.write { tx in
          for note in ["one", "two", "three"] { try test.add(note, in: tx) }
        }
      } catch let error as SQLiteError {
        failure = error
      }
      let hasFired = disk.hasFired
      disk.repair()
      if let failure { #expect(failure.kind == kind, "call \(number): \(failure)") }
      let now = try test.notes()
      #expect(now == (failure == nil ? ["before", "one", "two", "three"] : ["before"]))
      test.database.close()
      let again = try SQLiteDatabase(path: test.path, access: .readWrite(create: false))
      let later = try again.read { try test.notes(in: $0) }
      // A commit whose sync failed may be on the disk all the same.
      #expect(later == now || later == ["before", "one", "two", "three"])
      calls = number
      if !hasFired { break }
    }
    #expect((3..<200).contains(calls), "the fault was tried at \(calls) calls")
  }

  @Test func anIOErrorAtAnyCallLeavesAllOrNothing() throws {
    try tryEveryCall({ .ioError(at: $0) }, expecting: .io)
  }

  @Test func aFullDiskAtAnyWriteLeavesAllOrNothing() throws {
    try tryEveryCall({ .full(at: $0) }, expecting: .full)
  }

  @Test func whatWasCommittedSurvivesAPowerCutAtAnyCall() throws {
    var cuts = 0
    for number in 1...60 {
      let disk = FaultyDisk()
      let test = try TemporaryDatabase(options(disk))
      disk.arm(.powerCut(at: number, seed: UInt64(number)))
      var committed: [String] = []
      do {
        for note in 0..<6 {
          try test.database.write { try test.add("note \(note)", in: $0) }
          committed.append("note \(note)")
          if note == 3 { _ = try test.database.checkpointTruncate() }
        }
      } catch is SQLiteError {}
      // Another machine sees what the disk kept: the shared memory is gone.
      let other = try TemporaryDirectory()
      for suffix in ["", "-wal"] {
        try FileManager.default.copyItem(
          atPath: test.path + suffix, toPath: other.file("test.sqlite3" + suffix))
      }
      let again = try SQLiteDatabase(
        path: other.file("test.sqlite3"), access: .readWrite(create: false))
      let found = try again.read { try test.notes(in: $0) }
      #expect(Array(found.prefix(committed.count)) == committed, "cut at \(number)")
      #expect(found.count <= committed.count + 1, "cut at \(number)")
      let check = try again.read { try $0.first("PRAGMA integrity_check") { $0.text(0) } }
      #expect(check == "ok")
      if !disk.hasFired { break }
      cuts += 1
    }
    #expect(cuts > 10, "the power was cut \(cuts) times")
  }
}

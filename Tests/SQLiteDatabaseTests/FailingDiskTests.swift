import Foundation
import TestKit
import Testing

@testable import SQLiteDatabase

@Suite struct FailingDiskTests {
  /// With one, a thread moves the log at each commit; with many, none does.
  private static let checkpointPages = [1, 1_000]

  private func database(on disk: FaultyDisk, checkpointPages: Int = 1_000) throws -> TemporaryDatabase {
    var options = SQLiteDatabase.Options()
    options.vfs = disk.name
    options.checkpointPages = checkpointPages
    return try TemporaryDatabase(options)
  }

  @Test(
    "An I/O error at any call, or a full disk at any write, leaves all of a transaction or nothing",
    arguments: checkpointPages) func faults(_ checkpointPages: Int) throws
  {
    for (fault, kind) in [(FaultyDisk.Fault.ioError(at:), SQLiteError.Kind.io), (FaultyDisk.Fault.full(at:), .full)] {
      let fired = try FaultyDisk.tryCalls(fault) { disk, fault in
        let test = try database(on: disk, checkpointPages: checkpointPages)
        try test.database.write { try test.add("before", in: $0) }
        disk.arm(fault)
        var failure: SQLiteError?
        do {
          try test.database.write { tx in for note in ["one", "two", "three"] { try test.add(note, in: tx) } }
        } catch let error as SQLiteError { failure = error }
        disk.repair()
        if let failure { #expect(failure.kind == kind, "\(fault): \(failure)") }
        let now = try test.notes()
        #expect(now == (failure == nil ? ["before", "one", "two", "three"] : ["before"]))
        test.database.close()
        let again = try SQLiteDatabase(path: test.path, access: .readWrite(create: false))
        let later = try again.read { try test.notes(in: $0) }
        // A commit whose sync failed may be on the disk all the same.
        #expect(later == now || later == ["before", "one", "two", "three"])
      }
      #expect(fired >= 2, "the fault came \(fired) times")
    }
  }

  @Test("What was committed survives a power cut at any call", arguments: checkpointPages) func powerCuts(
    _ checkpointPages: Int
  ) throws {
    let cuts = try FaultyDisk.tryCalls({ .powerCut(at: $0, seed: UInt64($0)) }, step: 3) { disk, fault in
      let test = try database(on: disk, checkpointPages: checkpointPages)
      disk.arm(fault)
      var committed: [String] = []
      do {
        for note in 0..<12 {
          try test.database.write { try test.add("note \(note)", in: $0) }
          committed.append("note \(note)")
          if note == 3 { _ = try test.database.checkpointTruncate() }
        }
      } catch is SQLiteError {}
      test.database.checkpoints.close()
      // Another machine sees what the disk kept: the shared memory is gone.
      let other = try TemporaryDirectory()
      for suffix in ["", "-wal"] {
        try FileManager.default.copyItem(atPath: test.path + suffix, toPath: other.file("test.sqlite3" + suffix))
      }
      let again = try SQLiteDatabase(path: other.file("test.sqlite3"), access: .readWrite(create: false))
      let found = try again.read { try test.notes(in: $0) }
      #expect(Array(found.prefix(committed.count)) == committed, "\(fault)")
      #expect(found.count <= committed.count + 1, "\(fault)")
      let check = try again.read { try $0.first("PRAGMA integrity_check") { $0.text(0) } }
      #expect(check == "ok")
    }
    #expect(cuts > 3, "the power was cut \(cuts) times")
  }

  @Test("Where the disk is full the log is not moved, nothing is lost, and it is moved when there is room") func full()
    throws
  {
    let disk = FaultyDisk()
    let test = try database(on: disk)
    let notes = (0..<100).map { "note \($0)" }
    for note in notes { try test.database.write { try test.add(note, in: $0) } }
    disk.arm(.full(at: 1))
    #expect(try failure { try test.database.checkpoints.run() }.kind == .full)
    #expect(try test.notes() == notes)
    disk.repair()
    try test.database.write { try test.add("later", in: $0) }
    try test.database.checkpoints.run()
    #expect(try test.database.checkpointTruncate())
    #expect(try test.notes() == notes + ["later"])
  }
}

import Foundation
import SQLiteDatabase
import TestKit
import Testing

@Suite struct FailingDiskTests {
  private func database(on disk: FaultyDisk) throws -> TemporaryDatabase {
    var options = SQLiteDatabase.Options()
    options.vfs = disk.name
    return try TemporaryDatabase(options)
  }

  @Test("An I/O error at any call, or a full disk at any write, leaves all of a transaction or nothing") func faults()
    throws
  {
    for (fault, kind) in [(FaultyDisk.Fault.ioError(at:), SQLiteError.Kind.io), (FaultyDisk.Fault.full(at:), .full)] {
      let fired = try FaultyDisk.tryCalls(fault) { disk, fault in
        let test = try database(on: disk)
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

  @Test func whatWasCommittedSurvivesAPowerCutAtAnyCall() throws {
    let cuts = try FaultyDisk.tryCalls({ .powerCut(at: $0, seed: UInt64($0)) }, step: 3) { disk, fault in
      let test = try database(on: disk)
      disk.arm(fault)
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
}

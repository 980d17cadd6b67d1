import Foundation
import TestKit
import Testing

@testable import KeychainCore

/// At some moments, and with SOAK_ROUNDS=all in the environment at all of them.
@Suite("A rotation that is cut off leaves the old store or the new one") struct RotationCrashTests {
  /// Another thread kills the process after a number of bytes in the write-ahead log.
  @Test("By a kill while it writes", arguments: Soak.triesAll ? Array(0..<12) : [2, 7]) func kill(_ round: Int)
    async throws
  {
    let rotated = try RotatedStore(items: 400)
    rotated.keychain.close()
    await #expect(processExitsWith: .signal(SIGKILL)) { [home = rotated.store.path as String, round = round as Int] in
      let keychain = try TemporaryStore.open(in: home)
      let log = home + "/store/store.sqlite3-wal"
      let killer = Thread {
        var status = stat()
        while stat(log, &status) != 0 || status.st_size < 4_200 + round * 15_000 { sched_yield() }
        Foundation.kill(getpid(), SIGKILL)
      }
      killer.start()
      while true { try keychain.rotateKeys([.keyFile(path: home + "/store.key")]) }
    }
    try rotated.store.reopen()
    #expect(rotated.keychain.condition == .healthy && rotated.keychain.notices.isEmpty)
    try expectOneState(rotated, items: 400, "round \(round)")
    try rotated.rotate()
    try expectOneState(rotated, items: 400, "round \(round), again")
  }

  /// All items, under one key for each purpose, and all keys of one epoch.
  private func expectOneState(_ rotated: RotatedStore, items: Int, _ comment: Comment) throws {
    #expect(try rotated.contents() == RotatedStore.expected(0..<items), comment)
    #expect(try rotated.newestEpochs().count == 1, comment)
    let records = try rotated.keyRecords().filter { !$0.hasPrefix("11.") }
    #expect(Set(records.map { $0.split(separator: ".")[0] }).count == records.count, comment)
    #expect(try rotated.session() == rotated.newestEpochs().first, comment)
    #expect(try rotated.keychain.verify(.everything) == VerificationReport(items: items), comment)
  }

  private func rotated(on disk: FaultyDisk) throws -> RotatedStore {
    try RotatedStore(items: 9) {
      $0.vfs = disk.name
      $0.anchorInterval = 0
    }
  }

  @Test("By an I/O error at any call, and a full disk at any write") func faults() throws {
    var tried = 0
    for (fault, step) in [(FaultyDisk.Fault.ioError(at:), 17), (FaultyDisk.Fault.full(at:), 7)] {
      let fired = try FaultyDisk.tryCalls(fault, step: step) { disk, fault in
        let rotated = try rotated(on: disk)
        disk.arm(fault)
        let leaked = LeakedKeys(rotated.keychain)
        let isDone = (try? rotated.rotate()) != nil
        disk.repair()
        // In the process that goes on, or in the next one.
        #expect(try rotated.contents() == RotatedStore.expected(0..<9), "\(fault)")
        // SQLite's own check takes a page that cannot be read for a damaged one.
        let isDoubted = rotated.keychain.condition == .readOnly(.fileDamaged)
        tried += 1
        if tried.isMultiple(of: 2) || isDoubted { try rotated.store.reopen() }
        #expect(rotated.keychain.condition == .healthy, "\(fault)")
        // A rotation that has returned leaves the new state, and one that has thrown the old one.
        #expect(try rotated.newestEpochs() == [isDone ? 2 : 1], "\(fault)")
        #expect(try leaked.opens(rotated.keychain).isEmpty == isDone, "\(fault)")
        try expectOneState(rotated, items: 9, "\(fault)")
        try rotated.rotate()
        try expectOneState(rotated, items: 9, "\(fault), again")
      }
      #expect(fired > 2, "the fault came \(fired) times")
    }
  }

  @Test("By a power cut at any call") func powerCut() throws {
    let cuts = try FaultyDisk.tryCalls({ .powerCut(at: $0, seed: UInt64($0)) }, step: 9) { disk, fault in
      let rotated = try rotated(on: disk)
      disk.arm(fault)
      _ = try? rotated.rotate()
      let other = try TemporaryDirectory()
      for name in ["store", "anchor", "store.key"] {
        try FileManager.default.copyItem(atPath: rotated.store.path + "/" + name, toPath: other.file(name))
      }
      // What the disk kept, without the shared memory of the process that is gone.
      try FileManager.default.removeItem(atPath: other.file("store/store.sqlite3-shm"))
      let keychain = try TemporaryStore.open(in: other.path)
      #expect(keychain.condition == .healthy, "\(fault)")
      try keychain.rotateKeys([.keyFile(path: other.file("store.key"))])
      let contents = try keychain.database.read { try RotatedStore.contents(keychain, in: $0) }
      #expect(contents == RotatedStore.expected(0..<9), "\(fault)")
      #expect(try keychain.verify(.everything) == VerificationReport(items: 9))
    }
    #expect(cuts > 1, "the power was cut \(cuts) times")
  }
}

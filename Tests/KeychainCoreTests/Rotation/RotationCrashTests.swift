// SPDX-License-Identifier: Apache-2.0

import Foundation
import SQLiteDatabase
import TestKit
import Testing

@testable import KeychainCore

@Suite("A rotation that is cut off leaves the old store or the new one")
struct RotationCrashTests {
  /// Another thread kills the process after a number of bytes in the write-ahead log.
  @Test("By a kill while it writes", arguments: 0..<12)
  func kill(_ round: Int) async throws {
    let rotated = try RotatedStore(items: 400)
    rotated.keychain.close()
    let (directory, key) = (rotated.store.location.directory, rotated.store.keyFilePath)
    await #expect(processExitsWith: .signal(SIGKILL)) {
      [directory = directory as String, key = key as String, round = round as Int] in
      let keychain = try Keychain.open(
        at: StoreLocation(directory: directory), with: .keyFile(path: key),
        options: RotatedStore.options)
      let log = directory + "/store.sqlite3-wal"
      let killer = Thread {
        var status = stat()
        while stat(log, &status) != 0 || status.st_size < 4_200 + round * 15_000 { sched_yield() }
        Foundation.kill(getpid(), SIGKILL)
      }
      killer.start()
      while true { try keychain.rotateKeys([.keyFile(path: key)]) }
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
    #expect(
      try rotated.keychain.verify(.everything) == VerificationReport(items: items), comment)
  }

  private func tryEveryCall(
    in calls: StrideThrough<Int>, _ fault: (Int) -> FaultyDisk.Fault
  ) throws -> Int {
    var fired = 0
    for number in calls {
      let disk = FaultyDisk()
      var options = RotatedStore.options
      options.vfs = disk.name
      options.anchorInterval = 0
      let rotated = try RotatedStore(items: 9, options: options)
      disk.arm(fault(number))
      let leaked = LeakedKeys(rotated.keychain)
      let isDone = (try? rotated.rotate()) != nil
      let hasFired = disk.hasFired
      disk.repair()
      // In the process that goes on, and in the next one.
      #expect(try rotated.contents() == RotatedStore.expected(0..<9), "call \(number)")
      // SQLite's own check takes a page that cannot be read for a damaged one.
      let isDoubted = rotated.keychain.condition == .readOnly(.fileDamaged)
      if number.isMultiple(of: 2) || isDoubted { try rotated.store.reopen() }
      #expect(rotated.keychain.condition == .healthy, "call \(number)")
      // A rotation that has returned leaves the new state, and one that has thrown the old one.
      #expect(try rotated.newestEpochs() == [isDone ? 2 : 1], "call \(number)")
      #expect(try leaked.opens(rotated.keychain).isEmpty == isDone, "call \(number)")
      try expectOneState(rotated, items: 9, "call \(number)")
      try rotated.rotate()
      try expectOneState(rotated, items: 9, "call \(number), again")
      guard hasFired else { return fired }
      fired += 1
    }
    return fired
  }

  @Test("By an I/O error at any call")
  func ioError() throws {
    let fired = try tryEveryCall(in: stride(from: 1, through: 400, by: 1)) { .ioError(at: $0) }
    #expect((10..<400).contains(fired), "the fault came \(fired) times")
  }

  @Test("By a full disk at any write")
  func fullDisk() throws {
    let fired = try tryEveryCall(in: stride(from: 1, through: 400, by: 1)) { .full(at: $0) }
    #expect((10..<400).contains(fired), "the fault came \(fired) times")
  }

  @Test("By a power cut at any call")
  func powerCut() throws {
    var cuts = 0
    for number in stride(from: 1, through: 200, by: 2) {
      let disk = FaultyDisk()
      var options = RotatedStore.options
      options.vfs = disk.name
      options.anchorInterval = 0
      let rotated = try RotatedStore(items: 9, options: options)
      disk.arm(.powerCut(at: number, seed: UInt64(number)))
      do { try rotated.rotate() } catch {}
      let other = try TemporaryDirectory()
      for name in ["store", "anchor", "store.key"] {
        try FileManager.default.copyItem(
          atPath: rotated.store.path + "/" + name, toPath: other.file(name))
      }
      // What the disk kept, without the shared memory of the process that is gone.
      try FileManager.default.removeItem(atPath: other.file("store/store.sqlite3-shm"))
      let keychain = try Keychain.open(
        at: StoreLocation(directory: other.file("store")),
        with: .keyFile(path: other.file("store.key")))
      #expect(keychain.condition == .healthy, "cut at \(number)")
      try keychain.rotateKeys([.keyFile(path: other.file("store.key"))])
      let contents = try keychain.database.read { try RotatedStore.contents(keychain, in: $0) }
      #expect(contents == RotatedStore.expected(0..<9), "cut at \(number)")
      #expect(try keychain.verify(.everything) == VerificationReport(items: 9))
      if !disk.hasFired { break }
      cuts += 1
    }
    #expect(cuts > 5, "the power was cut \(cuts) times")
  }
}

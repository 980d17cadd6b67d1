// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainCore
import SQLiteDatabase
import TestKit
import Testing

@Suite struct RotationCrashTests {
  /// Every step, the last one included, and one kill after the whole.
  @Test(arguments: 0..<7)
  func aKillAtAnyStepLeavesAStoreThatGoesOn(_ step: Int) async throws {
    let rotated = try RotatedStore()
    rotated.keychain.close()
    let (directory, key) = (rotated.store.location.directory, rotated.store.keyFilePath)
    await #expect(processExitsWith: .signal(SIGKILL)) {
      [directory = directory as String, key = key as String, step = step as Int] in
      let keychain = try Keychain.open(
        at: StoreLocation(directory: directory), with: .keyFile(path: key),
        options: RotatedStore.options)
      var steps = 0
      try keychain.rotateKeys { _ in
        if steps == step { kill(getpid(), SIGKILL) }
        steps += 1
        return true
      }
      kill(getpid(), SIGKILL)
    }
    try expectSound(rotated, "step \(step)")
  }

  /// Somewhere in the middle of what a step does: another thread strikes after a number of bytes in
  /// the write-ahead log.
  @Test(arguments: 0..<12)
  func aKillInTheMiddleOfAStepLeavesAStoreThatGoesOn(_ round: Int) async throws {
    let rotated = try RotatedStore(items: 60)
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
        while stat(log, &status) != 0 || status.st_size < 4_200 + round * 29_000 { sched_yield() }
        kill(getpid(), SIGKILL)
      }
      killer.start()
      while true { try keychain.rotateKeys() }
    }
    try expectSound(rotated, items: 60, "round \(round)")
  }

  private func expectSound(
    _ rotated: RotatedStore, items: Int = 18, _ comment: Comment
  ) throws {
    try rotated.store.reopen()
    let all = RotatedStore.expected(0..<items)
    #expect(rotated.keychain.condition == .healthy && rotated.keychain.notices.isEmpty, comment)
    #expect(try rotated.contents() == all, comment)
    let wasPending = try rotated.keychain.rotationIsPending()
    let report = try rotated.keychain.rotateKeys()
    #expect(report.isFinished && report.wasPending == wasPending, comment)
    #expect(try !rotated.keychain.rotationIsPending(), comment)
    #expect(try rotated.contents() == all, comment)
    let epochs = Set(
      try rotated.keyRecords().filter { !$0.hasPrefix("2.") && !$0.hasPrefix("11.") }
        .compactMap { $0.split(separator: ".").last })
    #expect(epochs.count == 1, comment)
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
      do {
        #expect(try rotated.keychain.rotateKeys().isFinished)
      } catch {}
      let hasFired = disk.hasFired
      disk.repair()
      // In the process that goes on, and in the next one.
      #expect(try rotated.contents() == RotatedStore.expected(0..<9), "call \(number)")
      // SQLite's own check takes a page that cannot be read for a damaged one.
      let isDoubted = rotated.keychain.condition == .readOnly(.fileDamaged)
      if number.isMultiple(of: 2) || isDoubted { try rotated.store.reopen() }
      #expect(rotated.keychain.condition == .healthy, "call \(number)")
      #expect(try rotated.keychain.rotateKeys().isFinished, "call \(number)")
      #expect(try rotated.contents() == RotatedStore.expected(0..<9), "call \(number)")
      #expect(
        try rotated.keychain.verify(.everything) == VerificationReport(items: 9), "call \(number)")
      guard hasFired else { return fired }
      fired += 1
    }
    return fired
  }

  @Test func anIOErrorAtAnyCallLeavesAStoreThatGoesOn() throws {
    let fired = try tryEveryCall(in: stride(from: 1, through: 400, by: 1)) { .ioError(at: $0) }
    #expect((10..<400).contains(fired), "the fault came \(fired) times")
  }

  @Test func aFullDiskAtAnyWriteLeavesAStoreThatGoesOn() throws {
    let fired = try tryEveryCall(in: stride(from: 1, through: 400, by: 1)) { .full(at: $0) }
    #expect((10..<400).contains(fired), "the fault came \(fired) times")
  }

  @Test func aPowerCutAtAnyCallLeavesAStoreThatGoesOn() throws {
    var cuts = 0
    for number in stride(from: 1, through: 200, by: 2) {
      let disk = FaultyDisk()
      var options = RotatedStore.options
      options.vfs = disk.name
      options.anchorInterval = 0
      let rotated = try RotatedStore(items: 9, options: options)
      disk.arm(.powerCut(at: number, seed: UInt64(number)))
      do { try rotated.keychain.rotateKeys() } catch {}
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
      #expect(try keychain.rotateKeys().isFinished)
      let contents = try keychain.database.read { try RotatedStore.contents(keychain, in: $0) }
      #expect(contents == RotatedStore.expected(0..<9), "cut at \(number)")
      #expect(try keychain.verify(.everything) == VerificationReport(items: 9))
      if !disk.hasFired { break }
      cuts += 1
    }
    #expect(cuts > 5, "the power was cut \(cuts) times")
  }
}

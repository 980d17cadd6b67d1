// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainCore
import SQLiteDatabase
import TestKit
import Testing

@Suite struct FailingDiskTests {
  private static let before = ["anna": "secret", "berta": "secret"]
  private static let after = ["berta": "changed", "carla": "secret", "dora": "secret"]

  private func options(_ disk: FaultyDisk) -> KeychainOptions {
    var options = KeychainOptions()
    options.vfs = disk.name
    options.anchorInterval = 0
    return options
  }

  /// Adds, changes and deletes in one transaction.
  private func change(_ keychain: Keychain) throws {
    try keychain.database.write { tx in
      for item in try keychain.items(matching: ItemQuery(), in: tx) {
        if item[.account] == .string("anna") {
          try keychain.delete(item, in: tx)
        } else {
          try keychain.update(item, secret: Sample.secret("changed"), in: tx)
        }
      }
      // The first of its class: its key is made in this transaction.
      try keychain.add(Sample.password("carla", accessible: .always), in: tx)
      try keychain.add(Sample.password("dora"), in: tx)
    }
  }

  private func contents(_ keychain: Keychain) throws -> [String: String] {
    try keychain.database.read { tx in
      var found: [String: String] = [:]
      for item in try keychain.items(matching: ItemQuery(), in: tx) {
        let secret = try keychain.secret(of: item, in: tx)
        found[item[.account]?.string ?? ""] = secret.withUnsafeBytes {
          String(decoding: $0, as: UTF8.self)
        }
      }
      return found
    }
  }

  private func tryEveryCall(least: Int = 4, _ fault: (Int) -> FaultyDisk.Fault) throws {
    var calls = 0
    for number in 1...300 {
      let disk = FaultyDisk()
      let store = try TemporaryStore(options: options(disk))
      for account in Self.before.keys { try store.keychain.add(Sample.password(account)) }
      disk.arm(fault(number))
      var hasFailed = false
      do { try change(store.keychain) } catch { hasFailed = true }
      let hasFired = disk.hasFired
      disk.repair()
      #expect(try contents(store.keychain) == (hasFailed ? Self.before : Self.after))
      try store.reopen()
      #expect(store.keychain.condition == .healthy, "call \(number)")
      let found = try contents(store.keychain)
      // A commit whose sync failed may be on the disk all the same.
      #expect(found == Self.after || (hasFailed && found == Self.before), "call \(number)")
      // And it goes on as if nothing had been.
      try store.keychain.add(Sample.password("emil", accessible: .always))
      #expect(try store.keychain.verify(.everything) == VerificationReport(items: found.count + 1))
      calls = number
      if !hasFired { break }
    }
    #expect((least..<300).contains(calls), "the fault was tried at \(calls) calls")
  }

  @Test func anIOErrorAtAnyCallChangesAllOrNothing() throws {
    try tryEveryCall { .ioError(at: $0) }
  }

  @Test func aFullDiskAtAnyWriteChangesAllOrNothing() throws {
    try tryEveryCall { .full(at: $0) }
  }

  @Test func aShortWriteAtAnyWriteChangesAllOrNothing() throws {
    try tryEveryCall { .shortWrite(at: $0) }
  }

  @Test func aSyncThatFailsAndLosesWhatWasWrittenChangesAllOrNothing() throws {
    try tryEveryCall(least: 1) { .failedSync(at: $0, seed: UInt64($0)) }
  }

  @Test func afterAPowerCutTheStoreIsWholeAndNotBehindItsAnchor() throws {
    var cuts = 0
    for number in stride(from: 1, through: 90, by: 2) {
      guard try tryPowerCut(at: number, seed: UInt64(number)) else { break }
      cuts += 1
    }
    #expect(cuts > 10, "the power was cut \(cuts) times")
  }

  @Test func onADiskThatLiedAboutSyncsWhatIsMissingAfterAPowerCutIsNoticed() throws {
    for number in stride(from: 1, through: 90, by: 6) {
      guard try tryLyingDisk(cutAt: number, seed: UInt64(number)) != nil else { break }
    }
  }

  @Test(
    "Power cuts at every call, on disks that work and on disks that lie",
    .enabled(if: Soak.power.isWanted, "`make soak` runs it"))
  func soakPower() async throws {
    try await Soak.power.measure { ledger in
      var told = 0
      for seed in UInt64(0)..<2 {
        for number in 1...400 {
          guard try tryPowerCut(at: number, seed: seed << 32 | UInt64(number)) else { break }
          ledger.round()
        }
        for number in 1...400 {
          guard let isTold = try tryLyingDisk(cutAt: number, seed: seed << 32 | UInt64(number))
          else { break }
          told += isTold ? 1 : 0
          ledger.round()
        }
      }
      ledger.name(
        "condition of the store: damaged or older than its anchor, \(told) times on disks that lied"
      )
    }
  }

  /// - Returns: whether the power was cut: otherwise there were fewer calls.
  private func tryPowerCut(at number: Int, seed: UInt64) throws -> Bool {
    let disk = FaultyDisk()
    let store = try TemporaryStore(options: options(disk))
    disk.arm(.powerCut(at: number, seed: seed))
    let committed = work(store.keychain)
    let found = try opened(asAnotherMachineFindsIt: store)
    try Soak.check(
      committed.allSatisfy { found[$0] == "secret" } && found.count <= committed.count + 1,
      "cut at \(number), seed \(seed): \(found.keys.sorted()) of \(committed)")
    return disk.hasFired
  }

  /// No program can keep what the disk throws away. But it has to notice.
  ///
  /// - Returns: whether something was missing, which was noticed; nil when the power was not cut.
  private func tryLyingDisk(cutAt number: Int, seed: UInt64) throws -> Bool? {
    let disk = FaultyDisk()
    let store = try TemporaryStore(options: options(disk))
    disk.arm(.lyingSync(cutAt: number, seed: seed))
    let committed = work(store.keychain)
    var isNoticed = false
    do {
      let found = try opened(asAnotherMachineFindsIt: store, mayBeDamaged: true)
      let isWhole = committed.allSatisfy { found[$0] == "secret" }
      try Soak.check(
        isWhole && found.count <= committed.count + 1,
        "cut at \(number), seed \(seed): silently \(found.keys.sorted()) of \(committed)")
    } catch is KeychainError {
      isNoticed = true
    } catch is SQLiteError {
      isNoticed = true
    } catch is Noticed {
      isNoticed = true
    }
    return disk.hasFired ? isNoticed : nil
  }

  private struct Noticed: Error {}

  /// - Returns: what was committed until the disk failed.
  private func work(_ keychain: Keychain) -> [String] {
    var committed: [String] = []
    do {
      for account in 0..<8 {
        let item = try keychain.add(Sample.password("user \(account)"))
        committed.append("user \(account)")
        // Deleting cuts the log, so that the database itself is written too.
        if account % 3 == 2 {
          // One that is being deleted may be there or not.
          committed.removeLast()
          try keychain.delete(item)
        }
      }
    } catch {
      // The power is gone.
    }
    return committed
  }

  /// What the disk kept, without the shared memory of the process that is gone.
  ///
  /// - Parameter mayBeDamaged: throws `Noticed` where the store is not whole, or says so.
  private func opened(
    asAnotherMachineFindsIt store: TemporaryStore, mayBeDamaged: Bool = false
  ) throws -> [String: String] {
    let other = try TemporaryDirectory()
    let files = FileManager.default
    for name in ["store", "anchor", "store.key"] {
      try files.copyItem(atPath: store.path + "/" + name, toPath: other.file(name))
    }
    try files.removeItem(atPath: other.file("store/store.sqlite3-shm"))
    let keychain = try Keychain.open(
      at: StoreLocation(directory: other.file("store")),
      with: .keyFile(path: other.file("store.key")))
    let isHealthy = keychain.condition == .healthy && keychain.notices.isEmpty
    if mayBeDamaged, !isHealthy { throw Noticed() }
    #expect(isHealthy)
    let report = try keychain.verify(.everything)
    let isWhole = report.unreadable.isEmpty && report.matchesManifest
    if mayBeDamaged, !isWhole { throw Noticed() }
    #expect(isWhole)
    return try contents(keychain)
  }
}

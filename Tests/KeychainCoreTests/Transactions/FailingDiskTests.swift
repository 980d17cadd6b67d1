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

  /// - Parameters:
  ///   - least: how often the fault has to come, at different calls.
  ///   - loses: whether it takes back what was written.
  private func tryEveryCall(
    least: Int = 4, loses: Bool = false, _ fault: (Int) -> FaultyDisk.Fault
  ) throws {
    var (fired, failed, lost) = (0, 0, 0)
    var isOver = false
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
      fired += hasFired ? 1 : 0
      failed += hasFailed ? 1 : 0
      lost += disk.lost
      isOver = !hasFired
      if isOver { break }
    }
    #expect(isOver, "there was no end")
    #expect(fired >= least && failed > 0, "it came \(fired) times, and failed \(failed)")
    #expect((lost > 0) == loses, "\(lost) sectors were lost")
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
    try tryEveryCall(least: 1, loses: true) { .failedSync(at: $0, seed: UInt64($0)) }
  }

  @Test func afterAPowerCutTheStoreIsWholeAndNotBehindItsAnchor() throws {
    var tally = Tally()
    for number in stride(from: 1, through: 90, by: 2) {
      guard try tryPowerCut(at: number, seed: UInt64(number), &tally) else { break }
    }
    #expect(tally.cuts > 10 && tally.losses > 0, "\(tally)")
  }

  @Test func onADiskThatLiedAboutSyncsWhatIsMissingAfterAPowerCutIsNoticed() throws {
    var tally = Tally()
    for number in stride(from: 1, through: 90, by: 6) {
      guard try tryLyingDisk(cutAt: number, seed: UInt64(number), &tally) else { break }
    }
    #expect(tally.cuts > 5 && tally.losses > 5 && tally.noticed > 0, "\(tally)")
  }

  @Test(
    "Power cuts at every call, on disks that work and on disks that lie",
    .enabled(if: Soak.power.isWanted, "`make soak` runs it"))
  func soakPower() async throws {
    try await Soak.power.measure { ledger in
      var (honest, lying) = (Tally(), Tally())
      for seed in UInt64(1)...2 {
        let seed = seed << 32
        for number in 1...400 {
          guard try tryPowerCut(at: number, seed: seed | UInt64(number), &honest) else { break }
          ledger.round()
        }
        for number in 1...400 {
          guard try tryLyingDisk(cutAt: number, seed: seed | UInt64(number), &lying) else { break }
          ledger.round()
        }
      }
      for tally in [honest, lying] {
        try Soak.check(tally.cuts > 20 && tally.losses > 20, "\(honest), \(lying)")
      }
      try Soak.check(lying.noticed > 0, "\(lying)")
      ledger.name(
        "condition of the store, or an error at its opening: \(lying.noticed) times on disks that lied"
      )
    }
  }

  /// What faults came to.
  private struct Tally {
    var cuts = 0
    /// Cuts that took back what was written.
    var losses = 0
    /// Stores that said that they are damaged, or older than their anchor.
    var noticed = 0

    mutating func count(_ disk: FaultyDisk, isNoticed: Bool = false) {
      cuts += disk.hasFired ? 1 : 0
      losses += disk.lost > 0 ? 1 : 0
      noticed += disk.hasFired && isNoticed ? 1 : 0
    }
  }

  /// - Returns: whether the power was cut: otherwise there were fewer calls.
  private func tryPowerCut(at number: Int, seed: UInt64, _ tally: inout Tally) throws -> Bool {
    let disk = FaultyDisk()
    let store = try TemporaryStore(options: options(disk))
    disk.arm(.powerCut(at: number, seed: seed))
    let committed = work(store.keychain)
    let found = try opened(asAnotherMachineFindsIt: store)
    try Soak.check(
      committed.allSatisfy { found[$0] == "secret" } && found.count <= committed.count + 1,
      "cut at \(number), seed \(seed): \(found.keys.sorted()) of \(committed)")
    tally.count(disk)
    return disk.hasFired
  }

  /// No program can keep what the disk throws away. But it has to notice.
  ///
  /// - Returns: as `tryPowerCut`.
  private func tryLyingDisk(
    cutAt number: Int, seed: UInt64, _ tally: inout Tally
  ) throws -> Bool {
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
    tally.count(disk, isNoticed: isNoticed)
    return disk.hasFired
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

import Foundation
import KeychainCore
import SQLiteDatabase
import TestKit
import Testing

/// Some calls are tried; with SOAK_ROUNDS=all in the environment all are.
@Suite struct FailingDiskTests {
  private static let before = ["anna": "secret", "berta": "secret"]
  private static let after = ["berta": "changed", "carla": "secret", "dora": "secret"]

  private func store(on disk: FaultyDisk) throws -> TemporaryStore {
    try TemporaryStore {
      $0.vfs = disk.name
      $0.anchorInterval = 0
    }
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
      try keychain.add("carla", accessible: .always, in: tx)
      try keychain.add("dora", in: tx)
    }
  }

  private func contents(_ keychain: Keychain) throws -> [String: String] {
    try keychain.database.read { try RotatedStore.contents(keychain, in: $0) }
  }

  /// - Parameters:
  ///   - least: how often the fault has to come, at different calls.
  ///   - loses: whether it takes back what was written.
  private func tryCalls(least: Int = 3, loses: Bool = false, _ fault: (Int) -> FaultyDisk.Fault) throws {
    var (failed, lost) = (0, 0)
    let fired = try FaultyDisk.tryCalls(fault, step: least > 1 ? 2 : 1) { disk, fault in
      let store = try store(on: disk)
      for account in Self.before.keys { try store.add(account) }
      disk.arm(fault)
      let hasFailed = (try? change(store.keychain)) == nil
      disk.repair()
      #expect(try contents(store.keychain) == (hasFailed ? Self.before : Self.after), "\(fault)")
      try store.reopen()
      #expect(store.keychain.condition == .healthy, "\(fault)")
      let found = try contents(store.keychain)
      // A commit whose sync failed may be on the disk all the same.
      #expect(found == Self.after || (hasFailed && found == Self.before), "\(fault)")
      // And it goes on as if nothing had been.
      try store.add("emil", accessible: .always)
      #expect(try store.keychain.verify(.everything) == VerificationReport(items: found.count + 1))
      failed += hasFailed ? 1 : 0
      lost += disk.lost
    }
    #expect(fired >= least && failed > 0, "it came \(fired) times, and failed \(failed)")
    #expect((lost > 0) == loses, "\(lost) sectors were lost")
  }

  @Test("An error at any call, a full disk or a short write changes all or nothing") func faults() throws {
    try tryCalls { .ioError(at: $0) }
    try tryCalls { .full(at: $0) }
    try tryCalls { .shortWrite(at: $0) }
  }

  @Test func aSyncThatFailsAndLosesWhatWasWrittenChangesAllOrNothing() throws {
    try tryCalls(least: 1, loses: true) { .failedSync(at: $0, seed: UInt64($0)) }
  }

  /// `make soak` cuts the power at every call.
  @Test func afterAPowerCutTheStoreIsWholeAndNotBehindItsAnchor() throws {
    var tally = Tally()
    for number in stride(from: 1, through: 90, by: 5) {
      guard try tryPowerCut(at: number, seed: UInt64(number), &tally) else { break }
    }
    #expect(tally.cuts > 5 && tally.losses > 0, "\(tally)")
  }

  @Test func onADiskThatLiedAboutSyncsWhatIsMissingAfterAPowerCutIsNoticed() throws {
    var tally = Tally()
    for number in stride(from: 1, through: 90, by: 12) {
      guard try tryLyingDisk(cutAt: number, seed: UInt64(number), &tally) else { break }
    }
    #expect(tally.cuts > 2 && tally.losses > 2 && tally.noticed > 0, "\(tally)")
  }

  @Test(
    "Power cuts at every call, on disks that work and on disks that lie",
    .enabled(if: Soak.power.isWanted, "`make soak` runs it")) func soakPower() async throws
  {
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
      for tally in [honest, lying] { try Soak.check(tally.cuts > 20 && tally.losses > 20, "\(honest), \(lying)") }
      try Soak.check(lying.noticed > 0, "\(lying)")
      ledger.name("condition of the store, or an error at its opening: \(lying.noticed) times on disks that lied")
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
    let store = try store(on: disk)
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
  private func tryLyingDisk(cutAt number: Int, seed: UInt64, _ tally: inout Tally) throws -> Bool {
    let disk = FaultyDisk()
    let store = try store(on: disk)
    disk.arm(.lyingSync(cutAt: number, seed: seed))
    let committed = work(store.keychain)
    var isNoticed = false
    do {
      let found = try opened(asAnotherMachineFindsIt: store, mayBeDamaged: true)
      let isWhole = committed.allSatisfy { found[$0] == "secret" }
      try Soak.check(
        isWhole && found.count <= committed.count + 1,
        "cut at \(number), seed \(seed): silently \(found.keys.sorted()) of \(committed)")
    } catch is KeychainError { isNoticed = true } catch is SQLiteError { isNoticed = true } catch is Noticed {
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
        let item = try keychain.add("user \(account)")
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
  private func opened(asAnotherMachineFindsIt store: TemporaryStore, mayBeDamaged: Bool = false) throws -> [String:
    String]
  {
    let other = try TemporaryDirectory()
    let files = FileManager.default
    for name in ["store", "anchor", "store.key"] {
      try files.copyItem(atPath: store.path + "/" + name, toPath: other.file(name))
    }
    try files.removeItem(atPath: other.file("store/store.sqlite3-shm"))
    let keychain = try TemporaryStore.open(in: other.path)
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

/// A commit of records on a disk that fails.
@Suite struct FailingRecordsTests {
  private static let before: [Int64: [String?]] = [
    1: ["router 1", "dataset 1"], 2: ["router 2", "dataset 2"], 3: ["alert", nil],
  ]
  private static let after: [Int64: [String?]] = [
    1: ["router 1 again", "dataset 1"], 2: ["router 2 again", nil], 4: ["new", "dataset 2"],
  ]

  private func change(_ records: SealedRecords) throws {
    var changes = RecordChanges.of(
      .sample(1, "router 1 again"), .sample(2, "router 2 again", .none), .init(id: RecordID(3), home: 7, state: nil),
      .sample(4, "new", .copy(of: RecordID(2))))
    changes.messages = [StoredMessage(id: 2, bytes: [2])]
    changes.published = 1
    try records.commit(changes)
  }

  @Test("An error at any call, a full disk or a sync that loses what was written changes all or nothing") func faults()
    throws
  {
    for (step, fault) in [
      (3, FaultyDisk.Fault.ioError(at:)), (2, FaultyDisk.Fault.full(at:)),
      (1, { .failedSync(at: $0, seed: UInt64($0)) }),
    ] as [(Int, (Int) -> FaultyDisk.Fault)] {
      var failed = 0
      _ = try FaultyDisk.tryCalls(fault, step: step) { disk, fault in
        let store = try TemporaryStore { $0.vfs = disk.name }
        var first = RecordChanges.of(Self.before.map { .sample($0, $1[0] ?? "", $1[1].map { .text($0) } ?? .none) })
        first.messages = [StoredMessage(id: 1, bytes: [1])]
        try SealedRecords(store.keychain).commit(first)
        disk.arm(fault)
        let hasFailed = (try? change(SealedRecords(store.keychain))) == nil
        disk.repair()
        func expectOne(of expected: [[Int64: [String?]]]) throws {
          let records = SealedRecords(store.keychain)
          let found = try records.contents()
          #expect(expected.contains(found), "\(fault)")
          let messages = try records.messages(after: 0, limit: 9).map(\.id)
          #expect(messages == (found == Self.after ? [2] : [1]), "\(fault)")
        }
        try expectOne(of: [hasFailed ? Self.before : Self.after])
        try store.reopen()
        // A commit whose sync failed may be on the disk all the same.
        try expectOne(of: hasFailed ? [Self.before, Self.after] : [Self.after])
        #expect(store.keychain.condition == .healthy, "\(fault)")
        // And it goes on as if nothing had been.
        try SealedRecords(store.keychain).commit(.of(.sample(1, "on"), .sample(5, "on")))
        let report = try store.keychain.verify(.everything)
        #expect(report.matchesManifest && report.unreadableRecords == [], "\(fault)")
        failed += hasFailed ? 1 : 0
      }
      #expect(failed > 0)
    }
  }
}

@Suite("A daemon's store that comes to rest") struct RestingStoreTests {
  private func logSize(_ store: TemporaryStore) throws -> Int? {
    try FileManager.default.attributesOfItem(atPath: store.location.databasePath + "-wal")[.size] as? Int
  }

  @Test("A full disk, or an error of it at any call, leaves the log as it is, and is no failure of the store")
  func faults() throws {
    for fault in [FaultyDisk.Fault.full(at:), FaultyDisk.Fault.ioError(at:)] {
      let fired = try FaultyDisk.tryCalls(fault) { disk, fault in
        let store = try TemporaryStore {
          $0.vfs = disk.name
          $0.defersUpkeep = true
        }
        let records = SealedRecords(store.keychain)
        for number in 1...3 as ClosedRange<Int64> { try records.commit(.of(.sample(number, "router \(number)"))) }
        disk.arm(fault)
        try records.rest()
        disk.repair()
        #expect(records.condition == .healthy, "\(fault)")
        #expect(
          try records.contents() == [1: ["router 1", nil], 2: ["router 2", nil], 3: ["router 3", nil]], "\(fault)")
        try records.commit(.of(.sample(4, "later")))
        try records.rest()
        #expect(try logSize(store) == 0, "\(fault)")
      }
      #expect(fired > 0)
    }
  }

  @Test("A damaged file is a failure, which makes the store read-only") func damaged() throws {
    let store = try TemporaryStore { $0.defersUpkeep = true }
    let records = SealedRecords(store.keychain)
    try records.commit(.of(.sample(1, String(repeating: "a", count: 400_000))))
    try records.rest()
    try records.commit(.of(.sample(2, "b")))
    let file = try FileHandle(forWritingTo: URL(fileURLWithPath: store.location.databasePath))
    try file.truncate(atOffset: 4_096)
    try file.close()
    let error = try #require(throws: KeychainError.self) { try records.rest() }
    #expect(error.cause?.kind == .corrupt)
    records.noteFailure(error)
    #expect(records.condition != .healthy)
  }
}

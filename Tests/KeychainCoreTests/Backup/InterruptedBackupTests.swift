import Foundation
import KeychainCore
import TestKit
import Testing

/// Backups and restores that are cut off, by kill -9 in a process of its own, or by a disk that fails. With
/// SOAK_ROUNDS=all in the environment at many more moments.
@Suite struct InterruptedBackupTests {
  private static let before = Set((0..<6).map { "user \($0)" })
  private static let after = Set((6..<12).map { "user \($0)" })
  private static let backupDelays: [UInt32] = Soak.triesAll ? [0, 500, 3_000, 9_000] : [500]
  private static let restoreDelays: [UInt32] =
    Soak.triesAll ? [0, 2_000, 10_000, 30_000, 60_000, 90_000, 120_000, 160_000] : [2_000, 30_000]

  /// Ends this process when a name that begins so appears in the directory, some microseconds later.
  private static func killer(whenThereIs beginning: String, in directory: String, after microseconds: UInt32) {
    let thread = Thread {
      while !Self.names(directory).contains(where: { $0.hasPrefix(beginning) }) { sched_yield() }
      usleep(microseconds)
      kill(getpid(), SIGKILL)
    }
    thread.start()
  }

  private static func names(_ directory: String) -> [String] {
    (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
  }

  private func store(items: Int) throws -> TemporaryStore {
    let store = try TemporaryStore()
    try store.keychain.database.write { tx in
      for number in 0..<items { try store.keychain.add("user \(number)", in: tx) }
    }
    return store
  }

  @Test(arguments: backupDelays) func aKilledBackupLeavesNoBackup(_ delay: UInt32) async throws {
    let store = try store(items: 1_500)
    await #expect(processExitsWith: .signal(SIGKILL)) { [home = store.path as String, delay = delay as UInt32] in
      let keychain = try TemporaryStore.open(in: home, access: .readOnly)
      Self.killer(whenThereIs: "backup.new-", in: home, after: delay)
      // Again and again, so that it is killed in one, however fast the disk is.
      while true { _ = try keychain.backup(to: home + "/backup", replacing: true) }
    }
    // What has the name is whole, of an earlier round; and the next one goes its way.
    let path = store.path + "/backup"
    if FileManager.default.fileExists(atPath: path) {
      let other = try TemporaryDirectory()
      _ = try Keychain.restore(path, to: StoreLocation(directory: other.file("store")), with: [store.keyFile])
    }
    #expect(try store.keychain.backup(to: path, replacing: true).items == 1_500)
    #expect(store.keychain.condition == .healthy)
  }

  @Test(arguments: restoreDelays) func aKilledRestoreLeavesTheOldStoreOrTheNewOne(_ delay: UInt32) async throws {
    let store = try store(items: 600)
    let path = store.path + "/backup"
    _ = try store.keychain.backup(to: path)
    try store.add("later")
    store.keychain.close()
    await #expect(processExitsWith: .signal(SIGKILL)) { [home = store.path as String, delay = delay as UInt32] in
      Self.killer(whenThereIs: "store.restoring", in: home, after: delay)
      _ = try Keychain.restore(
        home + "/backup", to: StoreLocation(directory: home + "/store"), with: [.keyFile(path: home + "/store.key")],
        replacing: true)
      kill(getpid(), SIGKILL)
    }
    try store.reopen()
    #expect(store.keychain.condition == .healthy)
    #expect(try [600, 601].contains(store.keychain.items(ItemQuery()).count))
    #expect(try store.keychain.verify(.everything).matchesManifest)
    store.keychain.close()
    _ = try Keychain.restore(path, to: store.location, with: [store.keyFile], replacing: true)
    #expect(!Self.names(store.path).contains("store.restoring"))
    try store.reopen()
    #expect(try store.keychain.items(ItemQuery()).count == 600)
    #expect(store.keychain.condition == .healthy)
  }

  /// Of a store that has gone on to the accounts of after; its backup has those of before.
  private func restore(_ store: TemporaryStore, _ disk: FaultyDisk) throws {
    _ = try Keychain.restore(
      store.path + "/backup", to: store.location, with: [store.keyFile], replacing: true, options: options(disk))
  }

  private func options(_ disk: FaultyDisk) -> KeychainOptions {
    var options = KeychainOptions()
    options.vfs = disk.name
    options.anchorInterval = 0
    options.auditor = "tester"
    return options
  }

  @Test("An error of the disk at any call of a restore leaves the old store or the new one") func failingRestore()
    throws
  {
    for (fault, step, least) in [(FaultyDisk.Fault.ioError(at:), 11, 3), (FaultyDisk.Fault.full(at:), 4, 1)] {
      let fired = try FaultyDisk.tryCalls(fault, step: step) { disk, fault in
        let store = try TemporaryStore(options: options(disk))
        for account in Self.before.sorted() { try store.add(account) }
        _ = try store.keychain.backup(to: store.path + "/backup")
        for item in try store.keychain.items(ItemQuery()) { try store.keychain.delete(item) }
        for account in Self.after.sorted() { try store.add(account) }
        func expect(_ accounts: Set<String>) throws {
          #expect(try store.keychain.accounts() == accounts, "\(fault)")
          #expect(store.keychain.condition == .healthy, "\(fault)")
          #expect(try store.keychain.verify(.everything) == VerificationReport(items: 6))
          #expect(try store.keychain.auditProblem() == nil, "\(fault)")
          #expect(!Self.names(store.path).contains { $0.hasSuffix(".restoring") }, "\(fault)")
        }
        var hasFailed = false
        try store.reopen {
          disk.arm(fault)
          hasFailed = (try? restore(store, disk)) == nil
          disk.repair()
        }
        // Never one in between, and the backup can be had again.
        try expect(hasFailed ? Self.after : Self.before)
        try store.reopen { try restore(store, disk) }
        try expect(Self.before)
      }
      #expect(fired >= least, "the fault came \(fired) times")
    }
  }

  @Test func aDiskThatFailsAnywhereLeavesNoHalfBackup() throws {
    for (fault, step) in [(FaultyDisk.Fault.ioError(at:), 3), (FaultyDisk.Fault.full(at:), 2)] {
      let fired = try FaultyDisk.tryCalls(fault, step: step) { disk, fault in
        let store = try TemporaryStore(options: options(disk))
        for number in 0..<3 { try store.add("user \(number)") }
        let path = store.path + "/backup"
        disk.arm(fault)
        let isMade = (try? store.keychain.backup(to: path)) != nil
        disk.repair()
        #expect(FileManager.default.fileExists(atPath: path) == isMade)
        #expect(!Self.names(store.path).contains { $0.contains(".new") })
        // What could not be read while it was verified counts as damaged.
        if store.keychain.condition != .healthy { try store.reopen() }
        #expect(store.keychain.condition == .healthy)
      }
      #expect(fired > 1)
    }
  }

  @Test("What progress throws ends a backup, and nothing is left of it") func stopped() throws {
    let store = try TemporaryStore()
    // Enough for SQLite to report its progress.
    try store.keychain.database.write { tx in
      try tx.execute(
        """
        CREATE TABLE other AS
        WITH RECURSIVE numbers (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM numbers)
        SELECT number FROM numbers LIMIT 20000
        """)
    }
    let path = store.path + "/backup"
    let error = #expect(throws: KeychainError.self) {
      try store.keychain.backup(to: path) { _, _ in throw KeychainError(.userCanceled, "stopped by a test") }
    }
    #expect(error?.status == .userCanceled && error?.message == "stopped by a test")
    #expect(!Self.names(store.path).contains { $0.hasPrefix("backup") })
    #expect(throws: Never.self) { try store.keychain.backup(to: path) }
  }
}

// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainCore
import TestKit
import Testing

/// A disk that fails while a backup is put in place, or the file is rewritten.
@Suite struct FailingRestoreTests {
  private static let before = Set((0..<6).map { "user \($0)" })
  private static let after = Set((6..<12).map { "user \($0)" })

  private func options(_ disk: FaultyDisk) -> KeychainOptions {
    var options = KeychainOptions()
    options.vfs = disk.name
    options.anchorInterval = 0
    options.auditor = "tester"
    return options
  }

  private func accounts(_ keychain: Keychain) throws -> Set<String> {
    Set(try keychain.items(ItemQuery()).compactMap { $0[.account]?.string })
  }

  private func expectSound(_ store: TemporaryStore, _ comment: Comment) throws {
    #expect(store.keychain.condition == .healthy, comment)
    #expect(
      try store.keychain.verify(.everything) == VerificationReport(items: 6), comment)
    #expect(try store.keychain.auditProblem() == nil, comment)
    let names = try FileManager.default.contentsOfDirectory(atPath: store.path)
    #expect(!names.contains { $0.hasSuffix(".restoring") }, comment)
  }

  /// A backup with the accounts of before, and a store that went on to those of after.
  private func store(_ disk: FaultyDisk) throws -> TemporaryStore {
    let store = try TemporaryStore(options: options(disk))
    for account in Self.before.sorted() { try store.keychain.add(Sample.password(account)) }
    _ = try store.keychain.backup(to: store.path + "/backup")
    for item in try store.keychain.items(ItemQuery()) { try store.keychain.delete(item) }
    for account in Self.after.sorted() { try store.keychain.add(Sample.password(account)) }
    return store
  }

  private func restoreWithEveryFault(
    in numbers: StrideThrough<Int>, _ fault: (Int) -> FaultyDisk.Fault
  ) throws -> Int {
    var fired = 0
    for number in numbers {
      let disk = FaultyDisk()
      let store = try store(disk)
      var hasFailed = false
      var hasFired = false
      try store.reopen {
        disk.arm(fault(number))
        do {
          _ = try Keychain.restore(
            store.path + "/backup", to: store.location, with: [store.keyFile], replacing: true,
            options: options(disk))
        } catch { hasFailed = true }
        hasFired = disk.hasFired
        disk.repair()
      }
      // The old store or the new one, and never one in between.
      let found = try accounts(store.keychain)
      #expect(found == (hasFailed ? Self.after : Self.before), "call \(number)")
      try expectSound(store, "call \(number)")
      // And it can be had again.
      try store.reopen {
        _ = try Keychain.restore(
          store.path + "/backup", to: store.location, with: [store.keyFile], replacing: true,
          options: options(disk))
      }
      #expect(try accounts(store.keychain) == Self.before, "call \(number)")
      try expectSound(store, "call \(number)")
      guard hasFired else { return fired }
      fired += 1
    }
    return fired
  }

  @Test func anIOErrorAtAnyCallOfARestoreLeavesTheOldStoreOrTheNewOne() throws {
    let fired = try restoreWithEveryFault(in: stride(from: 1, through: 400, by: 1)) {
      .ioError(at: $0)
    }
    #expect((10..<400).contains(fired), "the fault came \(fired) times")
  }

  @Test func aFullDiskAtAnyWriteOfARestoreLeavesTheOldStoreOrTheNewOne() throws {
    let fired = try restoreWithEveryFault(in: stride(from: 1, through: 400, by: 1)) {
      .full(at: $0)
    }
    #expect((3..<400).contains(fired), "the fault came \(fired) times")
  }
}

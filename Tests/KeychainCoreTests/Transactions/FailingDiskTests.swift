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

  private func tryEveryCall(_ fault: (Int) -> FaultyDisk.Fault) throws {
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
    #expect((4..<300).contains(calls), "the fault was tried at \(calls) calls")
  }

  @Test func anIOErrorAtAnyCallChangesAllOrNothing() throws {
    try tryEveryCall { .ioError(at: $0) }
  }

  @Test func aFullDiskAtAnyWriteChangesAllOrNothing() throws {
    try tryEveryCall { .full(at: $0) }
  }

  @Test func afterAPowerCutTheStoreIsWholeAndNotBehindItsAnchor() throws {
    var cuts = 0
    for number in stride(from: 1, through: 90, by: 2) {
      let disk = FaultyDisk()
      let store = try TemporaryStore(options: options(disk))
      disk.arm(.powerCut(at: number, seed: UInt64(number)))
      var committed: [String] = []
      do {
        for account in 0..<8 {
          let item = try store.keychain.add(Sample.password("user \(account)"))
          committed.append("user \(account)")
          // Deleting cuts the log, so that the database itself is written too.
          if account % 3 == 2 {
            try store.keychain.delete(item)
            committed.removeLast()
          }
        }
      } catch is KeychainError {
      } catch is SQLiteError {
      }
      let found = try opened(asAnotherMachineFindsIt: store)
      #expect(committed.allSatisfy { found[$0] == "secret" }, "cut at \(number)")
      #expect(found.count <= committed.count + 1, "cut at \(number)")
      if !disk.hasFired { break }
      cuts += 1
    }
    #expect(cuts > 10, "the power was cut \(cuts) times")
  }

  /// What the disk kept, without the shared memory of the process that is gone.
  private func opened(asAnotherMachineFindsIt store: TemporaryStore) throws -> [String: String] {
    let other = try TemporaryDirectory()
    let files = FileManager.default
    for name in ["store", "anchor", "store.key"] {
      try files.copyItem(atPath: store.path + "/" + name, toPath: other.file(name))
    }
    try files.removeItem(atPath: other.file("store/store.sqlite3-shm"))
    let keychain = try Keychain.open(
      at: StoreLocation(directory: other.file("store")),
      with: .keyFile(path: other.file("store.key")))
    #expect(keychain.condition == .healthy && keychain.notices.isEmpty)
    let report = try keychain.verify(.everything)
    #expect(report.unreadable.isEmpty && report.matchesManifest)
    return try contents(keychain)
  }
}

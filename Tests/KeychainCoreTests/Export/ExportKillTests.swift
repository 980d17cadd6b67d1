// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainCore
import TestKit
import Testing

/// kill -9 and a failing disk in the middle of exports and imports.
@Suite struct ExportKillTests {
  private static let items = 400

  private func filled(_ options: KeychainOptions = ExportedFile.options()) throws -> TemporaryStore
  {
    let store = try TemporaryStore(options: options)
    try store.keychain.database.write { tx in
      for number in 0..<Self.items {
        try store.keychain.add(Sample.password("user \(number)"), in: tx)
      }
    }
    return store
  }

  /// In the first pass, in the transaction at several places, and after the last item.
  @Test(arguments: [10, 50, 55, 75, 99, 100])
  func aKilledImportLeavesTheStoreAsItWas(_ percent: Int) async throws {
    let file = try ExportedFile()
    // So large that there are many chunks, and that SQLite writes pages before the commit.
    let from = try TemporaryStore(options: ExportedFile.options())
    try from.keychain.database.write { tx in
      for number in 0..<100 {
        try from.keychain.add(
          Sample.password("user \(number)", secret: String(repeating: "x", count: 20_000)), in: tx)
      }
    }
    try file.export(from.keychain)
    let to = try TemporaryStore(options: ExportedFile.options())
    try to.keychain.add(Sample.password("here before"))
    let before = try to.keychain.portrait()
    to.keychain.close()
    let (directory, key, path) = (to.location.directory, to.keyFilePath, file.path)
    await #expect(processExitsWith: .signal(SIGKILL)) {
      [
        directory = directory as String, key = key as String, path = path as String,
        percent = percent as Int
      ] in
      let keychain = try Keychain.open(
        at: StoreLocation(directory: directory), with: .keyFile(path: key))
      var plan = ItemImport()
      plan.progress = { done, total in
        if done * 100 >= total * percent, percent < 100 { kill(getpid(), SIGKILL) }
      }
      plan.willCommit = { _ in kill(getpid(), SIGKILL) }
      let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
      _ = try keychain.importItems(
        from: file.fileDescriptor, name: path, passphrase: Sample.secret(ExportedFile.passphrase),
        plan)
    }
    try to.reopen()
    #expect(to.keychain.condition == .healthy)
    #expect(try to.keychain.portrait() == before)
    #expect(try to.keychain.verify(.everything) == VerificationReport(items: 1))
    // And then it goes its way.
    #expect(try file.import(to: to.keychain).added == 100)
    #expect(try to.keychain.verify(.everything) == VerificationReport(items: 101))
  }

  @Test func aKilledExportLeavesNoFileOfThatName() async throws {
    let store = try filled()
    store.keychain.close()
    let file = try ExportedFile()
    let (directory, key, path) = (store.location.directory, store.keyFilePath, file.path)
    await #expect(processExitsWith: .signal(SIGKILL)) {
      [directory = directory as String, key = key as String, path = path as String] in
      var options = KeychainOptions()
      options.passwordHash = .floor
      let keychain = try Keychain.open(
        at: StoreLocation(directory: directory), with: .keyFile(path: key), options: options)
      let draft = try ExportDraft(path, replacing: false)
      _ = try keychain.exportItems(
        to: draft.descriptor, name: path, passphrase: Sample.secret("a passphrase")
      ) { done, total in if done == total { kill(getpid(), SIGKILL) } }
    }
    #expect(!FileManager.default.fileExists(atPath: path))
    try store.reopen()
    // What was left is no obstacle.
    #expect(try file.export(store.keychain).items == Self.items)
    // It is nobody's but the killed one's, and stays.
    #expect(try file.drafts().count == 1)
  }

  private func tryEveryCall(_ fault: (Int) -> FaultyDisk.Fault) throws {
    let file = try ExportedFile()
    let from = try TemporaryStore(options: ExportedFile.options())
    for name in ["anna", "berta", "carla"] { try from.keychain.add(Sample.password(name)) }
    try file.export(from.keychain)
    let theirs = try from.keychain.portrait()
    var (number, fired) = (1, 0)
    while number < 300 {
      let disk = FaultyDisk()
      var options = ExportedFile.options()
      options.vfs = disk.name
      options.anchorInterval = 0
      let to = try TemporaryStore(options: options)
      try to.keychain.add(Sample.password("anna", secret: "mine"))
      let before = try to.keychain.portrait()
      var plan = ItemImport()
      plan.onConflict = .replace
      disk.arm(fault(number))
      var hasFailed = false
      do { try file.import(to: to.keychain, plan) } catch { hasFailed = true }
      let hasFired = disk.hasFired
      disk.repair()
      try to.reopen()
      #expect(to.keychain.condition == .healthy, "call \(number)")
      let found = try to.keychain.portrait()
      // A commit whose sync failed may be on the disk all the same.
      #expect(found == theirs || (hasFailed && found == before), "call \(number)")
      let items = found == theirs ? 3 : 1
      #expect(try to.keychain.verify(.everything) == VerificationReport(items: items))
      guard hasFired else { break }
      (number, fired) = (number + 1, fired + 1)
    }
    #expect((4..<299).contains(fired), "the fault came \(fired) times")
  }

  @Test func anIOErrorAtAnyCallImportsAllOrNothing() throws {
    try tryEveryCall { .ioError(at: $0) }
  }

  @Test func aFullDiskAtAnyWriteImportsAllOrNothing() throws {
    try tryEveryCall { .full(at: $0) }
  }

  @Test func anExportThatCannotBeAuditedIsNone() throws {
    let file = try ExportedFile()
    let disk = FaultyDisk()
    var options = ExportedFile.options()
    options.vfs = disk.name
    let store = try filled(options)
    // The audit's records are all that an export writes into the store.
    disk.arm(.full(at: 1))
    let draft = try ExportDraft(file.path, replacing: false)
    refuses(.diskFull) {
      _ = try store.keychain.exportItems(
        to: draft.descriptor, name: file.path, passphrase: Sample.secret("a passphrase"))
    }
    #expect(lseek(draft.descriptor, 0, SEEK_END) == 0)
    disk.repair()
    var isArmed = false
    refuses(.diskFull) {
      _ = try store.keychain.exportItems(
        to: draft.descriptor, name: file.path, passphrase: Sample.secret("a passphrase")
      ) { _, _ in
        if !isArmed { disk.arm(.full(at: 1)) }
        isArmed = true
      }
    }
    #expect(disk.hasFired && !FileManager.default.fileExists(atPath: file.path))
    disk.repair()
    #expect(try file.export(store.keychain).items == Self.items)
  }
}

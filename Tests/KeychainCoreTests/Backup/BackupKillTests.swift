// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainCore
import TestKit
import Testing

/// kill -9 at many moments of a backup and of a restore, in a process of its own.
@Suite struct BackupKillTests {
  /// Ends this process when a name that begins so appears in the directory, some microseconds later.
  private static func killer(
    whenThereIs beginning: String, in directory: String, after microseconds: UInt32
  ) {
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
      for number in 0..<items {
        try store.keychain.add(Sample.password("user \(number)"), in: tx)
      }
    }
    return store
  }

  @Test(arguments: [0, 500, 3_000, 9_000])
  func aKilledBackupLeavesNoBackup(_ delay: UInt32) async throws {
    let store = try store(items: 1_500)
    let (directory, key, home) = (store.location.directory, store.keyFilePath, store.path)
    await #expect(processExitsWith: .signal(SIGKILL)) {
      [
        directory = directory as String, key = key as String, home = home as String,
        delay = delay as UInt32
      ] in
      let keychain = try Keychain.open(
        at: StoreLocation(directory: directory), with: .keyFile(path: key), access: .readOnly)
      Self.killer(whenThereIs: "backup.new-", in: home, after: delay)
      // Again and again, so that it is killed in one, however fast the disk is.
      while true { _ = try keychain.backup(to: home + "/backup", replacing: true) }
    }
    // What has the name is whole, of an earlier round; and the next one goes its way.
    let path = store.path + "/backup"
    if FileManager.default.fileExists(atPath: path) {
      let other = try TemporaryDirectory()
      _ = try Keychain.restore(
        path, to: StoreLocation(directory: other.file("store")), with: [store.keyFile])
    }
    #expect(try store.keychain.backup(to: path, replacing: true).items == 1_500)
    #expect(store.keychain.condition == .healthy)
  }

  @Test(arguments: [0, 2_000, 10_000, 30_000, 60_000, 90_000, 120_000, 160_000])
  func aKilledRestoreLeavesTheOldStoreOrTheNewOne(_ delay: UInt32) async throws {
    let store = try store(items: 600)
    let path = store.path + "/backup"
    _ = try store.keychain.backup(to: path)
    try store.keychain.add(Sample.password("later"))
    store.keychain.close()
    let (directory, key, home) = (store.location.directory, store.keyFilePath, store.path)
    await #expect(processExitsWith: .signal(SIGKILL)) {
      [
        directory = directory as String, key = key as String, home = home as String,
        delay = delay as UInt32
      ] in
      Self.killer(whenThereIs: "store.restoring", in: home, after: delay)
      _ = try Keychain.restore(
        home + "/backup", to: StoreLocation(directory: directory), with: [.keyFile(path: key)],
        replacing: true)
      kill(getpid(), SIGKILL)
    }
    try store.reopen()
    #expect(store.keychain.condition == .healthy)
    let items = try store.keychain.items(ItemQuery()).count
    #expect(items == 600 || items == 601)
    #expect(try store.keychain.verify(.everything).matchesManifest)
    store.keychain.close()
    _ = try Keychain.restore(path, to: store.location, with: [store.keyFile], replacing: true)
    #expect(!FileManager.default.fileExists(atPath: directory + ".restoring"))
    try store.reopen()
    #expect(try store.keychain.items(ItemQuery()).count == 600)
    #expect(store.keychain.condition == .healthy)
  }
}

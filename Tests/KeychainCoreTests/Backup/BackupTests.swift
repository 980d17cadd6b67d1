// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainCore
import SodiumCrypto
import TestKit
import Testing

@Suite struct BackupTests {
  private func bytes(_ path: String) throws -> [UInt8] {
    [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
  }

  private func accounts(_ keychain: Keychain) throws -> Set<String> {
    Set(try keychain.items(ItemQuery()).compactMap { $0[.account]?.string })
  }

  private func names(_ directory: String) throws -> Set<String> {
    Set(try FileManager.default.contentsOfDirectory(atPath: directory))
  }

  @Test func aBackupOfAStoreInUseIsRestoredWholeAndIsNoRollback() throws {
    let store = try TemporaryStore()
    let path = store.path + "/backup"
    try store.keychain.add(Sample.password("anna"))
    try store.keychain.database.write { try $0.execute("CREATE TABLE other (name TEXT)") }
    try store.keychain.database.write { try $0.execute("INSERT INTO other VALUES ('here')") }
    let beside = try store.openBeside()
    let made = try beside.backup(to: path)
    #expect(made.items == 1 && made.store == store.keychain.storeID)
    let attributes = try FileManager.default.attributesOfItem(atPath: path)
    #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
    #expect(try names(store.path).filter { $0.hasPrefix("backup") } == ["backup"])
    beside.close()

    for number in 0..<5 { try store.keychain.add(Sample.password("later \(number)")) }
    var report: RestoreReport?
    try store.reopen {
      report = try Keychain.restore(
        path, to: store.location, with: [store.keyFile], replacing: true)
    }
    #expect(report?.replaced == true && report?.behindBy == 5 && report?.locked == 0)
    #expect(store.keychain.condition == .healthy && store.keychain.notices.isEmpty)
    #expect(try accounts(store.keychain) == ["anna"])
    #expect(
      try store.keychain.database.read { try $0.first("SELECT name FROM other") { $0.text(0) } }
        == "here")
    #expect(!(try names(store.path)).contains { $0 == "store.restoring" || $0.contains(".new") })
    // It goes on, and stays ahead of its anchor.
    try store.keychain.add(Sample.password("berta"))
    try store.reopen()
    #expect(store.keychain.condition == .healthy)
    #expect(try store.keychain.verify(.everything).matchesManifest)
  }

  @Test func anAnchorThatCannotBeWrittenIsToldAndTheStoreIsRestored() throws {
    let store = try TemporaryStore()
    let path = store.path + "/backup"
    try store.keychain.add(Sample.password("anna"))
    _ = try store.keychain.backup(to: path)
    let draft = store.location.anchorDirectory + "/\(store.keychain.storeID).anchor.new"
    try store.reopen {
      try FileManager.default.createDirectory(atPath: draft, withIntermediateDirectories: false)
      let report = try Keychain.restore(
        path, to: store.location, with: [store.keyFile], replacing: true)
      #expect(report.replaced && report.anchorProblem?.contains("anchor") == true)
      try FileManager.default.removeItem(atPath: draft)
    }
    #expect(store.keychain.condition == .healthy)
    #expect(try accounts(store.keychain) == ["anna"])
  }

  @Test func theStoreThatWasReplacedIsARollbackFromThenOn() throws {
    let store = try TemporaryStore()
    let (path, old) = (store.path + "/backup", store.path + "/old")
    _ = try store.keychain.backup(to: path)
    // Newer than the backup, and newer than what is restored counts by its own commits.
    for number in 0..<20 { try store.keychain.add(Sample.password("later \(number)")) }
    store.keychain.close()
    try FileManager.default.copyItem(atPath: store.location.directory, toPath: old)
    _ = try Keychain.restore(path, to: store.location, with: [store.keyFile], replacing: true)
    try FileManager.default.removeItem(atPath: store.location.directory)
    try FileManager.default.moveItem(atPath: old, toPath: store.location.directory)
    try store.reopen()
    guard case .readOnly(.rolledBack) = store.keychain.condition else {
      Issue.record("an old store is taken: \(store.keychain.condition)")
      return
    }
  }

  @Test func aBackupIsRestoredWhereThereIsNoStore() throws {
    let store = try TemporaryStore()
    try store.keychain.add(Sample.password("anna"))
    let path = store.path + "/backup"
    _ = try store.keychain.backup(to: path)
    let other = try TemporaryDirectory()
    let location = StoreLocation(directory: other.file("deep/store"))
    let report = try Keychain.restore(path, to: location, with: [store.keyFile])
    #expect(!report.replaced && report.behindBy == nil && report.changesLost == nil)
    let keychain = try Keychain.open(at: location, with: store.keyFile)
    #expect(keychain.condition == .healthy && keychain.notices.isEmpty)
    #expect(try accounts(keychain) == ["anna"])
    keychain.close()
    refuses(.duplicateKeychain) {
      _ = try Keychain.restore(path, to: location, with: [store.keyFile])
    }
  }

  @Test func aFileIsReplacedOnlyWhenThatIsWanted() throws {
    let store = try TemporaryStore()
    let path = store.path + "/backup"
    try Data("mine".utf8).write(to: URL(fileURLWithPath: path))
    refuses(.duplicateItem) { _ = try store.keychain.backup(to: path) }
    #expect(try bytes(path) == Array("mine".utf8))
    _ = try store.keychain.backup(to: path, replacing: true)
    #expect(try bytes(path).count > 4096)
    refuses(.noSuchKeychain) { _ = try store.keychain.backup(to: store.path + "/none/backup") }
    // A link is a file of that name, wherever it leads, and gets no backup.
    for target in [store.path + "/mine", store.path + "/nothing"] {
      let link = store.path + "/link"
      try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: target)
      if target.hasSuffix("mine") { try Data("mine".utf8).write(to: URL(fileURLWithPath: target)) }
      refuses(.duplicateItem) { _ = try store.keychain.backup(to: link) }
      _ = try store.keychain.backup(to: link, replacing: true)
      #expect(
        try FileManager.default.attributesOfItem(atPath: link)[.type] as? FileAttributeType
          == .typeRegular)
      try FileManager.default.removeItem(atPath: link)
    }
    #expect(try bytes(store.path + "/mine") == Array("mine".utf8))
    #expect(!FileManager.default.fileExists(atPath: store.path + "/nothing"))
    #expect(!(try names(store.path)).contains { $0.contains(".new") })
  }

  @Test func everyByteOfABackupCounts() throws {
    let store = try TemporaryStore()
    try store.keychain.add(Sample.password("anna"))
    let path = store.path + "/backup"
    _ = try store.keychain.backup(to: path)
    let whole = try bytes(path)
    store.keychain.close()
    let before = try bytes(store.location.databasePath)
    let end = whole.count
    // Of the database a sample, of its head and of the trailer all.
    var places = Array(0..<100) + Array(end - 96..<end)
    places += stride(from: 101, to: end - 96, by: 797)
    for place in places {
      var altered = whole
      altered[place] ^= 1 << (place % 8)
      try Data(altered).write(to: URL(fileURLWithPath: path))
      do {
        _ = try Keychain.restore(path, to: store.location, with: [store.keyFile], replacing: true)
        Issue.record("byte \(place) of \(end) was altered, and nobody noticed")
      } catch {
        let isTold =
          [.decode, .notAvailable, .authFailed].contains(error.status)
          && error.message.contains("backup")
        #expect(isTold, "byte \(place): \(error)")
      }
    }
    for length in [0, 50, 96, 4096, end - 4096, end - 1] {
      try Data(whole[..<length]).write(to: URL(fileURLWithPath: path))
      refuses(.decode) {
        _ = try Keychain.restore(path, to: store.location, with: [store.keyFile], replacing: true)
      }
    }
    #expect(try bytes(store.location.databasePath) == before)
    #expect(try names(store.path).isDisjoint(with: ["store.restoring"]))
    try store.reopen()
    #expect(store.keychain.condition == .healthy)
  }

  /// Only what was verified is restored: a table without seals shows no change of its own.
  @Test func whatWasCopiedBeforeTheFileWasPutRightIsRefused() throws {
    let store = try TemporaryStore()
    let path = store.path + "/backup"
    try store.keychain.database.write { try $0.execute("CREATE TABLE other (name TEXT)") }
    try store.keychain.database.write { try $0.execute("INSERT INTO other VALUES ('the truth')") }
    _ = try store.keychain.backup(to: path)
    let place = try #require(
      Data(contentsOf: URL(fileURLWithPath: path)).range(of: Data("the truth".utf8)))
    let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
    func put(_ text: String) throws {
      try file.seek(toOffset: UInt64(place.lowerBound))
      try file.write(contentsOf: Data(text.utf8))
    }
    let other = try TemporaryDirectory()
    let location = StoreLocation(directory: other.file("store"))
    var restore = BackupRestore(to: location)
    for isPutRight in [true, false] {
      try put("the lie!!")
      restore.progress = { if isPutRight, $0 == $1 { try? put("the truth") } }
      refuses(.decode) { _ = try restore.run(path, with: [store.keyFile]) }
    }
    #expect(!Keychain.exists(at: location))
    try put("the truth")
    _ = try restore.run(path, with: [store.keyFile])
    #expect(Keychain.exists(at: location))
  }

  @Test func nothingIsRestoredWithAnotherKeyOrUnderAnOpenStore() throws {
    let (store, other) = (try TemporaryStore(), try TemporaryStore())
    let path = store.path + "/backup"
    _ = try store.keychain.backup(to: path)
    do {
      _ = try Keychain.restore(path, to: store.location, with: [store.keyFile], replacing: true)
      Issue.record("restored under an open store")
    } catch {
      #expect(error.status == .notAvailable && error.lockHolder != nil)
    }
    store.keychain.close()
    refuses(.authFailed) {
      _ = try Keychain.restore(path, to: store.location, with: [other.keyFile], replacing: true)
    }
    try store.reopen()
    #expect(store.keychain.condition == .healthy)
  }

  @Test("Records are counted beside items, and those that do not open are counted and stay")
  func records() throws {
    let store = try TemporaryStore()
    try store.keychain.add(Sample.password("anna"))
    try SealedRecords(store.keychain).commit(
      .of(.sample(1, "router 1", .text("dataset 1")), .sample(2, "router 2")))
    try store.reopen {
      try RawStore(store.location.databasePath).run(
        """
        UPDATE records SET state = CAST(zeroblob(length(state) - 16) || substr(state, -16) AS BLOB)
        WHERE id = 2
        """)
    }
    let path = store.path + "/backup"
    let made = try store.keychain.backup(to: path)
    #expect(made.records == 2 && made.items == 1)
    var report: RestoreReport?
    try store.reopen {
      report = try Keychain.restore(
        path, to: store.location, with: [store.keyFile], replacing: true)
    }
    #expect(report?.records == 2 && report?.items == 1 && report?.damaged == 1)
    var found: [Int64] = []
    let damaged = try SealedRecords(store.keychain).load { found.append($0.id.rawValue) }
    #expect(found == [1] && damaged.map(\.id) == [RecordID(2)])
  }

  @Test func anAlteredStoreGivesNoBackup() throws {
    let store = try TemporaryStore()
    try store.keychain.add(Sample.password("anna"))
    try store.reopen {
      try RawStore(store.location.databasePath).run("DELETE FROM items")
    }
    let path = store.path + "/backup"
    refuses(.readOnly) { _ = try store.keychain.backup(to: path) }
    #expect(try names(store.path).filter { $0.hasPrefix("backup") }.isEmpty)
  }

  @Test func aDamagedStoreIsReplaced() throws {
    let store = try TemporaryStore()
    try store.keychain.add(Sample.password("anna"))
    let path = store.path + "/backup"
    _ = try store.keychain.backup(to: path)
    store.keychain.close()
    try Data(count: 10_000).write(to: URL(fileURLWithPath: store.location.databasePath))
    try Data(count: 10_000).write(
      to: URL(fileURLWithPath: store.location.databasePath + "-wal"))
    _ = try Keychain.restore(path, to: store.location, with: [store.keyFile], replacing: true)
    try store.reopen()
    #expect(store.keychain.condition == .healthy)
    #expect(try accounts(store.keychain) == ["anna"])
  }

  @Test func whatIsForThisDeviceOnlyOpensHereAndNowhereElse() throws {
    let store = try TemporaryStore()
    let secret = Sample.password("anna", accessible: .afterFirstUnlockThisDeviceOnly)
    try store.keychain.add(secret)
    try store.keychain.add(Sample.password("bert"))
    let path = store.path + "/backup"
    _ = try store.keychain.backup(to: path)
    // Without a device key, and beside another one.
    let (other, third) = (try TemporaryDirectory(), try TemporaryStore())
    try third.keychain.add(secret)
    third.keychain.close()
    for location in [StoreLocation(directory: other.file("store")), third.location] {
      let elsewhere = try Keychain.restore(
        path, to: location, with: [store.keyFile], replacing: true)
      #expect(elsewhere.leftOut == 1 && elsewhere.locked == 0 && elsewhere.items == 1)
      let keychain = try Keychain.open(at: location, with: store.keyFile)
      #expect(keychain.condition == .healthy)
      #expect(try keychain.verify(.everything) == VerificationReport(items: 1))
      #expect(try accounts(keychain) == ["bert"])
      // The machine keeps such items of its own.
      try keychain.add(secret)
      keychain.close()
    }
    store.keychain.close()
    let here = try Keychain.restore(
      path, to: store.location, with: [store.keyFile], replacing: true)
    #expect(here.leftOut == 0 && here.locked == 0 && here.items == 2)
    try store.reopen()
    #expect(try store.keychain.secret(of: store.keychain.items(ItemQuery())[0]).count == 6)
  }

  @Test func aDiskThatFailsAnywhereLeavesNoHalfBackup() throws {
    var options = KeychainOptions()
    let disk = FaultyDisk()
    options.vfs = disk.name
    let store = try TemporaryStore(options: options)
    for number in 0..<20 { try store.keychain.add(Sample.password("user \(number)")) }
    let path = store.path + "/backup"
    for fault in [FaultyDisk.Fault.ioError(at:), FaultyDisk.Fault.full(at:)] {
      var (fired, number) = (0, 1)
      while true {
        disk.arm(fault(number))
        var error: KeychainError?
        do { _ = try store.keychain.backup(to: path) } catch let thrown { error = thrown }
        let hasFired = disk.hasFired
        disk.repair()
        #expect(FileManager.default.fileExists(atPath: path) == (error == nil))
        #expect(!(try names(store.path)).contains { $0.contains(".new") })
        if error == nil { try FileManager.default.removeItem(atPath: path) }
        // What could not be read while it was verified counts as damaged.
        if store.keychain.condition != .healthy { try store.reopen() }
        guard hasFired else { break }
        (fired, number) = (fired + 1, number + 1)
      }
      #expect(fired > 4)
    }
    #expect(store.keychain.condition == .healthy)
  }

  @Test("What progress throws ends a backup, and nothing is left of it")
  func stopped() throws {
    let store = try TemporaryStore()
    try store.keychain.database.write { tx in
      for number in 0..<12_000 {
        _ = try store.keychain.add(
          NewItem(
            .genericPassword,
            attributes: [.account: .string("\(number)"), .accessGroup: .string("own")],
            secret: .init(copying: [UInt8](repeating: 7, count: 10)),
            accessible: .afterFirstUnlock), in: tx)
      }
    }
    // Enough for SQLite to report its progress.
    let path = store.path + "/backup"
    let error = #expect(throws: KeychainError.self) {
      try store.keychain.backup(to: path) { _, _ in
        throw KeychainError(.userCanceled, "stopped by a test")
      }
    }
    #expect(error?.status == .userCanceled && error?.message == "stopped by a test")
    let left = try FileManager.default.contentsOfDirectory(atPath: store.path)
    #expect(!left.contains { $0.hasPrefix("backup") }, "\(left)")
    #expect(throws: Never.self) { try store.keychain.backup(to: path) }
  }
}

import Foundation
import KeychainCore
import TestKit
import Testing

@Suite struct BackupTests {
  private func bytes(_ path: String) throws -> [UInt8] { [UInt8](try Data(contentsOf: URL(fileURLWithPath: path))) }

  private func names(_ directory: String) throws -> Set<String> {
    Set(try FileManager.default.contentsOfDirectory(atPath: directory))
  }

  /// A table of another component, without seals.
  private func addTable(_ name: String, _ store: TemporaryStore) throws {
    try store.keychain.database.write { tx in
      try tx.execute("CREATE TABLE other (name TEXT)")
      try tx.execute("INSERT INTO other VALUES (?)", .text(name))
    }
  }

  /// In place of what is there.
  @discardableResult private func restore(_ path: String, _ store: TemporaryStore, with key: KeySlotSecret? = nil)
    throws -> RestoreReport
  { try Keychain.restore(path, to: store.location, with: [key ?? store.keyFile], replacing: true) }

  @Test func aBackupOfAStoreInUseIsRestoredWholeAndIsNoRollback() throws {
    let store = try TemporaryStore()
    let path = store.path + "/backup"
    try store.add("anna")
    try addTable("here", store)
    let beside = try store.openBeside()
    let made = try beside.backup(to: path)
    #expect(made.items == 1 && made.store == store.keychain.storeID)
    #expect(try mode(path) == 0o600)
    #expect(try names(store.path).filter { $0.hasPrefix("backup") } == ["backup"])
    beside.close()

    for number in 0..<5 { try store.add("later \(number)") }
    var report: RestoreReport?
    try store.reopen { report = try restore(path, store) }
    #expect(report?.replaced == true && report?.behindBy == 5 && report?.locked == 0)
    #expect(store.keychain.condition == .healthy && store.keychain.notices.isEmpty)
    #expect(try store.keychain.accounts() == ["anna"])
    #expect(try store.keychain.database.read { try $0.first("SELECT name FROM other") { $0.text(0) } } == "here")
    #expect(!(try names(store.path)).contains { $0 == "store.restoring" || $0.contains(".new") })
    // It goes on, and stays ahead of its anchor.
    try store.add("berta")
    try store.reopen()
    #expect(store.keychain.condition == .healthy)
    #expect(try store.keychain.verify(.everything).matchesManifest)
  }

  @Test func anAnchorThatCannotBeWrittenIsToldAndTheStoreIsRestored() throws {
    let store = try TemporaryStore()
    let path = store.path + "/backup"
    try store.add("anna")
    _ = try store.keychain.backup(to: path)
    let draft = store.location.anchorDirectory + "/\(store.keychain.storeID).anchor.new"
    try store.reopen {
      try FileManager.default.createDirectory(atPath: draft, withIntermediateDirectories: false)
      let report = try restore(path, store)
      #expect(report.replaced && report.anchorProblem?.contains("anchor") == true)
      try FileManager.default.removeItem(atPath: draft)
    }
    #expect(store.keychain.condition == .healthy)
    #expect(try store.keychain.accounts() == ["anna"])
  }

  @Test func theStoreThatWasReplacedIsARollbackFromThenOn() throws {
    let store = try TemporaryStore()
    let (path, old) = (store.path + "/backup", store.path + "/old")
    _ = try store.keychain.backup(to: path)
    // Newer than the backup, and newer than what is restored counts by its own commits.
    for number in 0..<20 { try store.add("later \(number)") }
    store.keychain.close()
    try FileManager.default.copyItem(atPath: store.location.directory, toPath: old)
    try restore(path, store)
    try FileManager.default.removeItem(atPath: store.location.directory)
    try FileManager.default.moveItem(atPath: old, toPath: store.location.directory)
    try store.reopen()
    guard case .readOnly(.rolledBack) = store.keychain.condition else {
      Issue.record("an old store is taken: \(store.keychain.condition)")
      return
    }
  }

  @Test("What is given along with a backup is sealed, and read only with a key of the store, of a whole file")
  func attachment() throws {
    let (store, other) = (try TemporaryStore(), try TemporaryStore())
    let path = store.path + "/backup"
    let attachment = Array("the password of an agent".utf8)
    let restore = BackupRestore(to: StoreLocation(directory: store.path + "/none"))
    for given in [[], attachment, [UInt8](repeating: 7, count: Keychain.longestAttachment)] {
      _ = try store.keychain.backup(to: path, replacing: true, with: given)
      #expect(try given.isEmpty || Data(bytes(path)).range(of: Data(given)) == nil)
      let found = try restore.attachment(of: BackupFile(path), with: [other.keyFile, store.keyFile])
      #expect(found.attachment == given)
      refuses(.authFailed) { try restore.attachment(of: BackupFile(path), with: [other.keyFile]) }
    }
    refuses(.param) {
      try store.keychain.backup(
        to: path, replacing: true, with: [UInt8](repeating: 7, count: Keychain.longestAttachment + 1))
    }
    _ = try store.keychain.backup(to: path, replacing: true, with: attachment)
    var altered = try bytes(path)
    altered[altered.count - 104 - 10] ^= 1
    try Data(altered).write(to: URL(fileURLWithPath: path))
    refuses(.decode) { try restore.attachment(of: BackupFile(path), with: [store.keyFile]) }
    #expect(!FileManager.default.fileExists(atPath: store.path + "/none"))
  }

  @Test func aFileIsReplacedOnlyWhenThatIsWanted() throws {
    let store = try TemporaryStore()
    let path = store.path + "/backup"
    try Data("mine".utf8).write(to: URL(fileURLWithPath: path))
    refuses(.duplicateItem) { try store.keychain.backup(to: path) }
    #expect(try bytes(path) == Array("mine".utf8))
    _ = try store.keychain.backup(to: path, replacing: true)
    #expect(try bytes(path).count > 4096)
    refuses(.noSuchKeychain) { try store.keychain.backup(to: store.path + "/none/backup") }
    // A link is a file of that name, wherever it leads, and gets no backup.
    for target in [store.path + "/mine", store.path + "/nothing"] {
      let link = store.path + "/link"
      try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: target)
      if target.hasSuffix("mine") { try Data("mine".utf8).write(to: URL(fileURLWithPath: target)) }
      refuses(.duplicateItem) { try store.keychain.backup(to: link) }
      _ = try store.keychain.backup(to: link, replacing: true)
      #expect(try FileManager.default.attributesOfItem(atPath: link)[.type] as? FileAttributeType == .typeRegular)
      try FileManager.default.removeItem(atPath: link)
    }
    #expect(try bytes(store.path + "/mine") == Array("mine".utf8))
    #expect(!FileManager.default.fileExists(atPath: store.path + "/nothing"))
    #expect(!(try names(store.path)).contains { $0.contains(".new") })
  }

  @Test func everyByteOfABackupCounts() throws {
    let store = try TemporaryStore()
    try store.add("anna")
    let path = store.path + "/backup"
    _ = try store.keychain.backup(to: path, with: Array("given along".utf8))
    let whole = try bytes(path)
    store.keychain.close()
    let before = try bytes(store.location.databasePath)
    let end = whole.count
    // Of the database a sample, of its head and of the trailer all with SOAK_ROUNDS=all in the environment.
    let step = Soak.triesAll ? 1 : 7
    var places = Array(stride(from: 0, to: 100, by: step)) + stride(from: end - 104, to: end, by: step)
    places += stride(from: 101, to: end - 104, by: 797 * step)
    for place in places {
      var altered = whole
      altered[place] ^= 1 << (place % 8)
      try Data(altered).write(to: URL(fileURLWithPath: path))
      let error = #expect(throws: KeychainError.self, "byte \(place)") { try restore(path, store) }
      #expect(error.map { [.decode, .notAvailable, .authFailed].contains($0.status) } == true)
      #expect(error?.message.contains("backup") == true, "byte \(place)")
    }
    for length in [0, 50, 104, 4096, end - 4096, end - 1] {
      try Data(whole[..<length]).write(to: URL(fileURLWithPath: path))
      refuses(.decode) { try restore(path, store) }
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
    try addTable("the truth", store)
    _ = try store.keychain.backup(to: path)
    let place = try #require(Data(contentsOf: URL(fileURLWithPath: path)).range(of: Data("the truth".utf8)))
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
      refuses(.decode) { try restore.run(BackupFile(path), with: [store.keyFile]) }
    }
    #expect(!Keychain.exists(at: location))
    try put("the truth")
    _ = try restore.run(BackupFile(path), with: [store.keyFile])
    #expect(Keychain.exists(at: location))
  }

  @Test func nothingIsRestoredWithAnotherKeyOrInPlaceOfAStore() throws {
    let (store, other) = (try TemporaryStore(), try TemporaryStore())
    let path = store.path + "/backup"
    _ = try store.keychain.backup(to: path)
    let held = #expect(throws: KeychainError.self) { try restore(path, store) }
    #expect(held?.status == .notAvailable && held?.lockHolder != nil)
    store.keychain.close()
    refuses(.authFailed) { try restore(path, store, with: other.keyFile) }
    refuses(.duplicateKeychain) { try Keychain.restore(path, to: store.location, with: [store.keyFile]) }
    try store.reopen()
    #expect(store.keychain.condition == .healthy)
  }

  @Test func anAlteredStoreGivesNoBackup() throws {
    let store = try TemporaryStore()
    try store.add("anna")
    try store.alter("DELETE FROM items")
    let path = store.path + "/backup"
    refuses(.readOnly) { try store.keychain.backup(to: path) }
    #expect(try names(store.path).filter { $0.hasPrefix("backup") }.isEmpty)
  }

  @Test func aDamagedStoreIsReplaced() throws {
    let store = try TemporaryStore()
    try store.add("anna")
    let path = store.path + "/backup"
    _ = try store.keychain.backup(to: path)
    store.keychain.close()
    try Data(count: 10_000).write(to: URL(fileURLWithPath: store.location.databasePath))
    try Data(count: 10_000).write(to: URL(fileURLWithPath: store.location.databasePath + "-wal"))
    try restore(path, store)
    try store.reopen()
    #expect(store.keychain.condition == .healthy)
    #expect(try store.keychain.accounts() == ["anna"])
  }

  @Test func whatIsForThisDeviceOnlyOpensHereAndNowhereElse() throws {
    let store = try TemporaryStore()
    let secret = Sample.password("anna", accessible: .afterFirstUnlockThisDeviceOnly)
    try store.add(secret)
    try store.add("bert")
    let path = store.path + "/backup"
    _ = try store.keychain.backup(to: path)
    // Without a device key, and beside another one.
    let (other, third) = (try TemporaryDirectory(), try TemporaryStore())
    try third.keychain.add(secret)
    third.keychain.close()
    for location in [StoreLocation(directory: other.file("store")), third.location] {
      let elsewhere = try Keychain.restore(path, to: location, with: [store.keyFile], replacing: true)
      #expect(elsewhere.leftOut == 1 && elsewhere.locked == 0 && elsewhere.items == 1)
      let keychain = try Keychain.open(at: location, with: store.keyFile)
      #expect(keychain.condition == .healthy)
      #expect(try keychain.verify(.everything) == VerificationReport(items: 1))
      #expect(try keychain.accounts() == ["bert"])
      // The machine keeps such items of its own.
      try keychain.add(secret)
      keychain.close()
    }
    store.keychain.close()
    let here = try restore(path, store)
    #expect(here.leftOut == 0 && here.locked == 0 && here.items == 2)
    try store.reopen()
    #expect(try store.keychain.secret(of: store.keychain.items(ItemQuery())[0]).count == 6)
  }
}

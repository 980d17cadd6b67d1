import Foundation
import TestKit
import Testing

@testable import KeychainCore

@Suite("A rotation") struct RotationTests {
  private let passphrase = KeySlotSecret.passphrase(Sample.secret("correct horse"))

  /// What a rotation leaves of a store of 18 items.
  private static let records = ["2.2", "8.2", "9.2", "10.2", "11.1", "11.2", "12.2", "16.2", "17.2", "18.2"]

  @Test("Every item stays what it was, under new keys, and no file has anything of the old ones") func everything()
    throws
  {
    let rotated = try RotatedStore()
    let keychain = rotated.keychain
    #expect(try rotated.keyRecords() == ["2.1", "8.1", "9.1", "10.1", "11.1", "12.1", "16.1", "17.1", "18.1"])
    let old = try keychain.database.read { tx in
      try tx.all("SELECT wrapped FROM keys") { Data($0.blob(0)) }
        + tx.all("SELECT payload FROM key_slots") { Data($0.blob(0)) }
        + tx.all("SELECT secret, metadata, primary_index FROM items") { row in (0..<3).map { Data(row.blob($0)) } }
        .joined()
    }
    let before = try keychain.items(ItemQuery())
    #expect(try rotated.rotate() == RotationReport(items: 18))
    for _ in 0..<2 {
      #expect(try rotated.keyRecords() == Self.records)
      #expect(try rotated.contents() == RotatedStore.expected(0..<18))
      #expect(try rotated.keychain.verify(.everything) == VerificationReport(items: 18))
      try rotated.keychain.database.read { tx in
        for number in 0..<18 { try RotatedStore.expectFound(number, rotated.keychain, in: tx) }
      }
      for number in 0..<18 { refuses(.duplicateItem) { try rotated.keychain.add(RotatedStore.item(number)) } }
      try rotated.store.reopen()
      #expect(rotated.keychain.condition == .healthy)
    }
    // To everybody else the items are what they were.
    let after = try rotated.keychain.items(ItemQuery())
    #expect(before.map(\.reference) == after.map(\.reference))
    #expect(before.map(\.version) == after.map(\.version))
    #expect(before.map(\.attributes) == after.map(\.attributes))
    for name in try FileManager.default.subpathsOfDirectory(atPath: rotated.store.path) {
      guard let data = FileManager.default.contents(atPath: rotated.store.path + "/" + name) else { continue }
      #expect(old.allSatisfy { data.range(of: $0) == nil }, "\(name)")
    }
  }

  @Test("Who has all keys of before opens nothing, but the audit up to then") func leaked() throws {
    let rotated = try RotatedStore { $0.auditor = "tester" }
    let leaked = LeakedKeys(rotated.keychain)
    let last = try rotated.keychain.lastAuditRecord()
    #expect(try leaked.opens(rotated.keychain).count > 3 * 18)
    for _ in 0..<2 {
      try rotated.rotate()
      #expect(try leaked.opens(rotated.keychain, after: last).isEmpty)
      #expect(try rotated.keychain.auditProblem() == nil)
    }
    #expect(try rotated.contents() == RotatedStore.expected(0..<18))
  }

  @Test("A reader of the file with the old root keys has none of the new keys") func oldRoots() throws {
    let rotated = try RotatedStore()
    rotated.keychain.close()
    let old = try FormatReader(rotated.store.raw(), keyFile: rotated.store.keyFilePath)
    try rotated.store.reopen()
    try rotated.rotate()
    let raw = try rotated.store.raw()
    let wrappers = try raw.run("SELECT DISTINCT substr(wrapped, 2, 4) FROM keys ORDER BY 1")
    #expect(wrappers == [[.blob([1, 0, 0, 2])], [.blob([2, 0, 0, 2])]])
    for row in try raw.run("SELECT id FROM keys WHERE id >> 24 <> 11") {
      guard case .integer(let number) = row[0] else { continue }
      #expect(old.keys[Int(number)] == nil)
    }
  }

  @Test("An empty store is rotated again and again") func empty() throws {
    let rotated = try RotatedStore(items: 0)
    for round in 2...4 {
      #expect(try rotated.rotate() == RotationReport())
      #expect(try rotated.newestEpochs() == [UInt32(round)])
    }
    try rotated.keychain.add("anna")
    try rotated.store.reopen()
    #expect(try rotated.keychain.verify(.everything) == VerificationReport(items: 1))
  }

  @Test("The slots that are given stay, and the others go") func slots() throws {
    let rotated = try RotatedStore()
    let spare = KeySlotSecret.keyFile(path: rotated.store.path + "/spare.key")
    try rotated.keychain.addKeySlot(spare, label: "spare")
    try rotated.keychain.addKeySlot(.recoveryCode(RecoveryCode()))
    let removed = try rotated.keychain.rotateKeys([spare]).removedSlots
    #expect(removed.map(\.kind) == [.keyFile, .recoveryCode])
    #expect(try rotated.keychain.slots().map(\.label) == ["spare"])
    rotated.keychain.close()
    refuses(.authFailed) { try Keychain.open(at: rotated.store.location, with: rotated.store.keyFile) }
    try rotated.store.reopen(with: spare)
    #expect(rotated.keychain.condition == .healthy)
    #expect(try rotated.contents() == RotatedStore.expected(0..<18))
  }

  @Test("A passphrase is not left out by mistake") func passphraseIsNeeded() throws {
    let rotated = try RotatedStore()
    try rotated.keychain.addKeySlot(passphrase)
    refuses(.param) { try rotated.rotate() }
    refuses(.param) { try rotated.keychain.rotateKeys([]) }
    refuses(.authFailed) { try rotated.keychain.rotateKeys([.passphrase(Sample.secret("wrong"))]) }
    #expect(try rotated.keychain.slots().count == 2)
    let report = try rotated.keychain.rotateKeys([rotated.store.keyFile, passphrase])
    #expect(report == RotationReport(items: 18))
    #expect(try rotated.contents() == RotatedStore.expected(0..<18))
    try rotated.store.reopen()
    #expect(try rotated.keychain.verify(.everything).locked == 3)
    try rotated.store.reopen(with: passphrase)
    #expect(try rotated.contents() == RotatedStore.expected(0..<18))
  }

  /// The passphrase that is given has the session key: nobody has to unlock the store for it.
  @Test("A locked store is rotated by the passphrase, and stays locked") func locked() throws {
    let rotated = try RotatedStore()
    let code = RecoveryCode()
    try rotated.keychain.addKeySlot(passphrase)
    try rotated.keychain.addKeySlot(.recoveryCode(code))
    let leaked = LeakedKeys(rotated.keychain)
    try rotated.store.reopen()
    #expect(!rotated.keychain.isUnlocked)
    let secrets = [rotated.store.keyFile, passphrase, .recoveryCode(code)]
    #expect(try rotated.keychain.rotateKeys(secrets) == RotationReport(items: 18))
    #expect(!rotated.keychain.isUnlocked)
    rotated.keychain.keys.loaded.withLock { loaded in #expect(!loaded.keys.keys.contains { $0.purpose.isOfSession }) }
    refuses(.interactionNotAllowed) { try rotated.contents() }
    refuses(.interactionNotAllowed) { try rotated.keychain.add("new", accessible: .whenUnlocked) }
    #expect(try leaked.opens(rotated.keychain).isEmpty)
    try rotated.keychain.unlock(with: .recoveryCode(code))
    try rotated.keychain.add("new", secret: "x", accessible: .whenUnlocked)
    for way in secrets.dropFirst() {
      try rotated.store.reopen(with: way)
      #expect(try rotated.contents() == RotatedStore.expected(0..<18).merging(["new": "x"]) { first, _ in first })
    }
    #expect(try rotated.keychain.verify(.everything) == VerificationReport(items: 19))
  }

  @Test("A store that was altered keeps its keys, and takes no more changes") func altered() throws {
    let rotated = try RotatedStore()
    try rotated.store.raw().run("DELETE FROM items WHERE id = 18")
    refuses(.decode) { try rotated.rotate() }
    #expect(rotated.keychain.condition == .readOnly(.manifestMismatch))
    #expect(try rotated.newestEpochs() == [1])
    refuses(.readOnly) { try rotated.rotate() }
  }

  /// A byte in the middle of a part: the tag, which the manifest knows, is as it was.
  @Test("An item that does not open stops it", arguments: ["metadata", "secret"]) func damaged(_ column: String) throws
  {
    let rotated = try RotatedStore()
    func alter() throws {
      for row in [5, 9] {
        var sealed = try rotated.store.raw().blob("SELECT \(column) FROM items WHERE id = \(row)")
        sealed[40] ^= 1
        try rotated.store.alter("UPDATE items SET \(column) = ? WHERE id = \(row)", [.blob(sealed)])
      }
    }
    try alter()
    let error = #expect(throws: KeychainError.self) { try rotated.rotate() }
    #expect(error?.status == .decode && error?.message.hasPrefix("2 items do not open") == true)
    #expect(error?.message.contains("`threadkeeper store verify`") == true)
    #expect(rotated.keychain.condition == .healthy && rotated.keychain.quarantine == [5, 9])
    #expect(try rotated.newestEpochs() == [1])
    try alter()
    #expect(try rotated.rotate().items == 18)
    #expect(try rotated.contents() == RotatedStore.expected(0..<18))
  }

  @Test("An item whose class key has no record stops it") func missingClassKey() throws {
    let rotated = try RotatedStore()
    let keychain = rotated.keychain
    try keychain.database.write { tx in
      let ledger = try keychain.ledger(tx)
      let id = KeyID(Accessibility.always.keyPurpose, epoch: 1)
      let wrapped = try #require(try KeyTable.record(of: id, in: tx))
      try KeyTable.remove(id, tag: wrapped.tag, ledger, in: tx)
    }
    let error = #expect(throws: KeychainError.self) { try rotated.rotate() }
    #expect(error?.status == .decode && error?.message.hasPrefix("3 items do not open") == true)
    #expect(keychain.condition == .healthy)
    #expect(try rotated.newestEpochs() == [1])
    #expect(try rotated.contents() == RotatedStore.expected(0..<18))
    // The first passphrase renews other classes.
    try keychain.addKeySlot(passphrase)
  }
}

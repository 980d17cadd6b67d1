// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestKit
import Testing

@testable import KeychainCore

@Suite struct RootRenewalTests {
  private let passphrase = KeySlotSecret.passphrase(Sample.secret("correct horse"))

  @Test func theSlotsThatAreGivenStayAndTheOthersGo() throws {
    let rotated = try RotatedStore()
    let spare = KeySlotSecret.keyFile(path: rotated.store.path + "/spare.key")
    try rotated.keychain.addKeySlot(spare, label: "spare")
    try rotated.keychain.addKeySlot(.recoveryCode(RecoveryCode()))
    let removed = try rotated.keychain.renewRootKeys([spare]).removedSlots
    #expect(removed.map(\.kind) == [.keyFile, .recoveryCode])
    #expect(try rotated.keychain.slots().map(\.label) == ["spare"])
    #expect(try rotated.contents() == RotatedStore.expected(0..<18))
    #expect(try rotated.keychain.rotateKeys().isFinished)
    rotated.keychain.close()
    refuses(.authFailed) {
      _ = try Keychain.open(at: rotated.store.location, with: rotated.store.keyFile)
    }
    try rotated.store.reopen(with: spare)
    #expect(rotated.keychain.condition == .healthy)
    #expect(try rotated.contents() == RotatedStore.expected(0..<18))
    #expect(
      try rotated.keyRecords() == [
        "2.2", "8.2", "9.2", "10.3", "11.1", "11.2", "16.2", "17.2", "18.2",
      ])
  }

  @Test func whoHasTheOldRootsOpensNoneOfTheNewKeys() throws {
    let rotated = try RotatedStore()
    rotated.keychain.close()
    let old = try FormatOneReader(
      RawStore(rotated.store.location.databasePath), keyFile: rotated.store.keyFilePath)
    try rotated.store.reopen()
    try rotated.keychain.renewRootKeys([rotated.store.keyFile])
    try rotated.keychain.rotateKeys()
    let raw = try RawStore(rotated.store.location.databasePath)
    let wrappers = try raw.run("SELECT DISTINCT substr(wrapped, 2, 4) FROM keys ORDER BY 1")
    #expect(wrappers == [[.blob([1, 0, 0, 2])], [.blob([2, 0, 0, 2])]])
    let ids = try raw.run("SELECT id FROM keys WHERE id >> 24 <> 11").map { $0[0] }
    for id in ids {
      guard case .integer(let number) = id else { continue }
      #expect(old.keys[Int(number)] == nil)
    }
  }

  @Test func aPassphraseIsNotLeftOutByMistake() throws {
    let rotated = try RotatedStore()
    try rotated.keychain.addKeySlot(passphrase)
    refuses(.param) { try rotated.keychain.renewRootKeys([rotated.store.keyFile]) }
    refuses(.param) { try rotated.keychain.renewRootKeys([]) }
    refuses(.authFailed) {
      try rotated.keychain.renewRootKeys([.passphrase(Sample.secret("wrong"))])
    }
    #expect(try rotated.keychain.slots().count == 2)
    let report = try rotated.keychain.renewRootKeys([rotated.store.keyFile, passphrase])
    #expect(report == RootRenewalReport())
    #expect(try rotated.contents() == RotatedStore.expected(0..<18))
    try rotated.store.reopen()
    #expect(try rotated.keychain.verify(.everything).locked == 3)
    try rotated.store.reopen(with: passphrase)
    #expect(try rotated.contents() == RotatedStore.expected(0..<18))
  }

  /// The passphrase that is given has the session key: nobody has to unlock the store for it.
  @Test(arguments: [false, true])
  func aLockedStoreGetsNewRootsByThePassphraseAndStaysLocked(_ isLockedByHand: Bool) throws {
    let rotated = try RotatedStore()
    let code = RecoveryCode()
    try rotated.keychain.addKeySlot(passphrase)
    try rotated.keychain.addKeySlot(.recoveryCode(code))
    let leaked = LeakedKeys(rotated.keychain)
    if isLockedByHand { rotated.keychain.lock() } else { try rotated.store.reopen() }
    #expect(!rotated.keychain.isUnlocked)
    let secrets = [rotated.store.keyFile, passphrase, .recoveryCode(code)]
    #expect(try rotated.keychain.renewRootKeys(secrets).removedSlots.isEmpty)
    #expect(!rotated.keychain.isUnlocked)
    refuses(.interactionNotAllowed) { _ = try rotated.contents() }
    refuses(.interactionNotAllowed) {
      try rotated.keychain.add(Sample.password("new", accessible: .whenUnlocked))
    }
    #expect(try rotated.keychain.rotateKeys().locked == 3)
    // What is added from now on, is under new keys, and the rest follows.
    try rotated.keychain.unlock(with: .recoveryCode(code))
    try rotated.keychain.add(Sample.password("new", secret: "x", accessible: .whenUnlocked))
    #expect(try leaked.opens(rotated.keychain).allSatisfy { $0.hasPrefix("secret of row") })
    #expect(try leaked.opens(rotated.keychain).count == 3)
    #expect(try rotated.keychain.rotateKeys().isFinished)
    #expect(try leaked.opens(rotated.keychain).isEmpty)
    for way in secrets.dropFirst() {
      try rotated.store.reopen(with: way)
      #expect(
        try rotated.contents()
          == RotatedStore.expected(0..<18).merging(["new": "x"]) { first, _ in first })
    }
    #expect(
      try rotated.keychain.verify(.everything) == VerificationReport(items: 19))
  }

  @Test func aStoreWithoutAPassphraseThatIsLockedGetsNewRootsToo() throws {
    let rotated = try RotatedStore()
    rotated.keychain.lock()
    try rotated.keychain.renewRootKeys([rotated.store.keyFile])
    #expect(!rotated.keychain.isUnlocked)
    try rotated.keychain.unlock(with: rotated.store.keyFile)
    #expect(try rotated.contents() == RotatedStore.expected(0..<18))
  }

  @Test func aReaderBesideIsToldToOpenItAgain() throws {
    let rotated = try RotatedStore()
    let beside = try rotated.store.openBeside()
    try beside.database.read { tx in
      // The snapshot is taken here, and keeps what it needs.
      #expect(try RotatedStore.contents(beside, in: tx) == RotatedStore.expected(0..<18))
      try rotated.keychain.renewRootKeys([rotated.store.keyFile])
      #expect(try RotatedStore.contents(beside, in: tx) == RotatedStore.expected(0..<18))
    }
    do {
      _ = try beside.items(ItemQuery())
      Issue.record("it was not refused")
    } catch let error as KeychainError {
      #expect(error.status == .notAvailable && error.asksForReopening && error.isTemporary)
    }
    #expect(beside.quarantine.isEmpty)
  }

  @Test func aFaultAtAnyCallLeavesTheOldRootsOrTheNewOnes() throws {
    var fired = 0
    for number in 1...200 {
      let disk = FaultyDisk()
      var options = RotatedStore.options
      options.vfs = disk.name
      let rotated = try RotatedStore(items: 6, options: options)
      disk.arm(.ioError(at: number))
      var hasFailed = false
      do { try rotated.keychain.renewRootKeys([rotated.store.keyFile]) } catch { hasFailed = true }
      let hasFired = disk.hasFired
      disk.repair()
      // New roots never come without new keys.
      let (roots, epochs) = (try rotated.session(), try rotated.newestEpochs())
      #expect(epochs == (roots == 1 ? [1] : [2]), "call \(number)")
      // And who has new ones is told what came with them.
      #expect(hasFailed == (roots == 1), "call \(number)")
      #expect(try rotated.contents() == RotatedStore.expected(0..<6), "call \(number)")
      try rotated.store.reopen()
      #expect(rotated.keychain.condition == .healthy, "call \(number)")
      #expect(try rotated.contents() == RotatedStore.expected(0..<6), "call \(number)")
      guard hasFired else { break }
      fired += 1
    }
    #expect((5..<200).contains(fired), "the fault came \(fired) times")
  }
}

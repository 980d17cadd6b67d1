import Foundation
import KeychainCore
import TestKit
import Testing

@Suite struct DeviceOnlyTests {
  private static let withoutPassphrase: [Accessibility] = [
    .whenUnlockedThisDeviceOnly, .afterFirstUnlockThisDeviceOnly, .alwaysThisDeviceOnly,
  ]
  private let passphrase = KeySlotSecret.passphrase(Sample.secret("correct horse"))

  /// One that is open, and unlocked, with a passphrase.
  private func guarded() throws -> TemporaryStore {
    let store = try TemporaryStore()
    try store.keychain.addKeySlot(passphrase)
    return store
  }

  private func sample(_ account: String, _ accessible: Accessibility) -> NewItem {
    Sample.password(account, accessible: accessible)
  }

  @Test func theFirstSuchItemMakesTheDeviceKeyBesideTheStore() throws {
    let store = try TemporaryStore()
    let path = store.location.deviceKeyPath
    try store.add(sample("a", .always))
    #expect(!FileManager.default.fileExists(atPath: path))
    let items = try Self.withoutPassphrase.map { try store.add(sample($0.code, $0)) }
    #expect(!path.hasPrefix(store.location.directory + "/"))
    let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions]
    #expect(mode as? Int == 0o400)
    try store.reopen()
    for item in items { #expect(try store.text(of: item) == "secret") }
    #expect(try store.keychain.verify(.everything) == VerificationReport(items: 4))
  }

  @Test(arguments: [
    (Accessibility.whenUnlockedThisDeviceOnly, 19), (.afterFirstUnlockThisDeviceOnly, 20), (.alwaysThisDeviceOnly, 21),
  ]) func theClassKeyTakesTheDeviceKeyToo(_ accessible: Accessibility, _ purpose: Int) throws {
    let store = try TemporaryStore()
    try store.add(sample("a", accessible))
    store.keychain.close()
    let reader = try FormatReader(store.raw(), keyFile: store.keyFilePath, deviceKeyFile: store.location.deviceKeyPath)
    #expect(reader.keys[purpose << 24 | 1] != nil)
    let secret = try reader.secret(row: 1, classByte: 1, version: 1)
    #expect(secret.starts(with: Array("secret".utf8)))
    // Its wrapper is the session key or the master key, which a record names in its head.
    let head = try reader.raw.run("SELECT substr(wrapped, 2, 4) FROM keys WHERE id = \(purpose << 24 | 1)")
    #expect(head == [[.blob([purpose == 19 ? 2 : 1, 0, 0, 1])]])
  }

  @Test func aCopyOfTheStoreAloneOpensNothingOfIt() throws {
    let store = try TemporaryStore()
    let here = try store.add(sample("here", .afterFirstUnlockThisDeviceOnly))
    let anywhere = try store.add(sample("anywhere", .afterFirstUnlock))
    let path = store.location.deviceKeyPath
    try store.reopen { try FileManager.default.moveItem(atPath: path, toPath: path + ".away") }
    #expect(store.keychain.condition == .healthy)
    refuses(.notAvailable) { try store.keychain.secret(of: here) }
    #expect(try store.text(of: anywhere) == "secret")
    // Its attributes are there, and no second device key is made, of whatever class.
    #expect(try store.keychain.items(ItemQuery()).count == 2)
    for accessible in Self.withoutPassphrase { refuses(.notAvailable) { try store.add(sample("new", accessible)) } }
    #expect(!FileManager.default.fileExists(atPath: path))
    let report = try store.keychain.verify(.everything)
    #expect(report.locked == 1 && report.unreadable.isEmpty)
    #expect(store.keychain.quarantine.isEmpty)
    try store.reopen { try FileManager.default.moveItem(atPath: path + ".away", toPath: path) }
    #expect(try store.text(of: here) == "secret")
  }

  @Test func theDeviceKeyOfAnotherMachineOpensNothing() throws {
    let store = try TemporaryStore()
    let other = try TemporaryStore()
    try other.keychain.add(sample("other", .alwaysThisDeviceOnly))
    let item = try store.add(sample("here", .alwaysThisDeviceOnly))
    try store.reopen {
      try FileManager.default.removeItem(atPath: store.location.deviceKeyPath)
      try FileManager.default.copyItem(atPath: other.location.deviceKeyPath, toPath: store.location.deviceKeyPath)
    }
    refuses(.notAvailable) { try store.keychain.secret(of: item) }
    refuses(.notAvailable) { try store.add(sample("new", .whenUnlockedThisDeviceOnly)) }
    #expect(store.keychain.quarantine.isEmpty, "nobody altered anything")
    #expect(try store.keychain.verify(.everything).locked == 1)
  }

  @Test func aRecordOfADeviceOnlyClassThatWasAlteredIsStillThat() throws {
    let store = try TemporaryStore()
    let item = try store.add(sample("here", .alwaysThisDeviceOnly))
    try store.alter(
      """
      UPDATE keys SET wrapped = CAST(zeroblob(60) || substr(wrapped, 61) AS BLOB)
      WHERE id = 21 << 24 | 1
      """)
    refuses(.decode) { try store.keychain.secret(of: item) }
  }

  /// The first such item was never committed, and the file is gone: a new one wraps what comes then.
  @Test func theKeyThatWrapsIsTheOneInTheFile() throws {
    struct Failure: Error {}
    let store = try TemporaryStore()
    let path = store.location.deviceKeyPath
    #expect(throws: Failure.self) {
      try store.keychain.database.write { tx in
        try store.keychain.add(sample("never", .alwaysThisDeviceOnly), in: tx)
        throw Failure()
      }
    }
    try FileManager.default.removeItem(atPath: path)
    let item = try store.add(sample("here", .alwaysThisDeviceOnly))
    try store.reopen()
    #expect(try store.text(of: item) == "secret")
  }

  @Test func soIsItAfterTheLastPasscodeItem() throws {
    let store = try guarded()
    try store.add(sample("mortal", .whenPasscodeSetThisDeviceOnly))
    let slot = try #require(try store.keychain.slots().first { $0.kind == .passphrase })
    try store.keychain.removeKeySlot(slot.number)
    try FileManager.default.removeItem(atPath: store.location.deviceKeyPath)
    let item = try store.add(sample("here", .alwaysThisDeviceOnly))
    try store.reopen()
    #expect(try store.text(of: item) == "secret")
  }

  @Test func whatIsForWhenUnlockedHereNeedsThePassphraseToo() throws {
    let store = try TemporaryStore()
    let locked = try store.add(sample("locked", .whenUnlockedThisDeviceOnly))
    let open = try store.add(sample("open", .afterFirstUnlockThisDeviceOnly))
    try store.keychain.addKeySlot(passphrase)
    #expect(try store.text(of: locked) == "secret")
    try store.reopen()
    refuses(.interactionNotAllowed) { try store.keychain.secret(of: locked) }
    #expect(try store.text(of: open) == "secret")
    try store.reopen(with: passphrase)
    #expect(try store.text(of: locked) == "secret")
    #expect(try store.keychain.verify(.everything) == VerificationReport(items: 2))
  }

  @Test func anItemMovesFromEveryClassToEveryOther() throws {
    let store = try guarded()
    var item = try store.add(sample("a", .always))
    for first in Accessibility.allCases {
      for second in Accessibility.allCases {
        item = try store.keychain.update(item, accessible: first)
        item = try store.keychain.update(item, accessible: second)
        #expect(item.accessible == second)
        #expect(try store.text(of: item) == "secret")
      }
    }
    #expect(try store.keychain.verify(.everything) == VerificationReport(items: 1))
  }

  @Test func whenPasscodeSetDiesWithTheLastPassphrase() throws {
    let store = try guarded()
    let mortal = try store.add(sample("mortal", .whenPasscodeSetThisDeviceOnly))
    let other = try store.add(sample("other", .whenUnlockedThisDeviceOnly))
    let second = try store.keychain.addKeySlot(.passphrase(Sample.secret("second")))
    let first = try #require(try store.keychain.slots().first { $0.kind == .passphrase })
    try store.keychain.removeKeySlot(first.number)
    #expect(try store.text(of: mortal) == "secret")
    try store.keychain.removeKeySlot(second.number)
    #expect(try store.keychain.items(ItemQuery()).map(\.id) == [other.id])
    refuses(.itemNotFound) { try store.keychain.secret(of: mortal) }
    try store.reopen()
    #expect(store.keychain.condition == .healthy)
    #expect(try store.text(of: other) == "secret")
    #expect(try store.keychain.verify(.everything) == VerificationReport(items: 1))
  }

  @Test func aReaderOfBeforeDoesNotBringTheKeyOfADeletedClassBack() throws {
    let store = try guarded()
    let keychain = store.keychain
    let mortal = try keychain.add(sample("mortal", .whenPasscodeSetThisDeviceOnly))
    let slot = try #require(try keychain.slots().first { $0.kind == .passphrase })
    try keychain.database.read { tx in
      // The snapshot is taken here.
      _ = try keychain.items(matching: ItemQuery(), in: tx)
      try keychain.removeKeySlot(slot.number)
      #expect(try keychain.secret(of: mortal, in: tx) == Sample.secret("secret"))
      try keychain.addKeySlot(passphrase)
      try keychain.add(sample("new", .whenPasscodeSetThisDeviceOnly))
      #expect(try keychain.secret(of: mortal, in: tx) == Sample.secret("secret"))
    }
    try keychain.tick()
    try keychain.add(sample("newer", .whenPasscodeSetThisDeviceOnly))
    try store.reopen(with: passphrase)
    #expect(try store.keychain.verify(.everything) == VerificationReport(items: 2))
    #expect(try store.keychain.rotateKeys([store.keyFile, passphrase]).items == 2)
  }
}

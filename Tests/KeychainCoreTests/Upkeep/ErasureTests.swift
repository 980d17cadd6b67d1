import Foundation
import KeychainCore
import SodiumCrypto
import TestKit
import Testing

@Suite struct ErasureTests {
  /// What nobody may find: as it is, and as it could be written by mistake.
  private static func forms(of bytes: [UInt8]) -> [String: Data] {
    let data = Data(bytes)
    let hex = bytes.map { String(format: "%02x", $0) }.joined()
    return [
      "raw": data, "hex": Data(hex.utf8), "capitals": Data(hex.uppercased().utf8),
      "base64": Data(data.base64EncodedString().utf8.prefix(bytes.count / 3 * 4)),
    ]
  }

  /// The files of a store, key file and anchor included, that have `needle` in them.
  private func files(of store: TemporaryStore, with needle: Data) throws -> [String] {
    let all = try FileManager.default.subpathsOfDirectory(atPath: store.path)
    #expect(all.contains("store/store.sqlite3"))
    return all.filter { name in
      let data = FileManager.default.contents(atPath: store.path + "/" + name)
      return data?.range(of: needle) != nil
    }
  }

  private func expectNowhere(
    _ bytes: [UInt8], in store: TemporaryStore, _ when: String, _ location: SourceLocation = #_sourceLocation
  ) throws {
    for (form, needle) in Self.forms(of: bytes) {
      let found = try files(of: store, with: needle)
      #expect(found.isEmpty, "\(form), \(when)", sourceLocation: location)
    }
  }

  @Test(arguments: [false, true]) func noSecretAndNoAttributeIsInAnyFile(isDeferred: Bool) throws {
    let store = try TemporaryStore { $0.defersUpkeep = isDeferred }
    let keychain = store.keychain
    let secret = RandomBytes.make(48)
    let second = RandomBytes.make(48)
    let name = RandomBytes.make(30)
    func expectNothing(_ when: String) throws {
      for bytes in [secret, second, name] { try expectNowhere(bytes, in: store, when) }
    }
    let item = try keychain.add(
      NewItem(
        .genericPassword, attributes: [.account: .data(name), .label: .data(name)],
        secret: SecretBytes(copying: secret), accessible: .whenUnlocked))
    try expectNothing("after adding")
    try keychain.update(item, secret: SecretBytes(copying: second))
    try expectNothing("after changing the secret")
    try keychain.update(item, attributes: [.account: .data(name + [1])])
    try expectNothing("after changing the account")
    try store.reopen()
    try expectNothing("after reopening")
    try store.keychain.delete(item)
    try expectNothing("after deleting")
  }

  @Test func theKeysAreInNoFileOfTheStore() throws {
    let store = try TemporaryStore()
    let text = try String(contentsOfFile: store.keyFilePath, encoding: .utf8)
    let key = Data(hex: text)
    #expect(key.count == 32)
    #expect(try files(of: store, with: key) == [])
    #expect(try files(of: store, with: Data(text.utf8.prefix(64))) == ["store.key"])
  }

  /// The sealed secret as it lies on the disk: it must go too, because its key may leak later.
  private func sealedSecret(of item: Item, in keychain: Keychain) throws -> Data {
    let sealed = try keychain.database.read { tx in
      try tx.first("SELECT secret FROM items WHERE id = ?", .integer(item.rowID)) { $0.blob(0) }
    }
    return Data(try #require(sealed))
  }

  @Test func whatWasDeletedOrReplacedLeavesNoCiphertext() throws {
    let store = try TemporaryStore()
    let keychain = store.keychain
    let item = try keychain.add("anna")
    let first = try sealedSecret(of: item, in: keychain)
    #expect(try !files(of: store, with: first).isEmpty)
    try keychain.update(item, secret: Sample.secret("second"))
    #expect(try files(of: store, with: first).isEmpty)
    let second = try sealedSecret(of: item, in: keychain)
    try keychain.delete(item)
    #expect(try files(of: store, with: second).isEmpty)
  }

  @Test func aReaderPutsErasureOffAndTheTickMakesUpForIt() throws {
    let store = try TemporaryStore()
    let keychain = store.keychain
    let item = try keychain.add("anna")
    let sealed = try sealedSecret(of: item, in: keychain)
    try keychain.database.read { tx in
      _ = try keychain.items(matching: ItemQuery(), in: tx)
      try keychain.delete(item)
      #expect(try !files(of: store, with: sealed).isEmpty)
      #expect(try !keychain.eraseDeletedPages())
    }
    try keychain.tick()
    #expect(try files(of: store, with: sealed).isEmpty)
  }

  @Test func theTickErasesWhereTheAnchorCannotBeWritten() throws {
    let store = try TemporaryStore {
      $0.defersUpkeep = true
      $0.anchorInterval = 0
    }
    let item = try store.add("anna")
    let sealed = try sealedSecret(of: item, in: store.keychain)
    try FileManager.default.removeItem(atPath: store.location.anchorDirectory)
    try store.keychain.delete(item)
    try store.keychain.tick()
    #expect(try files(of: store, with: sealed).isEmpty)
    #expect(!store.keychain.notices.isEmpty)
  }

  @Test func whatAKilledProcessDeletedIsErasedByTheNextOne() async throws {
    let store = try TemporaryStore { $0.defersUpkeep = true }
    let item = try store.add("anna")
    let sealed = try sealedSecret(of: item, in: store.keychain)
    store.keychain.close()
    let (directory, key) = (store.location.directory, store.keyFilePath)
    await #expect(processExitsWith: .signal(SIGKILL)) { [directory = directory as String, key = key as String] in
      var options = KeychainOptions()
      options.defersUpkeep = true
      let keychain = try Keychain.open(
        at: StoreLocation(directory: directory), with: .keyFile(path: key), options: options)
      let item = try #require(try keychain.items(ItemQuery()).first)
      try keychain.delete(item)
      kill(getpid(), SIGKILL)
    }
    #expect(try !files(of: store, with: sealed).isEmpty)
    try store.reopen()
    try store.keychain.tick()
    #expect(try files(of: store, with: sealed).isEmpty)
  }

  @Test func whatIsNotErasedYetIsErasedAtClosing() throws {
    let store = try TemporaryStore { $0.defersUpkeep = true }
    let item = try store.add("anna")
    let sealed = try sealedSecret(of: item, in: store.keychain)
    try store.keychain.delete(item)
    store.keychain.close()
    #expect(try files(of: store, with: sealed).isEmpty)
  }
}

@Suite("Upkeep that cannot wait") struct UrgentUpkeepTests {
  @Test(
    "What is erased or in the audit asks for it, whoever commits it, and what only keeps records up to date does not")
  func asks() throws {
    let store = try TemporaryStore {
      $0.defersUpkeep = true
      $0.auditor = "daemon"
    }
    let (keychain, records) = (store.keychain, SealedRecords(store.keychain))
    // The first has its key made.
    try records.commit(.of(.sample(3, "router")))
    try keychain.tick()
    let calls = Locked(0)
    records.onUrgentUpkeep { calls.withLock { $0 += 1 } }
    func expect(_ count: Int, _ words: String, _ commit: () throws -> Void) throws {
      calls.withLock { $0 = 0 }
      try commit()
      #expect(calls.withLock { $0 } == count, "\(words)")
      #expect(keychain.owesUpkeep, "\(words)")
      try records.upkeep()
      #expect(!keychain.owesUpkeep, "\(words)")
    }
    try expect(0, "records") { try records.commit(.of(.sample(1, "a", .text("one")), .sample(2, "b"))) }
    try expect(0, "a state") { try records.commit(.of(.sample(1, "seen again"))) }
    try expect(1, "a secret") { try records.commit(.of(.sample(1, "a", .text("two")))) }
    try expect(1, "a line of the audit") {
      var changes = RecordChanges.of(.sample(2, "c"))
      changes.audit = [.init(actor: nil, .credentialsGiven, "node")]
      try records.commit(changes)
    }
    var slot: KeySlot?
    try expect(1, "a key slot") { slot = try keychain.addKeySlot(.keyFile(path: store.path + "/second.key")) }
    try expect(1, "no key slot") { try keychain.removeKeySlot(#require(slot).number) }
    calls.withLock { $0 = 0 }
    #expect(throws: KeychainError.self) { try keychain.removeKeySlot(99) }
    #expect(calls.withLock { $0 } == 0, "nothing was committed")
  }

  @Test("However often it was asked for, it takes no more of the stack") func depth() throws {
    let store = try TemporaryStore {
      $0.defersUpkeep = true
      $0.auditor = "daemon"
    }
    let records = SealedRecords(store.keychain)
    let places = Locked<[UInt]>([])
    records.onUrgentUpkeep {
      var local: UInt8 = 0
      withUnsafeMutablePointer(to: &local) { place in places.withLock { $0.append(UInt(bitPattern: place)) } }
    }
    for round in 0..<20 { try records.commit(.of(.sample(1, "a", .text("secret \(round)")))) }
    let found = places.withLock { $0 }
    // Not for the first, which adds it.
    #expect(found.count == 19)
    // The first have more to do before.
    #expect(Set(found.suffix(10)).count == 1)
  }
}

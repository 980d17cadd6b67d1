import Foundation
import KeychainCore
import SodiumCrypto
import TestKit
import Testing

@Suite struct KeySlotTests {
  private let passphrase = KeySlotSecret.passphrase(Sample.secret("correct horse"))

  private func open(_ store: TemporaryStore, _ secret: KeySlotSecret) throws -> Keychain {
    try Keychain.open(at: store.location, with: secret, access: .readOnly)
  }

  @Test func anotherKeyFileOpensNothing() throws {
    let store = try TemporaryStore()
    let other = try TemporaryStore()
    refuses(.authFailed) { try open(store, other.keyFile) }
  }

  @Test func aMissingOrMalformedKeyFileSaysSo() throws {
    let store = try TemporaryStore()
    refuses(.authFailed) { try open(store, .keyFile(path: store.path + "/none")) }
    for text in ["", "abc", String(repeating: "g", count: 64), String(repeating: "a", count: 65)] {
      let path = store.path + "/bad.key"
      try? FileManager.default.removeItem(atPath: path)
      try write(text, to: path)
      refuses(.authFailed) { try open(store, .keyFile(path: path)) }
    }
  }

  @Test func aKeyFileIsOneLineOfHexadecimalDigits() throws {
    let store = try TemporaryStore()
    let text = try String(contentsOfFile: store.keyFilePath, encoding: .utf8)
    #expect(text.count == 65 && text.hasSuffix("\n"))
    let digits = text.dropLast()
    #expect(digits.allSatisfy { $0.isHexDigit && !$0.isUppercase })
    let mode = try FileManager.default.attributesOfItem(atPath: store.keyFilePath)
    #expect(mode[.posixPermissions] as? Int == 0o400)
    // Typed in again in capitals, with another line end, or as raw bytes: the same key.
    try write(digits.uppercased() + "\r\n", to: store.path + "/typed.key")
    _ = try open(store, .keyFile(path: store.path + "/typed.key"))
    try Data(hex: digits).write(to: URL(fileURLWithPath: store.path + "/raw.key"))
    chmod(store.path + "/raw.key", 0o400)
    _ = try open(store, .keyFile(path: store.path + "/raw.key"))
  }

  @Test func aPassphraseOpensAndAnotherDoesNot() throws {
    let store = try TemporaryStore(slots: [passphrase])
    _ = try open(store, passphrase)
    refuses(.authFailed) { try open(store, .passphrase(Sample.secret("wrong horse"))) }
  }

  @Test func withAPassphraseTheKeyFileDoesNotReachWhatIsForWhenUnlocked() throws {
    let store = try TemporaryStore()
    let locked = try store.add("a", accessible: .whenUnlocked)
    try store.add("second", accessible: .whenUnlocked)
    let open = try store.add("b", accessible: .afterFirstUnlock)
    try store.keychain.addKeySlot(passphrase, label: "mine")

    try store.reopen()
    #expect(store.keychain.condition == .healthy)
    refuses(.interactionNotAllowed) { try store.keychain.secret(of: locked) }
    #expect(try store.text(of: open) == "secret")
    // It can be found, and it cannot be added to.
    #expect(try store.keychain.items(ItemQuery()).count == 3)
    refuses(.interactionNotAllowed) { try store.add("c", accessible: .whenUnlocked) }
    refuses(.interactionNotAllowed) { try store.keychain.update(locked, secret: Sample.secret("x")) }
    refuses(.interactionNotAllowed) { try store.keychain.update(locked, accessible: .always) }
    refuses(.interactionNotAllowed) { try store.keychain.update(open, accessible: .whenUnlocked) }
    // Its attributes can change while it is locked, and it can be deleted.
    try store.keychain.update(locked, attributes: [.label: .string("x")])
    let second = try #require(try store.keychain.items(ItemQuery()).first { $0[.account] == .string("second") })
    try store.keychain.delete(second)
    refuses(.interactionNotAllowed) { try store.keychain.addKeySlot(.passphrase(Sample.secret("another"))) }
    let report = try store.keychain.verify(.everything)
    #expect(report.locked == 1 && report.unreadable.isEmpty && report.matchesManifest)

    try store.reopen(with: passphrase)
    #expect(try store.text(of: locked) == "secret")
    try store.add("c", accessible: .whenUnlocked)
  }

  @Test func anOlderCopyAndAKeyFileDoNotOpenWhatCameAfterTheFirstPassphrase() throws {
    let store = try TemporaryStore()
    let early = try store.add("early", accessible: .whenUnlocked)
    try store.reopen()
    let changed = try store.add("changed", accessible: .whenUnlocked)
    store.keychain.close()
    let copy = store.path + "/copy.sqlite3"
    try FileManager.default.copyItem(atPath: store.location.databasePath, toPath: copy)
    let old = try FormatReader(RawStore(copy), keyFile: store.keyFilePath)
    try store.reopen()
    try store.keychain.addKeySlot(passphrase)
    // Still in the process that added it, and later.
    let late = try store.add("late", accessible: .whenUnlocked)
    try store.keychain.update(changed, secret: Sample.secret("second"))
    try store.reopen(with: passphrase)
    #expect(store.keychain.condition == .healthy)
    for (item, secret) in [(early, "secret"), (changed, "second"), (late, "secret")] {
      #expect(try store.text(of: item) == secret)
    }
    try store.add("latest", accessible: .whenUnlocked)
    #expect(try store.keychain.verify(.everything) == VerificationReport(items: 4))

    let raw = try store.raw()
    // Purpose << 24 | epoch: the class is 16, the session key 2.
    let classKeys = try raw.run("SELECT class_key FROM items ORDER BY id").map { $0[0] }
    // What was there before has been sealed again.
    #expect(classKeys == [2, 2, 2, 2].map { .integer(16 << 24 | $0) })
    #expect(old.keys[16 << 24 | 1] != nil && old.keys[16 << 24 | 2] == nil)
    let wrappers = try raw.run("SELECT substr(wrapped, 2, 4) FROM keys WHERE id >> 24 = 16")
    #expect(wrappers == [[.blob([2, 0, 0, 2])]])
    #expect(try raw.run("SELECT 1 FROM keys WHERE id >> 24 = 2").isEmpty)
  }

  @Test func whenTheLastPassphraseGoesTheKeyFileReachesEverythingAgain() throws {
    let store = try TemporaryStore()
    try store.keychain.addKeySlot(passphrase)
    let item = try store.add("a", accessible: .whenUnlocked)
    let slots = try store.keychain.slots()
    #expect(slots.map(\.kind) == [.keyFile, .passphrase])
    let second = try store.keychain.addKeySlot(.passphrase(Sample.secret("second")))
    try store.keychain.removeKeySlot(slots[1].number)
    try store.reopen()
    refuses(.interactionNotAllowed) { try store.keychain.secret(of: item) }
    refuses(.interactionNotAllowed) { try store.keychain.removeKeySlot(second.number) }
    try store.reopen(with: .passphrase(Sample.secret("second")))
    try store.keychain.removeKeySlot(second.number)
    try store.reopen()
    #expect(store.keychain.condition == .healthy)
    #expect(try store.text(of: item) == "secret")
  }

  @Test func slotsComeAndGo() throws {
    let store = try TemporaryStore()
    let spare = KeySlotSecret.keyFile(path: store.path + "/spare.key")
    let added = try store.keychain.addKeySlot(spare, label: "in the safe")
    let slots = try store.keychain.slots()
    #expect(slots.count == 2 && slots.last == added && added.label == "in the safe")
    refuses(.itemNotFound) { try store.keychain.removeKeySlot(99) }
    try store.keychain.removeKeySlot(slots[0].number)
    refuses(.param) { try store.keychain.removeKeySlot(added.number) }
    store.keychain.close()
    refuses(.authFailed) { try open(store, store.keyFile) }
    try store.reopen(with: spare)
    #expect(store.keychain.condition == .healthy)
  }

  @Test func aStoreNeedsASlotAndStrongParameters() throws {
    let directory = try TemporaryDirectory()
    let location = StoreLocation(directory: directory.file("store"))
    refuses(.param) { try Keychain.create(at: location, slots: []) }
    var weak = KeychainOptions()
    weak.passwordHash = .init(operations: 1, memory: 1 << 20)
    refuses(.authFailed) { try Keychain.create(at: location, slots: [passphrase], options: weak) }
    #expect(!Keychain.exists(at: location))
  }

  /// Passes and memory of a stored slot, as somebody could write them who wants it to be guessed, or
  /// never to open.
  @Test(arguments: [(UInt32(1), UInt64(8192)), (2, 1 << 20), (.max, 64 << 20), (2, .max)])
  func storedParametersBeyondTheLimitsAreRefused(_ passes: UInt32, _ memory: UInt64) throws {
    let store = try TemporaryStore(slots: [passphrase])
    store.keychain.close()
    let raw = try store.raw()
    var bytes = try raw.blob("SELECT parameters FROM key_slots WHERE kind = 2")
    withUnsafeBytes(of: passes.bigEndian) { bytes.replaceSubrange(1..<5, with: $0) }
    withUnsafeBytes(of: memory.bigEndian) { bytes.replaceSubrange(5..<13, with: $0) }
    try raw.run("UPDATE key_slots SET parameters = ? WHERE kind = 2", [.blob(bytes)])
    raw.close()
    let error = #expect(throws: KeychainError.self) { try open(store, passphrase) }
    #expect(error?.status == .authFailed && error?.message.contains("Argon2id with") == true)
  }

  private func write(_ text: String, to path: String) throws {
    try text.write(toFile: path, atomically: false, encoding: .utf8)
    chmod(path, 0o400)
  }
}

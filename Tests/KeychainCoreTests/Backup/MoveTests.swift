import Foundation
import KeychainCore
import TestKit
import Testing

/// A backup that is restored on a machine that has neither its store nor its key file.
@Suite("A backup on another machine") struct MoveTests {
  /// What opens a backup there.
  enum Way: CaseIterable { case passphrase, recoveryCode, keyFile }

  private let old: TemporaryStore
  private let machine: TemporaryDirectory
  private let backup: String
  private let code = RecoveryCode()
  private static let passphrase = KeySlotSecret.passphrase(Sample.secret("correct horse battery"))

  private var location: StoreLocation { StoreLocation(directory: machine.file("deep/store")) }
  private var keyFile: String { machine.file("store.key") }

  init() throws {
    old = try TemporaryStore()
    machine = try TemporaryDirectory()
    backup = machine.file("backup")
    try old.keychain.addKeySlot(Self.passphrase)
    try old.keychain.addKeySlot(.recoveryCode(code))
    try old.add("anna")
    try old.add("bert", accessible: .whenUnlocked)
    _ = try old.keychain.backup(to: backup)
  }

  private func secret(_ way: Way) -> KeySlotSecret {
    switch way {
    case .passphrase: Self.passphrase
    case .recoveryCode: .recoveryCode(code)
    case .keyFile: old.keyFile
    }
  }

  private func accounts(_ secret: KeySlotSecret) throws -> Set<String> {
    let keychain = try Keychain.open(at: location, with: secret)
    defer { keychain.close() }
    #expect(keychain.condition == .healthy && keychain.notices.isEmpty)
    #expect(try keychain.verify().matchesManifest && keychain.auditProblem() == nil)
    return try keychain.accounts()
  }

  @Test(
    "It opens with any slot of its store, and afterwards with a key file of the machine's own", arguments: Way.allCases)
  func move(_ way: Way) throws {
    let report = try Keychain.restore(backup, to: location, with: [secret(way)], keyFile: keyFile)
    #expect(report.madeKeyFile && report.items == 2 && !report.replaced)
    #expect(report.behindBy == nil && report.changesLost == nil)
    // A key file opens no locked class.
    #expect(report.locked == (way == .keyFile ? 1 : 0) && report.leftOut == 0)
    #expect(try mode(keyFile) == 0o400)
    #expect(
      try Data(contentsOf: URL(fileURLWithPath: keyFile)) != Data(contentsOf: URL(fileURLWithPath: old.keyFilePath)))
    let keychain = try Keychain.open(at: location, with: .keyFile(path: keyFile))
    let slots = try keychain.slots()
    #expect(slots.map(\.kind) == [.keyFile, .passphrase, .recoveryCode, .keyFile])
    #expect(slots.last == report.newSlot && report.newSlot?.label == "restored")
    #expect(!keychain.isUnlocked)
    keychain.close()
    for way in Way.allCases { #expect(try accounts(secret(way)) == ["anna", "bert"]) }
  }

  @Test("A key file that is there is never replaced: it gets a slot, unless it opens the store already") func existing()
    throws
  {
    let replaced = try Keychain.create(at: location, slots: [.keyFile(path: keyFile)])
    replaced.close()
    let before = try Data(contentsOf: URL(fileURLWithPath: keyFile))
    let report = try Keychain.restore(backup, to: location, with: [Self.passphrase], replacing: true, keyFile: keyFile)
    #expect(report.newSlot?.number == 4 && !report.madeKeyFile)
    #expect(try Data(contentsOf: URL(fileURLWithPath: keyFile)) == before)
    #expect(try accounts(.keyFile(path: keyFile)) == ["anna", "bert"])

    try FileManager.default.removeItem(atPath: keyFile)
    try FileManager.default.copyItem(atPath: old.keyFilePath, toPath: keyFile)
    let again = try Keychain.restore(backup, to: location, with: [Self.passphrase], replacing: true, keyFile: keyFile)
    #expect(again.newSlot == nil && !again.madeKeyFile)
    #expect(try accounts(.keyFile(path: keyFile)) == ["anna", "bert"])
  }

  @Test("A key file that cannot be used stops the restore, and nothing has changed") func unusable() throws {
    try Data("no key\n".utf8).write(to: URL(fileURLWithPath: keyFile))
    for mode in [mode_t(0o444), 0o400] {
      chmod(keyFile, mode)
      let error = #expect(throws: KeychainError.self) {
        try Keychain.restore(backup, to: location, with: [Self.passphrase], keyFile: keyFile)
      }
      #expect(error?.message.contains(keyFile) == true, "\(error.debugDescription)")
      #expect(!Keychain.exists(at: location))
    }
    #expect(try String(contentsOfFile: keyFile, encoding: .utf8) == "no key\n")
  }

  @Test("A backup that is refused leaves no key file, and no store") func refused() throws {
    var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: backup)))
    bytes[bytes.count - 1] ^= 1
    try Data(bytes).write(to: URL(fileURLWithPath: backup))
    refuses(.decode) { try Keychain.restore(backup, to: location, with: [Self.passphrase], keyFile: keyFile) }
    #expect(!FileManager.default.fileExists(atPath: keyFile) && !Keychain.exists(at: location))
  }
}

import Foundation
import TestKit
import Testing

@testable import KeychainCore

/// A rotation, and a first passphrase, where the device key is not beside the store, or something else lies there.
@Suite struct DeviceRenewalTests {
  private static let classes: [Accessibility] = [
    .whenUnlockedThisDeviceOnly, .afterFirstUnlockThisDeviceOnly, .alwaysThisDeviceOnly,
  ]
  private let passphrase = KeySlotSecret.passphrase(Sample.secret("correct horse"))
  private let store: TemporaryStore
  private let away: String

  init() throws {
    store = try TemporaryStore { $0.auditor = "tester" }
    away = store.location.deviceKeyPath + ".away"
    for accessible in Self.classes { try add(accessible.code, accessible) }
    try add("anywhere", .afterFirstUnlock)
  }

  @discardableResult private func add(_ account: String, _ accessible: Accessibility) throws -> Item {
    try store.add(account, secret: account, accessible: accessible)
  }

  private var path: String { store.location.deviceKeyPath }

  private func takeAway() throws { try store.reopen { try FileManager.default.moveItem(atPath: path, toPath: away) } }

  /// As the file of another machine.
  private func putAnother() throws {
    _ = try KeyFile.createIfAbsent(path)
    try store.reopen()
  }

  private func exchange() throws {
    try FileManager.default.moveItem(atPath: path, toPath: away)
    _ = try KeyFile.createIfAbsent(path)
  }

  private func putBack() throws {
    try? FileManager.default.removeItem(atPath: path)
    try FileManager.default.moveItem(atPath: away, toPath: path)
  }

  private func readable() throws -> Set<String> {
    Set(
      try store.keychain.items(ItemQuery()).compactMap { item in
        guard let secret = try? store.keychain.secret(of: item) else { return nil }
        return secret.text
      })
  }

  private static let all = Set(classes.map(\.code) + ["anywhere"])

  /// - Returns: what it was refused with.
  private func refusal(_ body: () throws -> Void) throws -> KeychainError {
    try #require(#expect(throws: KeychainError.self, performing: body))
  }

  @Test(arguments: [false, true]) func withoutTheDeviceKeyOfItsItemsARotationIsRefused(_ isAnother: Bool) throws {
    let slots = try store.keychain.slots()
    try takeAway()
    if isAnother { try putAnother() }
    let error = try refusal { try store.keychain.rotateKeys([store.keyFile]) }
    #expect(error.status == .notAvailable && !error.isTemporary)
    #expect(error.message.hasPrefix("3 items for this device only need their device key"))
    #expect(error.message.contains(path), "\(error)")
    #expect(error.message.contains("--delete-device-items"), "\(error)")
    #expect(try store.keychain.slots() == slots)
    try store.reopen { try putBack() }
    #expect(try store.keychain.rotateKeys([store.keyFile]) == RotationReport(items: 4))
    try store.reopen()
    #expect(try readable() == Self.all)
    #expect(try store.keychain.verify(.everything) == VerificationReport(items: 4))
  }

  @Test(arguments: [false, true]) func aFirstPassphraseIsRefusedToo(_ isAnother: Bool) throws {
    let leaked = LeakedKeys(store.keychain)
    try takeAway()
    if isAnother { try putAnother() }
    let error = try refusal { try store.keychain.addKeySlot(passphrase) }
    #expect(error.status == .notAvailable && error.message.hasPrefix("1 items"), "\(error)")
    #expect(try store.keychain.slots().count == 1)
    try store.reopen { try putBack() }
    try store.keychain.addKeySlot(passphrase)
    #expect(try leaked.opens(store.keychain).allSatisfy { !$0.contains("19.") })
    #expect(try readable() == Self.all)
    try store.reopen()
    #expect(try readable() == Self.all.subtracting([Accessibility.whenUnlockedThisDeviceOnly.code]))
    try store.reopen(with: passphrase)
    #expect(try readable() == Self.all)
    #expect(try store.keychain.verify(.everything) == VerificationReport(items: 4))
  }

  /// Nothing is lost with the key of a class that has no items any more.
  @Test func withoutItemsNoDeviceKeyIsNeeded() throws {
    for item in try store.keychain.items(ItemQuery()) where item[.account]?.string != "anywhere" {
      try store.keychain.delete(item)
    }
    try takeAway()
    #expect(try store.keychain.rotateKeys([store.keyFile]) == RotationReport(items: 1))
    try store.keychain.addKeySlot(passphrase)
    try add("new", .alwaysThisDeviceOnly)
    try store.reopen()
    #expect(try readable() == ["anywhere", "new"])
  }

  @Test func itemsOfADeviceThatIsGoneAreDeletedIfThatIsAskedFor() throws {
    try takeAway()
    let report = try store.keychain.rotateKeys([store.keyFile], deletingDeviceItems: true)
    #expect(report == RotationReport(items: 1, deletedItems: 3))
    #expect(try store.keychain.items(ItemQuery()).map { $0[.account]?.string } == ["anywhere"])
    var lines: [AuditRecord.Line] = []
    try store.keychain.forEachAuditRecord { lines += $0.lines }
    #expect(lines.filter { $0.action == .deleted }.count == 3)
    // And the way is free for a new device key.
    try add("new", .alwaysThisDeviceOnly)
    try store.reopen()
    #expect(try readable() == ["anywhere", "new"])
    #expect(try store.keychain.verify(.everything) == VerificationReport(items: 2))
  }

  enum Spoiling: CaseIterable { case open, link, linkToNothing, malformed, directory }

  private func spoil(_ how: Spoiling) throws {
    let files = FileManager.default
    if how == .open {
      #expect(chmod(path, 0o644) == 0)
      return
    }
    try files.moveItem(atPath: path, toPath: away)
    switch how {
    case .open: break
    case .link: try files.createSymbolicLink(atPath: path, withDestinationPath: away)
    case .linkToNothing: try files.createSymbolicLink(atPath: path, withDestinationPath: away + ".none")
    case .malformed:
      try Data("what is this?\n".utf8).write(to: URL(fileURLWithPath: path))
      chmod(path, 0o400)
    case .directory: try files.createDirectory(atPath: path, withIntermediateDirectories: false)
    }
  }

  private func fix(_ how: Spoiling) throws {
    if how == .open { #expect(chmod(path, 0o400) == 0) } else { try putBack() }
  }

  @Test(arguments: Spoiling.allCases) func nothingIsDeletedWhileSomethingIsInItsPlace(_ how: Spoiling) throws {
    try store.reopen { try spoil(how) }
    for deletes in [false, true] {
      let error = #expect(throws: KeychainError.self) {
        try store.keychain.rotateKeys([store.keyFile], deletingDeviceItems: deletes)
      }
      #expect(error?.status == .notAvailable && error?.message.contains(path) == true)
    }
    try store.reopen { try fix(how) }
    #expect(try readable() == Self.all)
    #expect(try store.keychain.verify(.everything) == VerificationReport(items: 4))
  }

  @Test func aDeviceKeyInUseWhoseFileIsLostIsWrittenAgain() throws {
    let bytes = FileManager.default.contents(atPath: path)
    // In memory from here on.
    #expect(try readable() == Self.all)
    try FileManager.default.removeItem(atPath: path)
    let report = try store.keychain.rotateKeys([store.keyFile], deletingDeviceItems: true)
    #expect(report == RotationReport(items: 4, hasWrittenDeviceKey: true))
    #expect(FileManager.default.contents(atPath: path) == bytes)
    try store.reopen()
    #expect(try readable() == Self.all)
    #expect(try store.keychain.rotateKeys([store.keyFile]) == RotationReport(items: 4))
  }

  /// With and without a class that the new session key wraps.
  @Test(arguments: [false, true]) func aFirstPassphraseWritesALostDeviceKeyToo(_ hasLockedOnes: Bool) throws {
    if !hasLockedOnes {
      try store.keychain.database.write { [keychain = store.keychain] tx in
        let query = ItemQuery(.genericPassword, [.account: .string(Accessibility.whenUnlockedThisDeviceOnly.code)])
        for item in try keychain.items(matching: query, in: tx) { try keychain.delete(item, in: tx) }
      }
    }
    let all = hasLockedOnes ? Self.all : Self.all.subtracting([Accessibility.whenUnlockedThisDeviceOnly.code])
    let bytes = FileManager.default.contents(atPath: path)
    #expect(try readable() == all)
    try FileManager.default.removeItem(atPath: path)
    var times = 0
    try store.keychain.addKeySlot(passphrase) { times += 1 }
    #expect(times == 1)
    #expect(FileManager.default.contents(atPath: path) == bytes)
    try store.reopen(with: passphrase)
    #expect(try readable() == all)
    // A second one makes no new session key.
    try store.keychain.addKeySlot(.passphrase(Sample.secret("another one"))) { times += 1 }
    #expect(times == 1)
    #expect(try store.keychain.verify(.everything) == VerificationReport(items: all.count))
  }

  @Test func aFirstPassphraseLeavesTheDeviceKeyInUseWhenAnotherIsInItsPlace() throws {
    #expect(try readable() == Self.all)
    try exchange()
    let slots = try store.keychain.slots()
    refuses(.notAvailable) { try store.keychain.addKeySlot(passphrase) }
    #expect(try store.keychain.slots() == slots)
    try putBack()
    try store.keychain.addKeySlot(passphrase)
    try store.reopen(with: passphrase)
    #expect(try readable() == Self.all)
  }

  @Test func aDeviceKeyInUseIsNotReplacedByAnother() throws {
    #expect(try readable() == Self.all)
    try exchange()
    for deletes in [false, true] {
      refuses(.notAvailable) { try store.keychain.rotateKeys([store.keyFile], deletingDeviceItems: deletes) }
    }
    try store.reopen { try putBack() }
    #expect(try readable() == Self.all)
  }

  /// Read once, it must not stand for the right one that was put back since.
  @Test func anotherOneInMemoryGivesWayToTheFile() throws {
    try store.reopen { try exchange() }
    #expect(try readable() == ["anywhere"])
    try putBack()
    #expect(try store.keychain.rotateKeys([store.keyFile]) == RotationReport(items: 4))
    #expect(try readable() == Self.all)
    try store.reopen()
    #expect(try readable() == Self.all)
  }
}

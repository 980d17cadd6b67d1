// SPDX-License-Identifier: Apache-2.0

import Foundation
import SodiumCrypto
import TestKit
import Testing

@testable import KeychainCore

/// A rotation, and a first passphrase, where the device key is not beside the store.
@Suite struct DeviceRenewalTests {
  private static let classes: [Accessibility] = [
    .whenUnlockedThisDeviceOnly, .afterFirstUnlockThisDeviceOnly, .alwaysThisDeviceOnly,
  ]
  private let passphrase = KeySlotSecret.passphrase(Sample.secret("correct horse"))
  private let store: TemporaryStore
  private let away: String

  init() throws {
    var options = KeychainOptions()
    options.passwordHash = .floor
    options.auditor = "tester"
    store = try TemporaryStore(options: options)
    away = store.location.deviceKeyPath + ".away"
    for accessible in Self.classes { try add(accessible.code, accessible) }
    try add("anywhere", .afterFirstUnlock)
  }

  @discardableResult
  private func add(_ account: String, _ accessible: Accessibility) throws -> Item {
    try store.keychain.add(Sample.password(account, secret: account, accessible: accessible))
  }

  private func takeAway() throws {
    try store.reopen {
      try FileManager.default.moveItem(atPath: store.location.deviceKeyPath, toPath: away)
    }
  }

  /// As the file of another machine.
  private func putAnother() throws {
    _ = try KeyFile.createIfAbsent(store.location.deviceKeyPath)
    try store.reopen()
  }

  private func bringBack() throws {
    try store.reopen {
      try? FileManager.default.removeItem(atPath: store.location.deviceKeyPath)
      try FileManager.default.moveItem(atPath: away, toPath: store.location.deviceKeyPath)
    }
  }

  private func readable() throws -> Set<String> {
    Set(
      try store.keychain.items(ItemQuery()).compactMap { item in
        guard let secret = try? store.keychain.secret(of: item) else { return nil }
        return secret.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
      })
  }

  private static let all = Set(classes.map(\.code) + ["anywhere"])

  /// - Returns: what it was refused with.
  private func refusal(_ body: () throws -> Void) throws -> KeychainError {
    try #require(#expect(throws: KeychainError.self, performing: body))
  }

  @Test(arguments: [false, true])
  func withoutTheDeviceKeyOfItsItemsARotationIsRefused(_ isAnother: Bool) throws {
    let slots = try store.keychain.slots()
    try takeAway()
    if isAnother { try putAnother() }
    let error = try refusal { try store.keychain.rotateKeys([store.keyFile]) }
    #expect(error.status == .notAvailable && !error.isTemporary)
    #expect(error.message.hasPrefix("3 items for this device only need their device key"))
    #expect(error.message.contains(store.location.deviceKeyPath), "\(error)")
    #expect(error.message.contains("--delete-device-items"), "\(error)")
    #expect(try store.keychain.slots() == slots)
    try bringBack()
    #expect(try store.keychain.rotateKeys([store.keyFile]) == RotationReport(items: 4))
    try store.reopen()
    #expect(try readable() == Self.all)
    #expect(try store.keychain.verify(.everything) == VerificationReport(items: 4))
  }

  @Test(arguments: [false, true])
  func aFirstPassphraseIsRefusedToo(_ isAnother: Bool) throws {
    let leaked = LeakedKeys(store.keychain)
    try takeAway()
    if isAnother { try putAnother() }
    let error = try refusal { try store.keychain.addKeySlot(passphrase) }
    #expect(error.status == .notAvailable && error.message.hasPrefix("1 items"), "\(error)")
    #expect(try store.keychain.slots().count == 1)
    try bringBack()
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
    for item in try store.keychain.items(ItemQuery())
    where item[.account]?.string != "anywhere" { try store.keychain.delete(item) }
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

  @Test func withTheRightDeviceKeyNothingIsDeleted() throws {
    let report = try store.keychain.rotateKeys([store.keyFile], deletingDeviceItems: true)
    #expect(report == RotationReport(items: 4))
    #expect(try readable() == Self.all)
  }
}

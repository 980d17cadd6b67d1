// SPDX-License-Identifier: Apache-2.0

import Foundation
import SodiumCrypto
import TestKit
import Testing

@testable import KeychainCore

/// New root keys, and a first passphrase, where the device key is not beside the store.
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

  @Test(arguments: [false, true])
  func newRootsDoNotTakeTheDeviceKeyAndItsItemsWaitForIt(_ isAnother: Bool) throws {
    let leaked = LeakedKeys(store.keychain)
    try takeAway()
    if isAnother { try putAnother() }
    // Twice: what was carried once is carried on.
    for round in 1...2 {
      let report = try store.keychain.renewRootKeys([store.keyFile])
      #expect(report.itemsOfAnotherDevice == 3 && report.deletedItems == 0, "round \(round)")
      #expect((report.deviceKeyProblem != nil) == isAnother, "round \(round)")
      #expect(try store.keychain.rotateKeys().isFinished)
      #expect(try readable() == ["anywhere"])
      // The old roots open no record, with the device key neither.
      #expect(try leaked.opens(store.keychain).allSatisfy { !$0.hasPrefix("key") })
      #expect(store.keychain.quarantine.isEmpty)
      refuses(.notAvailable) { try add("new", .alwaysThisDeviceOnly) }
      try store.reopen()
    }
    let report = try store.keychain.verify(.everything)
    #expect(report.locked == 3 && report.unreadable.isEmpty && report.matchesManifest)
    try bringBack()
    #expect(try readable() == Self.all)
    #expect(try store.keychain.verify(.everything) == VerificationReport(items: 4))
  }

  /// New roots while the device key is away.
  ///
  /// - Returns: the keys of before, and the last audit record that they open.
  private func renewWithoutDeviceKey() throws -> (LeakedKeys, Int64) {
    let leaked = LeakedKeys(store.keychain)
    let records = try store.keychain.lastAuditRecord()
    try takeAway()
    try store.keychain.renewRootKeys([store.keyFile])
    return (leaked, records)
  }

  @Test func whenTheDeviceKeyIsBackNothingIsAddedUnderTheKeysOfBefore() throws {
    let (leaked, records) = try renewWithoutDeviceKey()
    try store.keychain.rotateKeys()
    try bringBack()
    let before = try leaked.opens(store.keychain, after: records)
    #expect(before == (1...3).map { "secret of row \($0)" })
    for accessible in Self.classes { try add("new " + accessible.code, accessible) }
    #expect(try leaked.opens(store.keychain, after: records) == before)
    #expect(try store.keychain.rotateKeys().isFinished)
    #expect(try leaked.opens(store.keychain, after: records).isEmpty)
    let all = Self.all.union(Self.classes.map { "new " + $0.code })
    for _ in 0..<2 {
      #expect(try readable() == all)
      try store.reopen()
    }
    #expect(try store.keychain.verify(.everything) == VerificationReport(items: 7))
  }

  @Test func whenTheDeviceKeyIsBackARotationIsOwedAndGoesOn() throws {
    let (leaked, records) = try renewWithoutDeviceKey()
    try store.keychain.rotateKeys()
    #expect(try !store.keychain.rotationIsOwed())
    try putAnother()
    #expect(try !store.keychain.rotationIsOwed())
    try bringBack()
    #expect(try !store.keychain.rotationIsPending() && store.keychain.rotationIsOwed())
    let report = try store.keychain.rotateKeys(beginning: false)
    #expect(report.isFinished && report.renewed == 3 && !report.wasPending, "\(report)")
    #expect(try leaked.opens(store.keychain, after: records).isEmpty)
    #expect(try !store.keychain.rotationIsOwed())
    try store.reopen()
    #expect(try readable() == Self.all)
    #expect(try store.keychain.verify(.everything) == VerificationReport(items: 4))
  }

  @Test func aChangeOfAttributesAloneTakesTheItemFromTheKeysOfBefore() throws {
    let (leaked, records) = try renewWithoutDeviceKey()
    for round in 1...2 {
      for item in try store.keychain.items(ItemQuery()) {
        try store.keychain.update(item, attributes: [.comment: .string("round \(round)")])
      }
      let waiting = round == 1 ? (1...3).map { "secret of row \($0)" } : []
      #expect(try leaked.opens(store.keychain, after: records) == waiting, "round \(round)")
      if round == 1 { try bringBack() }
    }
    #expect(try readable() == Self.all)
    #expect(try store.keychain.verify(.everything) == VerificationReport(items: 4))
  }

  /// A record of before `device key id`, by hand: sealed under both keys, and naming none.
  @Test func aRecordThatDoesNotNameItsDeviceKeyIsCarriedToo() throws {
    let id = KeyID(Accessibility.alwaysThisDeviceOnly.keyPurpose, epoch: 1)
    let keychain = store.keychain
    let key = try keychain.database.read { try keychain.keys.key(id, in: $0) }
    let (master, device) = (
      try keychain.keys.root(.master), try #require(try keychain.keys.deviceKey(for: id))
    )
    let old = try KeyRecord.withSubkey(of: master.key, for: id) { subkey in
      try DeviceKey.withSubkey(subkey, under: device) { both in
        try key.withUnsafeBytes {
          try KeyRecord.seal($0, id, keychain.storeID, by: master.id, key: both)
        }
      }
    }
    let next = (id: KeyID(.master, epoch: 2), key: try keychain.keys.arena.randomKey())
    let further = (id: KeyID(.master, epoch: 3), key: try keychain.keys.arena.randomKey())
    let carried = try KeyRecord.carry(
      KeyRecord.carry(old, id: id, store: keychain.storeID, from: master.key, to: next), id: id,
      store: keychain.storeID, from: next.key, to: further)
    #expect(KeyRecord.isCarried(carried))
    let opened = try carried.withUnsafeBytes {
      try KeyRecord.unwrap(
        $0, id: id, store: keychain.storeID, wrapper: further.key, device: device,
        in: keychain.keys.arena)
    }
    #expect(opened.withUnsafeBytes { Array($0) } == key.withUnsafeBytes { Array($0) })
    #expect(throws: (any Error).self) {
      try carried.withUnsafeBytes {
        _ = try KeyRecord.unwrap(
          $0, id: id, store: keychain.storeID, wrapper: master.key, device: device,
          in: keychain.keys.arena)
      }
    }
  }

  @Test(arguments: [false, true])
  func aFirstPassphraseDoesNotTakeTheDeviceKey(_ isAnother: Bool) throws {
    let leaked = LeakedKeys(store.keychain)
    try takeAway()
    if isAnother { try putAnother() }
    try store.keychain.addKeySlot(passphrase)
    #expect(try leaked.opens(store.keychain).allSatisfy { $0 != "key 19.1" })
    try bringBack()
    #expect(try readable() == Self.all.subtracting([Accessibility.whenUnlockedThisDeviceOnly.code]))
    try store.reopen(with: passphrase)
    #expect(try readable() == Self.all)
    try add("new", .whenUnlockedThisDeviceOnly)
    #expect(try readable() == Self.all.union(["new"]))
    #expect(try store.keychain.verify(.everything) == VerificationReport(items: 5))
  }

  @Test func itemsOfADeviceThatIsGoneAreDeletedIfThatIsAskedFor() throws {
    try takeAway()
    let report = try store.keychain.renewRootKeys(
      [store.keyFile], deletingItemsOfAnotherDevice: { _ in true })
    #expect(report == RootRenewalReport(deletedItems: 3))
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
    let report = try store.keychain.renewRootKeys(
      [store.keyFile], deletingItemsOfAnotherDevice: { _ in true })
    #expect(report == RootRenewalReport())
    #expect(try readable() == Self.all)
  }
}

// SPDX-License-Identifier: Apache-2.0

import Foundation
import SodiumCrypto
import TestKit
import Testing

@testable import KeychainCore

/// New root keys, and what lies in the place of the device key.
@Suite struct DeviceKeyFileTests {
  enum Spoiling: CaseIterable {
    case open, link, linkToNothing, malformed, directory
  }

  private let store: TemporaryStore
  private let away: String
  private var path: String { store.location.deviceKeyPath }

  init() throws {
    var options = KeychainOptions()
    options.passwordHash = .floor
    store = try TemporaryStore(options: options)
    away = store.location.deviceKeyPath + ".away"
    for account in ["one", "two"] { try add(account, .alwaysThisDeviceOnly) }
    try add("three", .whenUnlockedThisDeviceOnly)
    try add("anywhere", .afterFirstUnlock)
  }

  private func add(_ account: String, _ accessible: Accessibility) throws {
    try store.keychain.add(Sample.password(account, secret: account, accessible: accessible))
  }

  private func readable() throws -> Set<String> {
    Set(
      try store.keychain.items(ItemQuery()).compactMap { item in
        guard let secret = try? store.keychain.secret(of: item) else { return nil }
        return secret.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
      })
  }

  private static let all: Set = ["one", "two", "three", "anywhere"]

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
    case .linkToNothing:
      try files.createSymbolicLink(atPath: path, withDestinationPath: away + ".none")
    case .malformed:
      try Data("what is this?\n".utf8).write(to: URL(fileURLWithPath: path))
      chmod(path, 0o400)
    case .directory: try files.createDirectory(atPath: path, withIntermediateDirectories: false)
    }
  }

  private func mend(_ how: Spoiling) throws {
    if how == .open {
      #expect(chmod(path, 0o400) == 0)
    } else {
      try FileManager.default.removeItem(atPath: path)
      try FileManager.default.moveItem(atPath: away, toPath: path)
    }
  }

  @Test(arguments: Spoiling.allCases)
  func nothingIsDeletedWhileSomethingIsInItsPlace(_ how: Spoiling) throws {
    try store.reopen { try spoil(how) }
    refuses(.notAvailable) {
      try store.keychain.renewRootKeys(
        [store.keyFile], deletingItemsOfAnotherDevice: { _ in true })
    }
    // Carried it can be, and what is wrong is said.
    let report = try store.keychain.renewRootKeys([store.keyFile])
    #expect(report.itemsOfAnotherDevice == 3 && report.deletedItems == 0)
    #expect(try #require(report.deviceKeyProblem).contains(path))
    try store.reopen { try mend(how) }
    #expect(try readable() == Self.all)
    #expect(try store.keychain.verify(.everything) == VerificationReport(items: 4))
  }

  @Test func theirNumberIsAgreedToOrNothingHappens() throws {
    try store.reopen { try FileManager.default.moveItem(atPath: path, toPath: away) }
    let slots = try store.keychain.slots()
    var asked: [Int] = []
    refuses(.userCanceled) {
      try store.keychain.renewRootKeys([store.keyFile]) {
        asked.append($0)
        return false
      }
    }
    #expect(asked == [3])
    #expect(try store.keychain.slots() == slots)
    try store.reopen { try FileManager.default.moveItem(atPath: away, toPath: path) }
    #expect(try readable() == Self.all)
  }

  @Test func aDeviceKeyInUseWhoseFileIsLostIsWrittenAgain() throws {
    let bytes = FileManager.default.contents(atPath: path)
    // In memory from here on.
    #expect(try readable() == Self.all)
    try FileManager.default.removeItem(atPath: path)
    let report = try store.keychain.renewRootKeys(
      [store.keyFile], deletingItemsOfAnotherDevice: { _ in true })
    #expect(report == RootRenewalReport(hasWrittenDeviceKey: true))
    #expect(FileManager.default.contents(atPath: path) == bytes)
    try store.reopen()
    #expect(try readable() == Self.all)
    #expect(try store.keychain.renewRootKeys([store.keyFile]) == RootRenewalReport())
  }

  private let passphrase = KeySlotSecret.passphrase(Sample.secret("correct horse"))

  /// With and without a class that the new session key wraps.
  @Test(arguments: [false, true])
  func aFirstPassphraseWritesALostDeviceKeyToo(_ hasLockedOnes: Bool) throws {
    if !hasLockedOnes {
      try store.keychain.database.write { [keychain = store.keychain] tx in
        let query = ItemQuery(.genericPassword, [.account: .string("three")])
        for item in try keychain.items(matching: query, in: tx) {
          try keychain.delete(item, in: tx)
        }
      }
    }
    let all = hasLockedOnes ? Self.all : Self.all.subtracting(["three"])
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
    try FileManager.default.moveItem(atPath: path, toPath: away)
    _ = try KeyFile.createIfAbsent(path)
    let slots = try store.keychain.slots()
    refuses(.notAvailable) { try store.keychain.addKeySlot(passphrase) }
    #expect(try store.keychain.slots() == slots)
    try FileManager.default.removeItem(atPath: path)
    try FileManager.default.moveItem(atPath: away, toPath: path)
    try store.keychain.addKeySlot(passphrase)
    try store.reopen(with: passphrase)
    #expect(try readable() == Self.all)
  }

  @Test func aDeviceKeyInUseIsNotReplacedByAnother() throws {
    #expect(try readable() == Self.all)
    try FileManager.default.moveItem(atPath: path, toPath: away)
    _ = try KeyFile.createIfAbsent(path)
    for mayDelete in [nil, { (_: Int) in true }] {
      refuses(.notAvailable) {
        try store.keychain.renewRootKeys(
          [store.keyFile], deletingItemsOfAnotherDevice: mayDelete)
      }
    }
    try store.reopen {
      try FileManager.default.removeItem(atPath: path)
      try FileManager.default.moveItem(atPath: away, toPath: path)
    }
    #expect(try readable() == Self.all)
  }

  /// Read once, it must not stand for the right one that was put back since.
  @Test func anotherOneInMemoryGivesWayToTheFile() throws {
    try store.reopen {
      try FileManager.default.moveItem(atPath: path, toPath: away)
      _ = try KeyFile.createIfAbsent(path)
    }
    #expect(try readable() == ["anywhere"])
    try FileManager.default.removeItem(atPath: path)
    try FileManager.default.moveItem(atPath: away, toPath: path)
    #expect(try store.keychain.renewRootKeys([store.keyFile]) == RootRenewalReport())
    #expect(try readable() == Self.all)
    try store.reopen()
    #expect(try readable() == Self.all)
  }

  /// A record that names no device key, carried, and another's file in place.
  @Test func noNextKeyIsMadeUnderAnotherDeviceKey() throws {
    let keychain = store.keychain
    let id = KeyID(Accessibility.alwaysThisDeviceOnly.keyPurpose, epoch: 1)
    let key = try keychain.database.read { try keychain.keys.key(id, in: $0) }
    let master = try keychain.keys.root(.master)
    let device = try #require(try keychain.keys.deviceKey(for: id))
    let unnamed = try KeyRecord.withSubkey(of: master.key, for: id) { subkey in
      try DeviceKey.withSubkey(subkey, under: device) { both in
        try key.withUnsafeBytes {
          try KeyRecord.seal($0, id, keychain.storeID, by: master.id, key: both)
        }
      }
    }
    try keychain.write { tx in
      let ledger = try keychain.changes.ledger(tx)
      let before = try #require(try KeyTable.record(of: id, in: tx))
      try ledger.remove(.key(id, tag: before.tag))
      try ledger.insert(.key(id, tag: unnamed.tag))
      try tx.execute(
        "UPDATE keys SET wrapped = ? WHERE id = ?", .blob(unnamed), .integer(Int64(id.rawValue)))
    }
    try store.reopen { try FileManager.default.moveItem(atPath: path, toPath: away) }
    try store.keychain.renewRootKeys([store.keyFile])
    try store.reopen { _ = try KeyFile.createIfAbsent(path) }
    refuses(.notAvailable) { try add("new", .alwaysThisDeviceOnly) }
    try store.reopen {
      try FileManager.default.removeItem(atPath: path)
      try FileManager.default.moveItem(atPath: away, toPath: path)
    }
    try add("new", .alwaysThisDeviceOnly)
    #expect(try readable() == Self.all.union(["new"]))
    #expect(try store.keychain.verify(.everything) == VerificationReport(items: 5))
  }
}

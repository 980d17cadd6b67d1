// SPDX-License-Identifier: Apache-2.0

import Foundation
import SodiumCrypto
import TestKit
import Testing

@testable import KeychainCore

/// A rotation, and what lies in the place of the device key.
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
    for deletes in [false, true] {
      let error = #expect(throws: KeychainError.self) {
        try store.keychain.rotateKeys([store.keyFile], deletingDeviceItems: deletes)
      }
      #expect(error?.status == .notAvailable && error?.message.contains(path) == true)
    }
    try store.reopen { try mend(how) }
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
    for deletes in [false, true] {
      refuses(.notAvailable) {
        try store.keychain.rotateKeys([store.keyFile], deletingDeviceItems: deletes)
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
    #expect(try store.keychain.rotateKeys([store.keyFile]) == RotationReport(items: 4))
    #expect(try readable() == Self.all)
    try store.reopen()
    #expect(try readable() == Self.all)
  }
}

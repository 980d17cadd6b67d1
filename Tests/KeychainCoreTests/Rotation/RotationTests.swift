// SPDX-License-Identifier: Apache-2.0

import Foundation
import SQLiteDatabase
import SodiumCrypto
import TestKit
import Testing

@testable import KeychainCore

@Suite struct RotationTests {
  @Test func everyItemIsUnderNewKeysAndTheOldOnesAreGone() throws {
    let rotated = try RotatedStore()
    let keychain = rotated.keychain
    #expect(
      try rotated.keyRecords() == ["2.1", "8.1", "9.1", "10.1", "11.1", "16.1", "17.1", "18.1"])
    let old = try keychain.database.read { tx in
      try tx.all("SELECT wrapped FROM keys WHERE id >> 24 NOT IN (2, 11)") { Data($0.blob(0)) }
        + tx.all("SELECT wrapped_key, metadata, primary_index FROM items") { row in
          (0..<3).map { Data(row.blob($0)) }
        }.joined()
    }
    let before = try keychain.items(ItemQuery())
    var steps: [RotationProgress] = []
    let report = try keychain.rotateKeys {
      steps.append($0)
      return true
    }
    #expect(report == RotationReport(isFinished: true, renewed: 18, retiredKeys: 6))
    #expect(steps.map(\.renewed) == [4, 8, 12, 16, 18] && steps.allSatisfy { $0.items == 18 })
    for _ in 0..<2 {
      #expect(
        try rotated.keyRecords() == ["2.1", "8.2", "9.2", "10.2", "11.1", "16.2", "17.2", "18.2"])
      #expect(try rotated.contents() == RotatedStore.expected(0..<18))
      #expect(try rotated.keychain.verify(.everything) == VerificationReport(items: 18))
      try rotated.keychain.database.read { tx in
        for number in 0..<18 { try RotatedStore.expectFound(number, rotated.keychain, in: tx) }
      }
      try rotated.store.reopen()
      #expect(rotated.keychain.condition == .healthy)
    }
    // To everybody else the items are what they were.
    let after = try rotated.keychain.items(ItemQuery())
    #expect(before.map(\.reference) == after.map(\.reference))
    #expect(before.map(\.version) == after.map(\.version))
    #expect(before.map(\.attributes) == after.map(\.attributes))
    // Nothing that the old keys open, and none of them, is in any file.
    for name in try FileManager.default.subpathsOfDirectory(atPath: rotated.store.path) {
      guard let data = FileManager.default.contents(atPath: rotated.store.path + "/" + name) else {
        continue
      }
      #expect(old.allSatisfy { data.range(of: $0) == nil }, "\(name)")
    }
  }

  @Test func anEmptyStoreIsRotatedAgainAndAgain() throws {
    let rotated = try RotatedStore(items: 0)
    for round in 2...4 {
      #expect(try rotated.keychain.rotateKeys().retiredKeys == 3)
      #expect(
        try rotated.keyRecords() == ["2.1", "8.\(round)", "9.\(round)", "10.\(round)", "11.1"])
    }
    try rotated.keychain.add(Sample.password("anna"))
    try rotated.store.reopen()
    #expect(try rotated.keychain.verify(.everything) == VerificationReport(items: 1))
  }

  @Test func aStoppedRotationGoesOnAndMakesNoFurtherKeys() throws {
    let rotated = try RotatedStore()
    let first = try rotated.keychain.rotateKeys { _ in false }
    #expect(first == RotationReport(isFinished: false, renewed: 4))
    #expect(try rotated.keychain.rotationIsPending())
    try rotated.store.reopen()
    #expect(try rotated.keychain.rotationIsPending())
    #expect(try rotated.contents() == RotatedStore.expected(0..<18))
    let second = try rotated.keychain.rotateKeys()
    #expect(
      second
        == RotationReport(wasPending: true, isFinished: true, renewed: 14, retiredKeys: 6))
    #expect(try !rotated.keychain.rotationIsPending())
    #expect(
      try rotated.keyRecords() == ["2.1", "8.2", "9.2", "10.2", "11.1", "16.2", "17.2", "18.2"])
    #expect(try rotated.contents() == RotatedStore.expected(0..<18))
  }

  @Test func onlyOneAtATimeInOneProcess() throws {
    let rotated = try RotatedStore()
    let keychain = rotated.keychain
    try keychain.rotateKeys { _ in
      refuses(.notAvailable) { try keychain.rotateKeys() }
      return true
    }
    // And the refusal has not let a third one in or kept the next one out.
    #expect(try keychain.rotateKeys().renewed == 18)
  }

  @Test func itemsOfALockedClassKeepTheirKeyUntilTheyCanBeOpened() throws {
    let rotated = try RotatedStore()
    let passphrase = KeySlotSecret.passphrase(Sample.secret("correct horse"))
    try rotated.keychain.addKeySlot(passphrase)
    try rotated.store.reopen()
    let report = try rotated.keychain.rotateKeys()
    #expect(report.isFinished && report.renewed == 18 && report.locked == 3)
    // The class of the locked items has the key of before and the one that came with the passphrase.
    #expect(
      try rotated.keyRecords() == ["8.2", "9.2", "10.2", "11.1", "16.1", "16.2", "17.2", "18.2"])
    #expect(try rotated.keychain.verify(.everything).locked == 3)

    try rotated.store.reopen(with: passphrase)
    #expect(try rotated.contents() == RotatedStore.expected(0..<18))
    let second = try rotated.keychain.rotateKeys()
    #expect(second.isFinished && second.renewed == 18 && second.locked == 0)
    #expect(try rotated.keyRecords() == ["8.3", "9.3", "10.3", "11.1", "16.3", "17.3", "18.3"])
    #expect(try rotated.contents() == RotatedStore.expected(0..<18))
  }

  @Test func anAlteredStoreIsNotCountedAgain() throws {
    let rotated = try RotatedStore()
    let raw = try RawStore(rotated.store.location.databasePath)
    try raw.run("DELETE FROM items WHERE id = 18")
    raw.close()
    refuses(.readOnly) { try rotated.keychain.rotateKeys() }
    #expect(rotated.keychain.condition == .readOnly(.manifestMismatch))
    #expect(try rotated.keyRecords().filter { $0.hasPrefix("8.") } == ["8.1"])
  }

  @Test func whatIsAlteredDuringTheRotationIsNoticedAtItsEnd() throws {
    let rotated = try RotatedStore()
    let keychain = rotated.keychain
    let raw = try RawStore(rotated.store.location.databasePath)
    refuses(.decode) {
      try keychain.rotateKeys { progress in
        // One that is done, and one that is yet to come.
        if progress.renewed == 8 { _ = try? raw.run("DELETE FROM items WHERE id IN (2, 17)") }
        return true
      }
    }
    raw.close()
    #expect(keychain.condition == .readOnly(.manifestMismatch))
    #expect(try rotated.keyRecords().filter { $0.hasPrefix("8.") } == ["8.1", "8.2"])
    try rotated.store.reopen()
    #expect(rotated.keychain.condition == .readOnly(.manifestMismatch))
  }
}

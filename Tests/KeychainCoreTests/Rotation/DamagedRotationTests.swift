// SPDX-License-Identifier: Apache-2.0

import SQLiteDatabase
import SodiumCrypto
import TestKit
import Testing

@testable import KeychainCore

@Suite struct DamagedRotationTests {
  /// A byte in the middle of a part: the tag, which the manifest knows, is as it was.
  @Test(arguments: ["metadata", "wrapped_key"])
  func aDamagedItemIsKeptWithTheKeysThatItHad(_ column: String) throws {
    let rotated = try RotatedStore()
    rotated.keychain.close()
    let raw = try RawStore(rotated.store.location.databasePath)
    guard case .blob(let sealed) = try raw.run("SELECT \(column) FROM items WHERE id = 5")[0][0]
    else { throw KeychainError(.decode, "no row") }
    var damaged = sealed
    damaged[40] ^= 1
    try raw.run("UPDATE items SET \(column) = ? WHERE id = 5", [.blob(damaged)])
    raw.close()
    try rotated.store.reopen()
    for epoch in 2...3 {
      let report = try rotated.keychain.rotateKeys()
      #expect(report.isFinished && report.renewed == 17 && report.damaged == 1)
      #expect(try rotated.keyRecords().filter { $0.hasPrefix("8.") } == ["8.1", "8.\(epoch)"])
      #expect(rotated.keychain.condition == .healthy && rotated.keychain.quarantine == [5])
      // It is still not "not found".
      let attributes = RotatedStore.item(4).attributes
      refuses(.decode) {
        for item in try rotated.keychain.items(ItemQuery(.genericPassword, attributes)) {
          _ = try rotated.keychain.secret(of: item)
        }
      }
      let whole = ItemQuery(.genericPassword, RotatedStore.item(3).attributes)
      #expect(try rotated.keychain.items(whole).count == 1)
    }
    // Whoever mends it finds the keys.
    rotated.keychain.close()
    let mended = try RawStore(rotated.store.location.databasePath)
    try mended.run("UPDATE items SET \(column) = ? WHERE id = 5", [.blob(sealed)])
    mended.close()
    try rotated.store.reopen()
    #expect(try rotated.contents() == RotatedStore.expected(0..<18))
    #expect(try rotated.keychain.rotateKeys().damaged == 0)
    #expect(try rotated.keyRecords().filter { $0.hasPrefix("8.") } == ["8.3"])
  }

  /// In any class nothing of it is pending for ever, and in one of the session no rotation is owed.
  @Test(arguments: ["metadata", "wrapped_key"])
  func ofADamagedItemNoRotationIsOwedForEver(_ column: String) throws {
    let rotated = try RotatedStore()
    let passphrase = KeySlotSecret.passphrase(Sample.secret("correct horse"))
    try rotated.keychain.addKeySlot(passphrase)
    rotated.keychain.close()
    let raw = try RawStore(rotated.store.location.databasePath)
    // Accessible "when unlocked", as every sixth one is.
    guard case .blob(var sealed) = try raw.run("SELECT \(column) FROM items WHERE id = 3")[0][0]
    else { throw KeychainError(.decode, "no row") }
    sealed[40] ^= 1
    try raw.run("UPDATE items SET \(column) = ? WHERE id = 3", [.blob(sealed)])
    raw.close()
    try rotated.store.reopen(with: passphrase)
    for _ in 0..<2 {
      #expect(try rotated.keychain.rotateKeys().damaged == 1)
      #expect(try !rotated.keychain.rotationIsOwed() && !rotated.keychain.rotationIsPending())
      // What is whole is owed all the same.
      rotated.keychain.lock()
      try rotated.keychain.renewRootKeys([rotated.store.keyFile, passphrase])
      let locked = try rotated.keychain.rotateKeys(beginning: false)
      #expect(locked.isFinished && (2...3).contains(locked.locked), "\(locked)")
      #expect(try !rotated.keychain.rotationIsOwed())
      try rotated.keychain.unlock(with: passphrase)
      #expect(try rotated.keychain.rotationIsOwed())
      let rest = try rotated.keychain.rotateKeys(beginning: false)
      #expect(rest.renewed == 2 && rest.damaged == 1, "\(rest)")
      #expect(try !rotated.keychain.rotationIsOwed() && !rotated.keychain.rotationIsPending())
    }
    // Who has not seen it looks once.
    try rotated.store.reopen(with: passphrase)
    #expect(try rotated.keychain.rotationIsOwed())
    let again = try rotated.keychain.rotateKeys(beginning: false)
    #expect(again.isFinished && again.renewed + again.retiredKeys == 0 && again.damaged == 1)
    #expect(try !rotated.keychain.rotationIsOwed() && !rotated.keychain.rotationIsPending())
  }
}

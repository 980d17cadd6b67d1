// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainCore
import SQLiteDatabase
import Security
import SodiumCrypto
import TestKit
import Testing

extension OwnKeychain {
  @Suite struct DamagedItemTests {
    private enum Byte {
      case ofMetadata, ofSecret
      /// The manifest knows the end of each part.
      case lastOfSecret
    }

    /// Turns one byte of the first item over, behind the keychain's back.
    private func damage(_ store: ProgramStore, _ byte: Byte) throws {
      LinuxKeychain.close()
      let database = try SQLiteDatabase(
        path: store.path + "/store/store.sqlite3", access: .readWrite(create: false))
      defer { database.close() }
      try database.write { tx in
        let (read, write): (StaticString, StaticString) =
          byte == .ofMetadata
          ? (
            "SELECT metadata FROM items WHERE id = 1",
            "UPDATE items SET metadata = ? WHERE id = 1"
          )
          : ("SELECT secret FROM items WHERE id = 1", "UPDATE items SET secret = ? WHERE id = 1")
        var bytes = try #require(try tx.first(read) { $0.blob(0) })
        bytes[byte == .lastOfSecret ? bytes.count - 1 : bytes.count / 2] ^= 1
        try tx.execute(write, .blob(bytes))
      }
    }

    private func rows(_ store: ProgramStore) throws -> Int64 {
      LinuxKeychain.close()
      let database = try SQLiteDatabase(
        path: store.path + "/store/store.sqlite3", access: .readOnly)
      defer { database.close() }
      return try database.read { tx in
        try tx.first("SELECT count(*) FROM items") { $0.integer(0) } ?? 0
      }
    }

    @Test func aDamagedItemIsNeitherGivenNorCalledNotFoundNorDeleted() throws {
      let store = try ProgramStore()
      for account in ["a", "b"] {
        #expect(add(password(account, secret(account))) == errSecSuccess)
      }
      try damage(store, .ofMetadata)
      #expect(copy(password("a", [kSecReturnData: true])).status == errSecDecode)
      #expect(errSecDecode == -26275)
      // It might be what any search means that has to look at every item.
      #expect(
        copy([kSecClass: kSecClassGenericPassword, kSecAttrLabel: "z"]).status == errSecDecode)
      #expect(copy(password("z")).status == errSecItemNotFound, "the index knows better")
      #expect(copy(password("b", [kSecReturnData: true])).data == Data("b".utf8))
      #expect(
        copy([
          kSecClass: kSecClassGenericPassword, kSecMatchLimit: kSecMatchLimitAll,
          kSecReturnAttributes: true,
        ]).status == errSecDecode)
      #expect(SecItemDelete(password("a") as CFDictionary) == errSecDecode)
      #expect(
        SecItemUpdate(password("a") as CFDictionary, secret("x") as CFDictionary) == errSecDecode)
      #expect(try rows(store) == 2)
    }

    @Test func aDamagedSecretIsNotGiven() throws {
      let store = try ProgramStore()
      for account in ["a", "b"] {
        #expect(add(password(account, secret(account))) == errSecSuccess)
      }
      try damage(store, .ofSecret)
      #expect(copy(password("a", [kSecReturnData: true])).status == errSecDecode)
      #expect(copy(password("a", [kSecReturnAttributes: true])).status == errSecSuccess)
      #expect(copy(password("b", [kSecReturnData: true])).data == Data("b".utf8))
      #expect(try rows(store) == 2)
    }

    /// The manifest does not fit the rows any more, so nothing can be trusted to a change.
    @Test func aStoreThatWasTamperedWithTakesNoChanges() throws {
      let store = try ProgramStore()
      for account in ["a", "b"] { #expect(add(password(account)) == errSecSuccess) }
      try damage(store, .lastOfSecret)
      #expect(add(password("c")) == errSecReadOnly)
      #expect(SecItemDelete(password("b") as CFDictionary) == errSecReadOnly)
      #expect(copy(password("b")).status == errSecSuccess)
    }
  }
}

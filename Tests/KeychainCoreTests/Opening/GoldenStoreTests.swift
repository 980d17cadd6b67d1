// SPDX-License-Identifier: Apache-2.0

import KeychainCore
import SodiumCrypto
import TestKit
import Testing

/// The stores that exist open with this version, whatever else it can do.
@Suite struct GoldenStoreTests {
  private let golden: GoldenStore

  init() throws { golden = try GoldenStore() }

  private func open(_ secret: KeySlotSecret, access: Keychain.Access = .readWrite) throws
    -> Keychain
  {
    try Keychain.open(at: golden.location, with: secret, access: access)
  }

  @Test(arguments: [Keychain.Access.readWrite, .readOnly, .shared])
  func thePassphraseOpensEveryItem(_ access: Keychain.Access) throws {
    let keychain = try open(GoldenStore.passphrase, access: access)
    #expect(keychain.condition == .healthy)
    let found = try keychain.items(ItemQuery(synchronizable: .any))
    #expect(found.count == GoldenStore.items.count)
    for (item, expected) in zip(found, GoldenStore.items) {
      #expect(item.itemClass == expected.itemClass)
      #expect(item.accessible == expected.accessible)
      #expect(item.attributes == expected.attributes)
      #expect(try keychain.secret(of: item) == expected.secret)
    }
    #expect(found.map(\.rowID) == [1, 2, 3, 4, 6, 7, 8, 9, 10, 11, 12])
    #expect(found.map(\.version) == [1, 1, 1, 3, 1, 1, 1, 1, 1, 1, 1])
  }

  @Test func theKeyFileOpensWhatIsNotBoundToThePassphrase() throws {
    let keychain = try open(golden.keySlot)
    #expect(keychain.condition == .healthy)
    var locked = 0
    for item in try keychain.items(ItemQuery(synchronizable: .any)) {
      if [.whenUnlocked, .whenPasscodeSetThisDeviceOnly].contains(item.accessible) {
        refuses(.interactionNotAllowed) { _ = try keychain.secret(of: item) }
        locked += 1
      } else {
        _ = try keychain.secret(of: item)
      }
    }
    #expect(locked == 2)
  }

  @Test func itIsWhole() throws {
    let keychain = try open(GoldenStore.passphrase)
    let count = GoldenStore.items.count
    #expect(try keychain.verify(.everything) == VerificationReport(items: count))
    #expect(try keychain.slots().map(\.kind) == [.keyFile, .passphrase])
  }

  @Test func itsIndexesFindEveryItem() throws {
    let keychain = try open(golden.keySlot)
    for expected in GoldenStore.items {
      let isSynchronizable = expected.attributes[.synchronizable]?.bool ?? false
      var key = expected.attributes.filter { expected.itemClass.primaryKey.contains($0.key) }
      key[.synchronizable] = nil
      for attribute in expected.itemClass.primaryKey
      where key[attribute] == nil && attribute != .synchronizable {
        key[attribute] = .string("")
      }
      // The whole primary key, and each attribute alone.
      for attributes in [key] + key.map({ [$0.key: $0.value] }) {
        let query = ItemQuery(
          expected.itemClass, attributes, synchronizable: isSynchronizable ? .yes : .no)
        let found = try keychain.items(query)
        #expect(found.contains { $0.attributes == expected.attributes }, "\(attributes)")
        if attributes.count == key.count { #expect(found.count == 1) }
      }
    }
  }

  @Test func itGoesOnFromThere() throws {
    var keychain = try open(GoldenStore.passphrase)
    refuses(.duplicateItem) { try keychain.add(GoldenStore.items[0]) }
    for accessible in Accessibility.allCases {
      try keychain.add(Sample.password("new \(accessible.code)", accessible: accessible))
    }
    let query = ItemQuery(.genericPassword, [.account: .string("clara")])
    let clara = try #require(try keychain.items(query).first)
    try keychain.update(clara, secret: Sample.secret("the third secret"))
    try keychain.delete(try #require(try keychain.items(ItemQuery(limit: 1)).first))
    keychain.close()
    keychain = try open(GoldenStore.passphrase)
    #expect(keychain.condition == .healthy)
    #expect(
      try keychain.verify(.everything)
        == VerificationReport(items: GoldenStore.items.count + Accessibility.allCases.count - 1))
    #expect(try keychain.secret(of: clara) == Sample.secret("the third secret"))
  }

  /// Its slots and classes are of every kind, so all of them are tried here.
  @Test(arguments: ["items", "keys", "key_slots"])
  func everyColumnOfEveryRowIsCounted(_ table: String) throws {
    let raw = try RawStore(golden.location.databasePath)
    var tried = 0
    for column in try raw.columns(table) {
      for row in try raw.run("SELECT id, \(column) FROM \(table)") {
        let altered: RawStore.Value =
          switch row[1] {
          case .null: .blob([UInt8](repeating: 7, count: 16))
          case .integer(let number): .integer(number ^ 64)
          case .text(let bytes): .text(bytes + [63])
          case .blob(let bytes): .blob(bytes.dropLast() + [(bytes.last ?? 0) ^ 1])
          }
        let number = column == "id" ? altered : row[0]
        let update = "UPDATE \(table) SET \(column) = ? WHERE id = ?"
        try raw.run(update, [altered, row[0]])
        if let keychain = try? open(golden.keySlot, access: .readOnly) {
          #expect(keychain.condition != .healthy, "\(table).\(column) of \(row[0])")
          keychain.close()
        }
        try raw.run(update, [row[1], number])
        tried += 1
      }
    }
    #expect(tried > 13)
    #expect(try open(golden.keySlot, access: .readOnly).condition == .healthy)
  }

  /// What holds for a store of today holds for one of then.
  @Test func anAlteredRowIsNoticed() throws {
    let raw = try RawStore(golden.location.databasePath)
    try raw.run("UPDATE items SET version = 2 WHERE id = 4")
    raw.close()
    let keychain = try open(golden.keySlot)
    #expect(keychain.condition == .readOnly(.manifestMismatch))
  }
}

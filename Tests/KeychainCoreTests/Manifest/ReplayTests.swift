// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainCore
import TestKit
import Testing

@Suite struct ReplayTests {
  /// A store with one item that was changed, its table's columns, and the item's old row.
  private func renewed(
    _ change: (Keychain, Item) throws -> Void
  ) throws -> (store: TemporaryStore, raw: RawStore, columns: [String], old: [RawStore.Value]) {
    let store = try TemporaryStore()
    let item = try store.keychain.add(Sample.password("anna", secret: "first"))
    try store.keychain.add(Sample.password("berta"))
    store.keychain.close()
    var raw = try RawStore(store.location.databasePath)
    let columns = try raw.columns("items")
    let old = try raw.run("SELECT * FROM items WHERE id = 1")[0]
    raw.close()
    try store.reopen()
    try change(store.keychain, item)
    store.keychain.close()
    raw = try RawStore(store.location.databasePath)
    return (store, raw, columns, old)
  }

  @Test func aColumnOfAnOlderVersionIsNoticed() throws {
    let (store, raw, columns, old) = try renewed { keychain, item in
      try keychain.update(
        item, attributes: [.account: .string("antje")], secret: Sample.secret("second"))
    }
    for (position, column) in columns.enumerated() where position > 0 {
      let new = try raw.run("SELECT \(column) FROM items WHERE id = 1")[0][0]
      guard new != old[position] else { continue }
      try raw.run("UPDATE items SET \(column) = ? WHERE id = 1", [old[position]])
      let keychain = try store.openBeside()
      do {
        let query = ItemQuery(
          .genericPassword, [.account: .string("antje"), .service: .string("mail")])
        let found = try keychain.items(query)
        #expect(found.map { $0[.account] } == [.string("antje")], "\(column)")
        #expect(try keychain.secret(of: found[0]) == Sample.secret("second"), "\(column)")
      } catch let error as KeychainError {
        #expect(error.status == .decode, "\(column)")
      }
      #expect(keychain.condition != .healthy || column == "wrapped_key", "\(column)")
      keychain.close()
      try raw.run("UPDATE items SET \(column) = ? WHERE id = 1", [new])
    }
  }

  @Test func anOlderSecretIsNeverReadWithNewerAttributes() throws {
    let (store, raw, columns, old) = try renewed { keychain, item in
      try keychain.update(item, secret: Sample.secret("second"))
    }
    // Secret and wrapped key fit each other, but not the metadata.
    for column in ["secret", "wrapped_key"] {
      let position = try #require(columns.firstIndex(of: column))
      try raw.run("UPDATE items SET \(column) = ? WHERE id = 1", [old[position]])
    }
    let keychain = try store.openBeside()
    let item = try #require(try keychain.items(ItemQuery(limit: 1)).first)
    refuses(.decode) { _ = try keychain.secret(of: item) }
  }

  @Test func aWholeOldRowTurnsTheStoreReadOnly() throws {
    let (store, raw, columns, old) = try renewed { keychain, item in
      try keychain.update(item, secret: Sample.secret("second"))
    }
    for (column, value) in zip(columns, old).dropFirst() {
      try raw.run("UPDATE items SET \(column) = ? WHERE id = 1", [value])
    }
    raw.close()
    try store.reopen()
    #expect(store.keychain.condition == .readOnly(.manifestMismatch))
    refuses(.readOnly) { try store.keychain.add(Sample.password("x")) }
    refuses(.param) { try store.keychain.acceptRollback() }
  }

  @Test func aRowThatWasTakenOutIsNotCalledMissing() throws {
    let (store, raw, _, _) = try renewed { _, _ in }
    try raw.run("DELETE FROM items WHERE id = 1")
    raw.close()
    try store.reopen()
    #expect(store.keychain.condition == .readOnly(.manifestMismatch))
    let query = ItemQuery(
      .genericPassword, [.account: .string("anna"), .service: .string("mail")])
    refuses(.decode) { _ = try store.keychain.items(query) }
  }

  @Test func anItemKeyThatWasTakenAwayTurnsTheStoreReadOnly() throws {
    let (store, raw, _, _) = try renewed { _, _ in }
    try raw.run("UPDATE items SET wrapped_key = zeroblob(77)")
    raw.close()
    try store.reopen()
    #expect(store.keychain.condition == .readOnly(.manifestMismatch))
  }

  @Test func aDeletedRowThatComesBackIsNoticed() throws {
    let (store, raw, columns, old) = try renewed { keychain, item in try keychain.delete(item) }
    let places = columns.map { _ in "?" }.joined(separator: ", ")
    try raw.run("INSERT INTO items VALUES (\(places))", old)
    raw.close()
    try store.reopen()
    #expect(store.keychain.condition == .readOnly(.manifestMismatch))
  }

  @Test func anOldManifestDoesNotFitNewRows() throws {
    let store = try TemporaryStore()
    store.keychain.close()
    var raw = try RawStore(store.location.databasePath)
    let old = try raw.run("SELECT sealed FROM manifest")[0]
    raw.close()
    try store.reopen()
    try store.keychain.add(Sample.password("anna"))
    store.keychain.close()
    raw = try RawStore(store.location.databasePath)
    try raw.run("UPDATE manifest SET sealed = ?", old)
    raw.close()
    let anchor = store.location.anchorDirectory + "/\(store.keychain.storeID).anchor"
    try store.reopen()
    #expect(store.keychain.condition == .readOnly(.rolledBack(behindBy: 1)))
    // Without the anchor the rows give it away.
    try store.reopen { try FileManager.default.removeItem(atPath: anchor) }
    #expect(store.keychain.condition == .readOnly(.manifestMismatch))
  }

  @Test func aStoreWithoutItsManifestIsReadOnly() throws {
    let store = try TemporaryStore()
    let item = try store.keychain.add(Sample.password("anna"))
    try store.reopen {
      let raw = try RawStore(store.location.databasePath)
      try raw.run("DELETE FROM manifest")
      raw.close()
    }
    #expect(store.keychain.condition == .readOnly(.manifestUnreadable))
    #expect(try store.keychain.secret(of: item) == Sample.secret("secret"))
    refuses(.readOnly) { try store.keychain.delete(item) }
  }

  @Test func aRemovedKeySlotThatComesBackIsNoticed() throws {
    let store = try TemporaryStore()
    let spare = KeySlotSecret.keyFile(path: store.path + "/spare.key")
    let slot = try store.keychain.addKeySlot(spare)
    store.keychain.close()
    var raw = try RawStore(store.location.databasePath)
    let old = try raw.run("SELECT * FROM key_slots WHERE id = \(slot.number)")[0]
    raw.close()
    try store.reopen()
    try store.keychain.removeKeySlot(slot.number)
    store.keychain.close()
    raw = try RawStore(store.location.databasePath)
    try raw.run("INSERT INTO key_slots VALUES (?, ?, ?, ?, ?, ?, ?)", old)
    raw.close()
    try store.reopen(with: spare)
    #expect(store.keychain.condition == .readOnly(.manifestMismatch))
  }

  @Test func rowsOfAnotherStoreWithTheSameNamesOpenNothing() throws {
    let store = try TemporaryStore()
    try store.keychain.add(Sample.password("anna"))
    store.keychain.close()
    let raw = try RawStore(store.location.databasePath)
    let rows = try raw.run("SELECT * FROM items")
    raw.close()
    let other = try TemporaryStore()
    try other.keychain.add(Sample.password("berta"))
    try other.reopen {
      let raw = try RawStore(other.location.databasePath)
      var row = rows[0]
      row[0] = .integer(2)
      try raw.run("INSERT INTO items VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
      raw.close()
    }
    #expect(other.keychain.condition == .readOnly(.manifestMismatch))
    refuses(.decode) { _ = try other.keychain.items(ItemQuery()) }
    #expect(other.keychain.quarantine == [2])
    // What is not touched can be had, and the foreign row is kept.
    #expect(try other.keychain.items(ItemQuery(unreadable: .skip)).count == 1)
    #expect(try other.keychain.verify(.everything).unreadable == [2])
  }
}

import Foundation
import KeychainCore
import TestKit
import Testing

@Suite struct ReplayTests {
  /// A store with one item that was changed, closed, its table's columns, and the item's old row.
  private func renewed(_ change: (Keychain, Item) throws -> Void = { _, _ in }) throws -> (
    store: TemporaryStore, raw: RawStore, columns: [String], old: [RawStore.Value]
  ) {
    let store = try TemporaryStore()
    let item = try store.add("anna", secret: "first")
    try store.add("berta")
    let raw = try store.raw()
    let columns = try raw.columns("items")
    let old = try raw.run("SELECT * FROM items WHERE id = 1")[0]
    try change(store.keychain, item)
    store.keychain.close()
    return (store, raw, columns, old)
  }

  @Test func aColumnOfAnOlderVersionIsNoticed() throws {
    let (store, raw, columns, old) = try renewed { keychain, item in
      try keychain.update(item, attributes: [.account: .string("antje")], secret: Sample.secret("second"))
    }
    for (position, column) in columns.enumerated() where position > 0 {
      let new = try raw.run("SELECT \(column) FROM items WHERE id = 1")[0][0]
      guard new != old[position] else { continue }
      try raw.run("UPDATE items SET \(column) = ? WHERE id = 1", [old[position]])
      let keychain = try store.openBeside()
      do {
        let query = Sample.query("antje")
        let found = try keychain.items(query)
        #expect(found.map { $0[.account] } == [.string("antje")], "\(column)")
        #expect(try keychain.secret(of: found[0]) == Sample.secret("second"), "\(column)")
      } catch let error as KeychainError { #expect(error.status == .decode, "\(column)") }
      #expect(keychain.condition != .healthy, "\(column)")
      keychain.close()
      try raw.run("UPDATE items SET \(column) = ? WHERE id = 1", [new])
    }
  }

  @Test func anOlderSecretIsNeverReadWithNewerAttributes() throws {
    let (store, raw, columns, old) = try renewed { keychain, item in
      try keychain.update(item, secret: Sample.secret("second"))
    }
    let position = try #require(columns.firstIndex(of: "secret"))
    try raw.run("UPDATE items SET secret = ? WHERE id = 1", [old[position]])
    let keychain = try store.openBeside()
    let item = try #require(try keychain.items(ItemQuery(limit: 1)).first)
    refuses(.decode) { try keychain.secret(of: item) }
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
    refuses(.readOnly) { try store.add("x") }
    refuses(.param) { try store.keychain.acceptRollback() }
  }

  @Test func aRowThatWasTakenOutIsNotCalledMissing() throws {
    let (store, raw, _, _) = try renewed()
    try raw.run("DELETE FROM items WHERE id = 1")
    raw.close()
    try store.reopen()
    #expect(store.keychain.condition == .readOnly(.manifestMismatch))
    let query = Sample.query("anna")
    refuses(.decode) { try store.keychain.items(query) }
  }

  @Test func aSecretThatWasTakenAwayTurnsTheStoreReadOnly() throws {
    let (store, raw, _, _) = try renewed()
    try raw.run("UPDATE items SET secret = zeroblob(109)")
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
    let old = try store.raw().run("SELECT sealed FROM manifest")[0]
    try store.add("anna")
    let anchor = store.location.anchorDirectory + "/\(store.keychain.storeID).anchor"
    try store.alter("UPDATE manifest SET sealed = ?", old)
    #expect(store.keychain.condition == .readOnly(.rolledBack(behindBy: 1)))
    // Without the anchor the rows give it away.
    try store.reopen { try FileManager.default.removeItem(atPath: anchor) }
    #expect(store.keychain.condition == .readOnly(.manifestMismatch))
  }

  @Test func aStoreWithoutItsManifestIsReadOnly() throws {
    let store = try TemporaryStore()
    let item = try store.add("anna")
    try store.alter("DELETE FROM manifest")
    #expect(store.keychain.condition == .readOnly(.manifestUnreadable))
    #expect(try store.text(of: item) == "secret")
    refuses(.readOnly) { try store.keychain.delete(item) }
  }

  @Test func aRemovedKeySlotThatComesBackIsNoticed() throws {
    let store = try TemporaryStore()
    let spare = KeySlotSecret.keyFile(path: store.path + "/spare.key")
    let slot = try store.keychain.addKeySlot(spare)
    let old = try store.raw().run("SELECT * FROM key_slots WHERE id = \(slot.number)")[0]
    try store.keychain.removeKeySlot(slot.number)
    store.keychain.close()
    try store.raw().run("INSERT INTO key_slots VALUES (?, ?, ?, ?, ?, ?, ?)", old)
    try store.reopen(with: spare)
    #expect(store.keychain.condition == .readOnly(.manifestMismatch))
  }

  @Test func rowsOfAnotherStoreWithTheSameNamesOpenNothing() throws {
    let store = try TemporaryStore()
    try store.add("anna")
    var row = try store.raw().run("SELECT * FROM items")[0]
    row[0] = .integer(2)
    let other = try TemporaryStore()
    try other.keychain.add("berta")
    try other.alter("INSERT INTO items VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
    #expect(other.keychain.condition == .readOnly(.manifestMismatch))
    refuses(.decode) { try other.keychain.items(ItemQuery()) }
    #expect(other.keychain.quarantine == [2])
    // What is not touched can be had, and the foreign row is kept.
    #expect(try other.keychain.items(ItemQuery(unreadable: .skip)).count == 1)
    #expect(try other.keychain.verify(.everything).unreadable == [2])
  }
}

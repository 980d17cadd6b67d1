// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainCore
import TestKit
import Testing

@Suite struct AlteredFileTests {
  @Test func anyByteOfTheFileIsRightOrRefused() throws {
    let tampered = try TamperedStore(filling: 60)
    tampered.raw.close()
    let path = tampered.store.location.databasePath
    let whole = try Data(contentsOf: URL(fileURLWithPath: path))
    let seed = UInt64.random(in: .min ... .max)
    var random = SeededGenerator(seed: seed)
    var refused = 0
    for _ in 0..<300 {
      var altered = whole
      let position = Int.random(in: 0..<whole.count, using: &random)
      altered[position] ^= UInt8.random(in: 1...255, using: &random)
      try altered.write(to: URL(fileURLWithPath: path))
      if try tampered.examine("byte \(position), seed \(seed)") == nil { refused += 1 }
      for suffix in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) }
    }
    #expect((1..<300).contains(refused))
  }

  @Test(arguments: ["primary_index", "index_1", "index_2"])
  func anIndexThatDoesNotLeadToItsRowsIsNoticed(_ column: String) throws {
    let store = try TemporaryStore()
    for account in ["anna", "berta", "clara"] { try store.keychain.add(Sample.password(account)) }
    store.keychain.close()
    let path = store.location.databasePath
    let raw = try RawStore(path)
    guard case .blob(let value) = try raw.run("SELECT \(column) FROM items WHERE id = 2")[0][0]
    else {
      Issue.record("no index")
      return
    }
    raw.close()
    // The value stands in the row and in the index. A page of an index begins with 10 (a leaf).
    var file = try Data(contentsOf: URL(fileURLWithPath: path))
    let page = try #require(
      stride(from: 4096, to: file.count, by: 4096).first {
        file[$0] == 10 && file[$0..<($0 + 4096)].range(of: Data(value)) != nil
      })
    let place = try #require(file[page..<(page + 4096)].range(of: Data(value)))
    file[place.upperBound - 1] ^= 1
    try file.write(to: URL(fileURLWithPath: path))
    try store.reopen()
    #expect(store.keychain.condition == .readOnly(.fileDamaged))
    let query = ItemQuery(
      .genericPassword, [.account: .string("berta"), .service: .string("mail")])
    #expect(try store.keychain.items(query).count == 1)
    refuses(.readOnly) { try store.keychain.add(Sample.password("dora")) }
  }

  @Test func anItemInADamagedStoreIsKept() throws {
    let store = try TemporaryStore()
    let item = try store.keychain.add(Sample.password("anna"))
    try store.keychain.add(Sample.password("berta"))
    try store.reopen {
      let raw = try RawStore(store.location.databasePath)
      try raw.run("UPDATE items SET secret = zeroblob(length(secret)) WHERE id = \(item.rowID)")
      raw.close()
    }
    #expect(store.keychain.condition == .readOnly(.manifestMismatch))
    refuses(.decode) { _ = try store.keychain.secret(of: item) }
    #expect(store.keychain.quarantine == [item.rowID])
    refuses(.readOnly) { try store.keychain.delete(item) }
    store.keychain.close()
    let raw = try RawStore(store.location.databasePath)
    #expect(try raw.run("SELECT count(*) FROM items") == [[.integer(2)]])
  }
}

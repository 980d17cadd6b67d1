// SPDX-License-Identifier: Apache-2.0

import KeychainCore
import TestKit
import Testing

@Suite struct ConcurrencyTests {
  @Test func manyThreadsAddFindAndDelete() async throws {
    let store = try TemporaryStore()
    let keychain = store.keychain
    try await withThrowingTaskGroup(of: Void.self) { group in
      for thread in 0..<6 {
        group.addTask {
          for number in 0..<20 {
            let account = "user \(thread)-\(number)"
            let item = try keychain.add(Sample.password(account, secret: account))
            #expect(try keychain.secret(of: item) == Sample.secret(account))
            let query = ItemQuery(
              .genericPassword, [.account: .string(account), .service: .string("mail")])
            #expect(try keychain.items(query).map(\.id) == [item.id])
            if number % 2 == 0 { try keychain.delete(item) }
          }
        }
      }
      group.addTask {
        for _ in 0..<20 {
          let report = try keychain.verify()
          #expect(report.matchesManifest)
        }
      }
      try await group.waitForAll()
    }
    _ = try keychain.eraseDeletedPages()
    try store.reopen()
    #expect(store.keychain.condition == .healthy)
    #expect(try store.keychain.verify(.everything) == VerificationReport(items: 60))
  }

  @Test func whoWritesNextFindsTheFirstKeyOfAClass() throws {
    let store = try TemporaryStore()
    let keychain = store.keychain
    var next: Result<Item, any Error>?
    try keychain.database.write { tx in
      // Registered first, it runs first: as early as another thread could come.
      tx.afterCommit("next") {
        next = Result { try keychain.add(Sample.password("berta", accessible: .always)) }
      }
      _ = try keychain.add(Sample.password("anna", accessible: .always), in: tx)
    }
    let item = try #require(next).get()
    try store.reopen()
    #expect(try store.keychain.secret(of: item) == Sample.secret("secret"))
    #expect(try store.keychain.verify(.everything) == VerificationReport(items: 2))
  }

  @Test func aReaderSeesOneStateWhileOthersWrite() throws {
    let store = try TemporaryStore()
    let keychain = store.keychain
    let item = try keychain.add(Sample.password("anna", secret: "first"))
    let beside = try store.openBeside()
    try beside.database.read { tx in
      let before = try #require(try beside.items(matching: ItemQuery(), in: tx).first)
      try keychain.update(
        item, attributes: [.label: .string("changed")], secret: Sample.secret("second"))
      try keychain.add(Sample.password("berta", accessible: .always))
      #expect(try beside.items(matching: ItemQuery(), in: tx).count == 1)
      #expect(try beside.secret(of: before, in: tx) == Sample.secret("first"))
    }
    // A key that was made after it was opened is found too.
    let items = try beside.items(ItemQuery())
    #expect(items.count == 2 && items[0][.label] == .string("changed"))
    for (item, secret) in zip(items, ["second", "secret"]) {
      #expect(try beside.secret(of: item) == Sample.secret(secret))
    }
    #expect(try beside.verify().matchesManifest)
    #expect(throws: (any Error).self) { try beside.delete(item) }
  }

  @Test func aReaderIsNeverToldOfARollbackThatIsNone() async throws {
    var options = KeychainOptions()
    // The anchor moves on with every commit.
    options.anchorInterval = 0
    let store = try TemporaryStore(options: options)
    let (keychain, location, key) = (store.keychain, store.location, store.keyFile)
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        for number in 0..<150 { try keychain.add(Sample.password("user \(number)")) }
      }
      group.addTask {
        for _ in 0..<60 {
          let beside = try Keychain.open(at: location, with: key, access: .readOnly)
          #expect(beside.condition == .healthy)
          beside.close()
        }
      }
      try await group.waitForAll()
    }
  }

  @Test func aClosedKeychainAnswersWithAnError() throws {
    let store = try TemporaryStore()
    let item = try store.keychain.add(Sample.password("anna"))
    store.keychain.close()
    store.keychain.close()
    #expect(throws: (any Error).self) { try store.keychain.secret(of: item) }
    #expect(throws: (any Error).self) { try store.keychain.add(Sample.password("berta")) }
  }
}

import Foundation
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
            let item = try keychain.add(account, secret: account)
            #expect(try keychain.text(of: item) == account)
            let query = Sample.query(account)
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
      tx.afterCommit("next") { next = Result { try keychain.add("berta", accessible: .always) } }
      _ = try keychain.add("anna", accessible: .always, in: tx)
    }
    let item = try #require(next).get()
    try store.reopen()
    #expect(try store.text(of: item) == "secret")
    #expect(try store.keychain.verify(.everything) == VerificationReport(items: 2))
  }

  @Test func aReaderSeesOneStateWhileOthersWrite() throws {
    let store = try TemporaryStore()
    let keychain = store.keychain
    let item = try keychain.add("anna", secret: "first")
    let beside = try store.openBeside()
    try beside.database.read { tx in
      let before = try #require(try beside.items(matching: ItemQuery(), in: tx).first)
      try keychain.update(item, attributes: [.label: .string("changed")], secret: Sample.secret("second"))
      try keychain.add("berta", accessible: .always)
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
      group.addTask { for number in 0..<(Soak.triesAll ? 150 : 60) { try keychain.add("user \(number)") } }
      group.addTask {
        for _ in 0..<(Soak.triesAll ? 60 : 25) {
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
    let item = try store.add("anna")
    store.keychain.close()
    store.keychain.close()
    #expect(throws: (any Error).self) { try store.keychain.secret(of: item) }
    #expect(throws: (any Error).self) { try store.add("berta") }
  }

  /// The second process is this test's program again. A reader in another process is in `InterruptedBackupTests`.
  @Test func asLongAsAStoreIsOpenNobodyElseWritesIt() async throws {
    let store = try TemporaryStore()
    await #expect(processExitsWith: .exitCode(7)) { [home = store.path as String] in
      do { _ = try TemporaryStore.open(in: home) } catch let error as KeychainError {
        // It says who: the parent of this process.
        let isNamed = error.lockHolder?.processID == getppid() && error.status == .notAvailable
        exit(isNamed ? 7 : 8)
      }
      exit(9)
    }
    // In this process it is no different.
    let error = #expect(throws: KeychainError.self) { try TemporaryStore.open(in: store.path) }
    #expect(error?.lockHolder?.processID == getpid() && error?.lockHolder?.program != nil)
  }

  /// And the lock ends with the process that held it. More rounds with SOAK_ROUNDS=all in the environment.
  @Test(arguments: Soak.triesAll ? Array(0..<8) : [0, 3]) func whatWasCommittedSurvivesAKill(_ round: Int) async throws
  {
    let store = try TemporaryStore()
    store.keychain.close()
    await #expect(processExitsWith: .signal(SIGKILL)) { [home = store.path as String, round = round as Int] in
      let keychain = try TemporaryStore.open(in: home)
      let log = try #require(fopen(home + "/committed", "a"))
      // The killer waits for a number of commits, and strikes somewhere in a later one.
      let killer = Thread {
        var status = stat()
        while stat(home + "/committed", &status) != 0 || status.st_size < 20 + round * 30 { sched_yield() }
        kill(getpid(), SIGKILL)
      }
      killer.start()
      for number in 0..<100_000 {
        let item = try keychain.add("user \(number)")
        if number % 4 == 3 { try keychain.delete(item) }
        fputs("\(number)\n", log)
        fflush(log)
      }
    }
    let committed = try String(contentsOfFile: store.path + "/committed", encoding: .utf8).split(separator: "\n").count
    #expect(committed > 3)
    try store.reopen()
    #expect(store.keychain.condition == .healthy && store.keychain.notices.isEmpty)
    let accounts = try store.keychain.accounts()
    let expected = (0..<committed).filter { $0 % 4 != 3 }.map { "user \($0)" }
    #expect(accounts.isSuperset(of: expected))
    #expect(accounts.count <= expected.count + 1)
    #expect(try store.keychain.verify(.everything).unreadable.isEmpty)
  }
}

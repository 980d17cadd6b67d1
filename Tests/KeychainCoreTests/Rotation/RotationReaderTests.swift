import Foundation
import SodiumCrypto
import TestKit
import Testing

@testable import KeychainCore

@Suite("Who reads and writes beside a rotation") struct RotationReaderTests {
  @Test("A reader that began before sees what it saw, by the old keys, which are forgotten after it")
  func olderSnapshot() throws {
    let rotated = try RotatedStore()
    let keychain = rotated.keychain
    let query = ItemQuery(
      .genericPassword,
      [.account: .string(RotatedStore.name(3)), .service: .string("mail"), .accessGroup: .string("own")])
    try keychain.database.read { tx in
      // The snapshot is taken here.
      _ = try keychain.items(matching: ItemQuery(), in: tx)
      try rotated.rotate()
      try keychain.add(RotatedStore.item(18))
      #expect(try RotatedStore.contents(keychain, in: tx) == RotatedStore.expected(0..<18))
      for number in 0..<18 { try RotatedStore.expectFound(number, keychain, in: tx) }
      let first = try keychain.first(matching: query, in: tx)
      #expect(first?.secret == Sample.secret("secret 3"))
      #expect(!keychain.erasure.retired.isEmpty)
    }
    // The new state, while both index keys are in memory.
    #expect(keychain.keys.indexes.count == 2)
    try keychain.database.read { try RotatedStore.expectFound(18, keychain, in: $0) }
    #expect(try keychain.first(query)?.secret == Sample.secret("secret 3"))
    try keychain.tick()
    keychain.keys.loaded.withLock { loaded in
      #expect(keychain.erasure.retired.isEmpty && loaded.indexes.map(\.epoch) == [2])
      let epochs = loaded.keys.keys.filter { $0.purpose != .audit && $0.purpose != .device }
      #expect(epochs.allSatisfy { $0.epoch == 2 })
    }
    #expect(try rotated.contents() == RotatedStore.expected(0..<19))
    #expect(keychain.quarantine.isEmpty)
  }

  @Test("A reader in another process goes on to its end, and is then told to open the store again") func otherProcess()
    throws
  {
    let rotated = try RotatedStore()
    let beside = try rotated.store.openBeside()
    try beside.database.read { tx in
      // The snapshot is taken here, and keeps what it needs.
      #expect(try RotatedStore.contents(beside, in: tx) == RotatedStore.expected(0..<18))
      try rotated.rotate()
      #expect(try RotatedStore.contents(beside, in: tx) == RotatedStore.expected(0..<18))
    }
    let error = #expect(throws: KeychainError.self) { try beside.items(ItemQuery()) }
    #expect(error?.status == .notAvailable && error?.asksForReopening == true)
    #expect(error?.isTemporary == true)
    #expect(beside.quarantine.isEmpty)
  }

  @Test("A program that shares the store has to open it again, and finds everything then") func shared() throws {
    let rotated = try RotatedStore()
    rotated.keychain.close()
    func shared() throws -> Keychain { try TemporaryStore.open(in: rotated.store.path, access: .shared) }
    let (one, other) = (try shared(), try shared())
    for round in 0..<2 {
      try one.rotateKeys([rotated.store.keyFile])
      #expect(try one.read { try RotatedStore.contents(one, in: $0) }.count == 18 + round)
      for write in [false, true] where round == 0 {
        let error = #expect(throws: KeychainError.self) {
          if write {
            try other.write { tx in _ = try other.add(RotatedStore.item(18), in: tx) }
          } else {
            try other.read { tx in try RotatedStore.expectFound(17, other, in: tx) }
          }
        }
        #expect(error?.asksForReopening == true)
      }
      let again = try shared()
      refuses(.duplicateItem) { try again.write { tx in _ = try again.add(RotatedStore.item(17), in: tx) } }
      try again.write { tx in _ = try again.add(RotatedStore.item(18 + round), in: tx) }
      again.close()
    }
    for each in [one, other] { each.close() }
    try rotated.store.reopen()
    #expect(try rotated.contents() == RotatedStore.expected(0..<20))
    #expect(try rotated.keychain.verify(.everything) == VerificationReport(items: 20))
  }

  @Test("Many threads work while the keys are renewed time and again") func threads() async throws {
    let rotated = try RotatedStore(items: 60)
    let keychain = rotated.keychain
    let (location, keyFile) = (rotated.store.location, rotated.store.keyFile)
    let isOver = Locked(false)
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        defer { isOver.withLock { $0 = true } }
        for _ in 0..<4 { try keychain.rotateKeys([keyFile]) }
      }
      for thread in 0..<2 {
        group.addTask {
          var number = 0
          while !isOver.withLock({ $0 }) {
            let account = "thread \(thread)-\(number)"
            let item = try keychain.add(account, secret: account, accessible: .whenUnlocked)
            #expect(try keychain.text(of: item) == account)
            try keychain.delete(item)
            number += 1
          }
        }
      }
      group.addTask {
        while !isOver.withLock({ $0 }) {
          for number in stride(from: 0, to: 60, by: 7) {
            try keychain.database.read { try RotatedStore.expectFound(number, keychain, in: $0) }
          }
        }
      }
      group.addTask {
        while !isOver.withLock({ $0 }) {
          let beside = try Keychain.open(at: location, with: keyFile, access: .readOnly)
          #expect(beside.condition == .healthy)
          beside.close()
        }
      }
      try await group.waitForAll()
    }
    #expect(try rotated.contents() == RotatedStore.expected(0..<60))
    #expect(try keychain.verify(.everything) == VerificationReport(items: 60))
    #expect(keychain.quarantine.isEmpty)
  }

  /// Who reads right after the commit, before the new keys are published, has the old ones and these.
  @Test("The new root keys and the new index key are in memory before the commit") func prepared() throws {
    struct State {
      weak var keychain: Keychain?
      var keys: Set<KeyID> = []
      var index: [UInt32] = []
      var current: KeyID?
    }
    let state = Locked(State())
    let rotated = try RotatedStore {
      $0.auditor = "tester"
      // Asked for last for the record of the audit: after everything else, and before the commit.
      $0.now = {
        state.withLock { state in
          guard let loaded = state.keychain?.keys.loaded.withLock({ $0 }) else { return }
          state.keys = Set(loaded.keys.keys)
          state.index = loaded.indexes.map(\.epoch)
          state.current = loaded.current[.blindIndex]
        }
        return 1
      }
    }
    state.withLock { $0.keychain = rotated.keychain }
    try rotated.rotate()
    state.withLock { state in
      #expect(state.keys.isSuperset(of: [KeyID(.master, epoch: 2), KeyID(.session, epoch: 2)]))
      #expect(state.index == [1, 2])
      #expect(state.current?.epoch == 1)
    }
  }

  @Test("The root keys that are prepared are enough to read what is committed") func preparedRoots() throws {
    let rotated = try RotatedStore()
    let beside = try rotated.store.openBeside()
    try rotated.rotate()
    let roots = RootKeys(
      master: try rotated.keychain.keys.root(.master), session: try rotated.keychain.keys.root(.session))
    refuses(.notAvailable) { try beside.items(ItemQuery()) }
    beside.keys.loaded.withLock { $0.prepare(roots, [:]) }
    let contents = try beside.database.read { try RotatedStore.contents(beside, in: $0) }
    #expect(contents == RotatedStore.expected(0..<18))
    #expect(try beside.verify().matchesManifest && beside.quarantine.isEmpty)
  }

  @Test("Opening the store during a rotation fails, and asks to try again") func opening() throws {
    let rotated = try RotatedStore()
    let (location, arena) = (rotated.store.location, KeyArena())
    let bytes = try rotated.store.keyFile.bytes()
    let error = #expect(throws: KeychainError.self) {
      try Keychain.open(location, lock: nil, access: .readOnly, options: KeychainOptions(), arena: arena) { tx, store in
        let roots = try Keychain.roots(openedBy: rotated.store.keyFile, bytes, store: store, arena: arena, in: tx)
        try rotated.rotate()
        return roots
      }
    }
    #expect(error?.asksForReopening == true && error?.status == .notAvailable)
    #expect(try rotated.store.openBeside().condition == .healthy)
  }
}

import Dispatch
import Foundation
import SodiumCrypto
import TestKit
import Testing

@testable import KeychainCore

/// Two keychains on one store, as two programs have them.
@Suite struct SharedStoreTests {
  @discardableResult private func add(
    _ account: String, _ keychain: Keychain, _ accessible: Accessibility = .afterFirstUnlock
  ) throws -> Item { try keychain.write { try keychain.add(account, secret: account, accessible: accessible, in: $0) } }

  private func anchor(_ keychain: Keychain) throws -> String {
    try String(contentsOfFile: keychain.location.anchorPath(keychain.storeID), encoding: .utf8)
  }

  private func shared(_ store: TemporaryStore, _ change: (inout KeychainOptions) -> Void = { _ in }) throws -> Keychain
  {
    store.keychain.close()
    return try TemporaryStore.open(in: store.path, access: .shared, change)
  }

  private func accounts(_ keychain: Keychain) throws -> [String] {
    try keychain.read { tx in
      try keychain.items(matching: ItemQuery(.genericPassword), in: tx).map { item in
        try keychain.secret(of: item, in: tx).text
      }
    }
  }

  @Test func eachSeesWhatTheOtherDidAndNeitherLosesAnything() throws {
    let store = try TemporaryStore()
    let (one, other) = (try shared(store), try shared(store))
    for number in 0..<20 {
      let keychain = number.isMultiple(of: 2) ? one : other
      try add("\(number)", keychain)
      #expect(try accounts(one).count == number + 1)
      #expect(try accounts(other).count == number + 1)
    }
    one.close()
    other.close()
    try store.reopen()
    #expect(store.keychain.condition == .healthy)
    #expect(try store.keychain.verify(.everything).unreadable.isEmpty)
  }

  /// Both would make the first key of a class.
  @Test func aClassGetsOneKeyWhoeverIsFirst() throws {
    let store = try TemporaryStore()
    let (one, other) = (try shared(store), try shared(store))
    #expect(try accounts(other).isEmpty)
    try add("a", one, .always)
    try add("b", other, .always)
    try add("c", one, .whenUnlocked)
    #expect(try accounts(other) == ["a", "b", "c"])
    #expect(try accounts(one) == ["a", "b", "c"])
  }

  @Test func whoHoldsTheStoreForLongKeepsTheOthersOutOfWriting() throws {
    let store = try TemporaryStore()
    try add("a", store.keychain)
    let other = try TemporaryStore.open(in: store.path, access: .shared) { $0.turnLimit = 50_000_000 }
    #expect(try accounts(other) == ["a"], "reading waits for nobody")
    let error = #expect(throws: KeychainError.self) { try add("b", other) }
    #expect(error?.status == .notAvailable)
    #expect(error?.lockHolder != nil)
    store.keychain.close()
    try add("b", other)
    #expect(try accounts(other) == ["a", "b"])
  }

  @Test func aTurnEndsWhateverHappensInIt() throws {
    struct Failure: Error {}
    let store = try TemporaryStore()
    let (one, other) = (try shared(store), try shared(store))
    for _ in 0..<3 {
      #expect(throws: KeychainError.self) {
        try one.write { tx in
          try one.add("a", in: tx)
          throw Failure()
        }
      }
      #expect(try accounts(other).isEmpty)
    }
    try add("a", other)
    #expect(try accounts(one) == ["a"])
  }

  @Test func aWayIntoASharedStoreIsAddedInTurn() throws {
    let store = try TemporaryStore()
    let (one, other) = (
      try shared(store) { $0.turnLimit = 50_000_000 }, try shared(store) { $0.turnLimit = 50_000_000 }
    )
    let second = KeySlotSecret.keyFile(path: store.path + "/second.key")
    let lock = try StoreLock(store.location.lockPath)
    let error = #expect(throws: KeychainError.self) { try one.addKeySlot(second) }
    #expect(error?.lockHolder != nil)
    #expect(try other.slots().count == 1)
    withExtendedLifetime(lock) {}
  }

  @Test func whoAddsAWayIntoASharedStoreNeedNotOpenItAgain() throws {
    let store = try TemporaryStore()
    let (one, other) = (try shared(store), try shared(store))
    let slot = try one.addKeySlot(.keyFile(path: store.path + "/second.key"))
    try add("a", one)
    #expect(try accounts(one) == ["a"])
    let error = #expect(throws: KeychainError.self) { try accounts(other) }
    #expect(error?.asksForReopening == true)
    #expect(throws: KeychainError.self) { try add("b", other) }
    let again = try shared(store)
    try one.removeKeySlot(slot.number)
    #expect(try accounts(one) == ["a"])
    #expect(throws: KeychainError.self) { try again.removeKeySlot(slot.number) }
  }

  /// The other is ahead; this one has something to write down too.
  @Test func theAnchorNeverGoesBack() throws {
    let store = try TemporaryStore()
    let (one, other) = (
      try shared(store) { $0.anchorInterval = 3_600_000_000_000 },
      try shared(store) { $0.anchorInterval = 3_600_000_000_000 }
    )
    try add("a", one)
    try add("b", one)
    for number in 0..<5 { try add("\(number)", other) }
    other.close()
    let written = try anchor(one)
    one.close()
    #expect(try anchor(one) == written)
    try store.reopen()
    #expect(store.keychain.condition == .healthy)
  }

  /// Between a look at the anchor and a new one, nobody else may write it.
  @Test func theAnchorIsWrittenUnderTheLock() throws {
    let store = try TemporaryStore()
    let one = try shared(store)
    for account in ["a", "b"] { try add(account, one) }
    let before = try anchor(one)
    #expect(one.owesUpkeep)
    let lock = try StoreLock(store.location.lockPath)
    try one.tick()
    #expect(try anchor(one) == before)
    #expect(one.owesUpkeep)
    withExtendedLifetime(lock) {}
  }

  @Test func whatIsOwedIsDoneByATick() throws {
    let store = try TemporaryStore()
    let one = try shared(store)
    for account in ["a", "b"] { try add(account, one) }
    #expect(one.owesUpkeep)
    try one.tick()
    #expect(!one.owesUpkeep)
    #expect(try anchor(one) == "generation 3\n")
  }

  /// Threads that wait for another process wait side by side.
  @Test func manyThreadsWaitNoLongerThanOne() throws {
    let store = try TemporaryStore()
    let one = try shared(store) { $0.turnLimit = 1_000_000_000 }
    let lock = try StoreLock(store.location.lockPath)
    let refusals = Locked<[LockHolder?]>([])
    let threads = DispatchGroup()
    let start = ContinuousClock.now
    for number in 0..<8 {
      threads.enter()
      Thread.detachNewThread {
        do { try add("\(number)", one) } catch {
          refusals.withLock { $0.append((error as? KeychainError)?.lockHolder) }
        }
        threads.leave()
      }
    }
    threads.wait()
    #expect(ContinuousClock.now - start < .seconds(5), "one after the other would be 8")
    #expect(refusals.withLock { $0.compactMap { $0 }.count } == 8)
    withExtendedLifetime(lock) {}
  }

  /// A hundred changes in a row do not move the log a hundred times.
  @Test func deferredErasureWaitsForItsOwner() throws {
    let store = try TemporaryStore()
    let one = try shared(store) { $0.defersUpkeep = true }
    let items = try (0..<10).map { try add("\($0)", one) }
    try one.tick()
    for item in items.prefix(5) { try one.write { tx in try one.delete(item, in: tx) } }
    _ = try accounts(one)
    #expect(try logSize(store) > 0)
    #expect(one.owesUpkeep)
    try one.tick()
    #expect(try logSize(store) == 0)
    #expect(!one.owesUpkeep)
    try one.read { tx in
      _ = try one.items(matching: ItemQuery(.genericPassword), in: tx)
      try one.write { tx in try one.delete(items[5], in: tx) }
      // The reader is in its way.
      try one.tick()
      #expect(try logSize(store) > 0 && one.owesUpkeep)
    }
    try one.tick()
    #expect(try logSize(store) == 0)
  }

  private func logSize(_ store: TemporaryStore) throws -> Int {
    let attributes = try FileManager.default.attributesOfItem(atPath: store.location.databasePath + "-wal")
    return attributes[.size] as? Int ?? -1
  }
}

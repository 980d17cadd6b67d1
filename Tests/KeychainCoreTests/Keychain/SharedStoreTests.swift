// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Foundation
import SodiumCrypto
import TestKit
import Testing

@testable import KeychainCore

/// Two keychains on one store, as two programs have them.
@Suite struct SharedStoreTests {
  private func item(_ account: String, _ accessible: Accessibility = .afterFirstUnlock) -> NewItem {
    NewItem(
      .genericPassword,
      attributes: [.account: .string(account), .accessGroup: .string("own")],
      secret: SecretBytes(copying: Array(account.utf8)), accessible: accessible)
  }

  private func shared(_ store: TemporaryStore, _ options: KeychainOptions = .init()) throws
    -> Keychain
  {
    store.keychain.close()
    return try Keychain.open(
      at: store.location, with: store.keyFile, access: .shared, options: options)
  }

  private func accounts(_ keychain: Keychain) throws -> [String] {
    try keychain.read { tx in
      try keychain.items(matching: ItemQuery(.genericPassword), in: tx).map { item in
        let secret = try keychain.secret(of: item, in: tx)
        return secret.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
      }
    }
  }

  @Test func eachSeesWhatTheOtherDidAndNeitherLosesAnything() throws {
    let store = try TemporaryStore()
    let (one, other) = (try shared(store), try shared(store))
    for number in 0..<20 {
      let keychain = number.isMultiple(of: 2) ? one : other
      try keychain.write { tx in _ = try keychain.add(item("\(number)"), in: tx) }
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
    try one.write { tx in _ = try one.add(item("a", .always), in: tx) }
    try other.write { tx in _ = try other.add(item("b", .always), in: tx) }
    try one.write { tx in _ = try one.add(item("c", .whenUnlocked), in: tx) }
    #expect(try accounts(other) == ["a", "b", "c"])
    #expect(try accounts(one) == ["a", "b", "c"])
  }

  @Test func whoHoldsTheStoreForLongKeepsTheOthersOutOfWriting() throws {
    let store = try TemporaryStore()
    try store.keychain.write { tx in _ = try store.keychain.add(item("a"), in: tx) }
    var options = KeychainOptions()
    options.turnLimit = 50_000_000
    let other = try Keychain.open(
      at: store.location, with: store.keyFile, access: .shared, options: options)
    #expect(try accounts(other) == ["a"], "reading waits for nobody")
    let error = #expect(throws: KeychainError.self) {
      try other.write { tx in _ = try other.add(item("b"), in: tx) }
    }
    #expect(error?.status == .notAvailable)
    #expect(error?.lockHolder != nil)
    store.keychain.close()
    try other.write { tx in _ = try other.add(item("b"), in: tx) }
    #expect(try accounts(other) == ["a", "b"])
  }

  @Test func aTurnEndsWhateverHappensInIt() throws {
    struct Failure: Error {}
    let store = try TemporaryStore()
    let (one, other) = (try shared(store), try shared(store))
    for _ in 0..<3 {
      #expect(throws: KeychainError.self) {
        try one.write { tx in
          _ = try one.add(item("a"), in: tx)
          throw Failure()
        }
      }
      #expect(try accounts(other).isEmpty)
    }
    try other.write { tx in _ = try other.add(item("a"), in: tx) }
    #expect(try accounts(one) == ["a"])
  }

  @Test func otherWaysIntoTheStoreMeanToOpenItAgain() throws {
    let store = try TemporaryStore()
    let one = try shared(store)
    try one.write { tx in _ = try one.add(item("a", .whenUnlocked), in: tx) }
    #expect(!one.isOutdated)
    try store.reopen()
    try store.keychain.addKeySlot(.keyFile(path: store.path + "/second.key"))
    store.keychain.close()
    #expect(throws: KeychainError.self) { try accounts(one) }
    #expect(one.isOutdated)
    #expect(throws: KeychainError.self) {
      try one.write { tx in _ = try one.add(item("b"), in: tx) }
    }
    let again = try shared(store)
    #expect(try accounts(again) == ["a"])
  }

  @Test func aWayIntoASharedStoreIsAddedInTurn() throws {
    let store = try TemporaryStore()
    var options = KeychainOptions()
    options.turnLimit = 50_000_000
    let (one, other) = (try shared(store, options), try shared(store, options))
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
    try one.write { tx in _ = try one.add(item("a"), in: tx) }
    #expect(try accounts(one) == ["a"] && !one.isOutdated)
    #expect(throws: KeychainError.self) { try accounts(other) }
    let again = try shared(store)
    try one.removeKeySlot(slot.number)
    #expect(try accounts(one) == ["a"] && !one.isOutdated)
    #expect(throws: KeychainError.self) { try again.removeKeySlot(slot.number) }
  }

  /// The other is ahead; this one has something to write down too.
  @Test func theAnchorNeverGoesBack() throws {
    let store = try TemporaryStore()
    var options = KeychainOptions()
    options.anchorInterval = 3_600_000_000_000
    let (one, other) = (try shared(store, options), try shared(store, options))
    try one.write { tx in _ = try one.add(item("a"), in: tx) }
    try one.write { tx in _ = try one.add(item("b"), in: tx) }
    for number in 0..<5 {
      try other.write { tx in _ = try other.add(item("\(number)"), in: tx) }
    }
    func anchor() throws -> String {
      try String(contentsOfFile: store.location.anchorPath(one.storeID), encoding: .utf8)
    }
    other.close()
    let written = try anchor()
    one.close()
    #expect(try anchor() == written)
    try store.reopen()
    #expect(store.keychain.condition == .healthy)
  }

  /// Between a look at the anchor and a new one, nobody else may write it.
  @Test func theAnchorIsWrittenUnderTheLock() throws {
    let store = try TemporaryStore()
    let one = try shared(store)
    for account in ["a", "b"] {
      try one.write { tx in _ = try one.add(item(account), in: tx) }
    }
    func anchor() throws -> String {
      try String(contentsOfFile: store.location.anchorPath(one.storeID), encoding: .utf8)
    }
    let before = try anchor()
    #expect(one.owesUpkeep)
    let lock = try StoreLock(store.location.lockPath)
    try one.tick()
    #expect(try anchor() == before)
    #expect(one.owesUpkeep)
    withExtendedLifetime(lock) {}
  }

  @Test func whatIsOwedIsDoneByATick() throws {
    let store = try TemporaryStore()
    let one = try shared(store)
    for account in ["a", "b"] {
      try one.write { tx in _ = try one.add(item(account), in: tx) }
    }
    #expect(one.owesUpkeep)
    try one.tick()
    #expect(!one.owesUpkeep)
    let text = try String(
      contentsOfFile: store.location.anchorPath(one.storeID), encoding: .utf8)
    #expect(text == "generation 3\n")
  }

  /// Threads that wait for another process wait side by side.
  @Test func manyThreadsWaitNoLongerThanOne() throws {
    let store = try TemporaryStore()
    var options = KeychainOptions()
    options.turnLimit = 1_000_000_000
    let one = try shared(store, options)
    let lock = try StoreLock(store.location.lockPath)
    let refusals = Locked<[LockHolder?]>([])
    let threads = DispatchGroup()
    let start = ContinuousClock.now
    for number in 0..<8 {
      threads.enter()
      Thread.detachNewThread {
        do throws(KeychainError) {
          try one.write { tx in _ = try one.add(item("\(number)"), in: tx) }
        } catch {
          refusals.withLock { $0.append(error.lockHolder) }
        }
        threads.leave()
      }
    }
    threads.wait()
    #expect(ContinuousClock.now - start < .seconds(5), "one after the other would be 8")
    #expect(refusals.withLock { $0.compactMap { $0 }.count } == 8)
    withExtendedLifetime(lock) {}
  }

  /// What a reader held back when it was deleted goes with the next tick.
  @Test func whatWasDeletedLeavesTheLog() throws {
    let marker = "marker-\(UUID().uuidString)"
    let store = try TemporaryStore()
    let one = try shared(store)
    try one.write { tx in _ = try one.add(item(marker), in: tx) }
    try one.read { tx in
      // A snapshot needs the log while the item goes.
      _ = try one.items(matching: ItemQuery(.genericPassword), in: tx)
      try one.write { tx in
        for item in try one.items(matching: ItemQuery(.genericPassword), in: tx) {
          try one.delete(item, in: tx)
        }
      }
      #expect(try logSize(store) > 0)
    }
    try one.tick()
    #expect(try logSize(store) == 0)
  }

  /// A hundred changes in a row do not move the log a hundred times.
  @Test func deferredErasureWaitsForItsOwner() throws {
    let store = try TemporaryStore()
    var options = KeychainOptions()
    options.defersUpkeep = true
    let one = try shared(store, options)
    let items = try (0..<10).map { number in
      try one.write { tx in try one.add(item("\(number)"), in: tx) }
    }
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
    let attributes = try FileManager.default.attributesOfItem(
      atPath: store.location.databasePath + "-wal")
    return attributes[.size] as? Int ?? -1
  }
}

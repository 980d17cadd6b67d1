import Foundation
import KeychainCore
import Synchronization
import TestKit
import Testing
import ThreadkeeperSupport

@Suite struct AnchorTests {
  private let store: TemporaryStore
  private var anchorPath: String { store.location.anchorDirectory + "/\(store.keychain.storeID).anchor" }

  init() throws {
    store = try TemporaryStore()
    try store.add("old")
  }

  private func anchor() throws -> UInt64? {
    let text = try String(contentsOfFile: anchorPath, encoding: .utf8)
    guard text.hasPrefix("generation "), text.hasSuffix("\n") else { return nil }
    return UInt64(text.dropFirst(11).dropLast())
  }

  /// Keeps a copy of the store's file, changes the store, and puts the copy back.
  private func rollBack() throws {
    try store.reopen()
    store.keychain.close()
    let path = store.location.databasePath
    let copy = store.path + "/copy"
    try FileManager.default.copyItem(atPath: path, toPath: copy)
    try store.reopen()
    try store.add("new 1")
    try store.add("new 2")
    try store.reopen {
      try FileManager.default.removeItem(atPath: path)
      try FileManager.default.moveItem(atPath: copy, toPath: path)
      chmod(path, 0o600)
    }
  }

  @Test func theAnchorIsWrittenAtClosing() throws {
    let before = try #require(try anchor())
    for number in 0..<5 { try store.add("user \(number)") }
    store.keychain.close()
    #expect(try #require(try anchor()) == before + 5)
  }

  @Test func theAnchorIsWrittenAtMostOnceInAnInterval() throws {
    let store = try TemporaryStore { $0.anchorInterval = 3_600_000_000_000 }
    let path = store.location.anchorDirectory + "/\(store.keychain.storeID).anchor"
    func text() throws -> String { try String(contentsOfFile: path, encoding: .utf8) }
    try store.add("first")
    let first = try text()
    try store.add("second")
    #expect(try text() == first)
    store.keychain.close()
    #expect(try text() != first)
  }

  @Test func withDeferredUpkeepNoCommitWritesTheAnchorAndATickDoes() throws {
    let store = try TemporaryStore {
      $0.defersUpkeep = true
      $0.anchorInterval = 0
    }
    let path = store.location.anchorDirectory + "/\(store.keychain.storeID).anchor"
    func text() throws -> String { try String(contentsOfFile: path, encoding: .utf8) }
    let before = try text()
    try store.add("first")
    try store.add("second")
    #expect(try text() == before)
    try store.keychain.tick()
    let after = try text()
    #expect(after != before)
    store.keychain.close()
    #expect(try text() == after)
  }

  @Test func noCommitWaitsWhileTheAnchorIsWritten() throws {
    let store = try TemporaryStore {
      $0.defersUpkeep = true
      $0.anchorInterval = 0
    }
    try store.add("first")
    // A pipe that is full: who writes the anchor stands still.
    let draft = store.location.anchorDirectory + "/\(store.keychain.storeID).anchor.new"
    #expect(mkfifo(draft, 0o600) == 0)
    let pipe = open(draft, O_RDWR | O_NONBLOCK)
    let watch = inotify_init1(Int32(IN_CLOEXEC))
    defer {
      // So that the anchor is written when the store is closed.
      unlink(draft)
      for descriptor in [pipe, watch] { close(descriptor) }
    }
    let bytes = [UInt8](repeating: 0, count: 4_096)
    while write(pipe, bytes, bytes.count) > 0 {}
    #expect(inotify_add_watch(watch, draft, UInt32(IN_OPEN)) >= 0)
    let keychain = store.keychain
    let writing = try SystemThread { try? keychain.tick() }
    var opened = pollfd(fd: watch, events: Int16(POLLIN), revents: 0)
    #expect(poll(&opened, 1, 20_000) == 1)
    let added = DispatchSemaphore(value: 0)
    let isAdded = Atomic(false)
    let emptying = try SystemThread {
      isAdded.store(added.wait(timeout: .now() + 20) == .success, ordering: .relaxed)
      var rest = [UInt8](repeating: 0, count: 1 << 20)
      _ = read(pipe, &rest, rest.count)
    }
    try store.add("second")
    added.signal()
    emptying.join()
    writing.join()
    let didNotWait = isAdded.load(ordering: .relaxed)
    #expect(didNotWait)
  }

  @Test func aRolledBackStoreIsReadOnlyUntilThatIsAccepted() throws {
    try rollBack()
    let keychain = store.keychain
    #expect(keychain.condition == .readOnly(.rolledBack(behindBy: 2)))
    #expect(try keychain.items(ItemQuery()).count == 1)
    refuses(.readOnly) { try keychain.add("x") }
    let item = try #require(try keychain.items(ItemQuery()).first)
    refuses(.readOnly) { try keychain.delete(item) }
    refuses(.readOnly) { try keychain.update(item, attributes: [:]) }
    refuses(.readOnly) { try keychain.addKeySlot(.keyFile(path: store.path + "/spare")) }
    try store.reopen()
    #expect(store.keychain.condition == .readOnly(.rolledBack(behindBy: 2)))

    try store.keychain.acceptRollback()
    #expect(store.keychain.condition == .healthy)
    try store.add("x")
    try store.reopen()
    #expect(store.keychain.condition == .healthy && store.keychain.notices.isEmpty)
    refuses(.param) { try store.keychain.acceptRollback() }
  }

  @Test func anOldStoreThatWasAlteredBesidesIsNotAccepted() throws {
    try rollBack()
    try store.alter("DELETE FROM items WHERE id = 1")
    #expect(store.keychain.condition == .readOnly(.rolledBack(behindBy: 2)))
    refuses(.decode) { try store.keychain.acceptRollback() }
    #expect(store.keychain.condition == .readOnly(.manifestMismatch))
    refuses(.readOnly) { try store.add("x") }
  }

  @Test func aReaderSeesTheRollbackToo() throws {
    try rollBack()
    let beside = try store.openBeside()
    #expect(beside.condition == .readOnly(.rolledBack(behindBy: 2)))
    refuses(.readOnly) { try beside.acceptRollback() }
  }

  @Test func aMissingAnchorIsRecreatedAndReported() throws {
    let path = anchorPath
    try store.reopen { try FileManager.default.removeItem(atPath: path) }
    #expect(store.keychain.condition == .healthy)
    #expect(store.keychain.notices == [.anchorMissing(path: path)])
    #expect(try anchor() != nil)
    try store.reopen()
    #expect(store.keychain.notices.isEmpty)
  }

  @Test(arguments: [
    "", "generation", "generation x\n", "generation -1\n", "x 1\n", "generation 9223372036854775808\n",
    "generation 18446744073709551615\n",
  ]) func anAnchorThatCannotBeReadIsReported(_ text: String) throws {
    let path = anchorPath
    try store.reopen { try text.write(toFile: path, atomically: false, encoding: .utf8) }
    #expect(store.keychain.condition == .healthy)
    #expect(store.keychain.notices == [.anchorUnreadable(path: path)])
    #expect(try anchor() != nil)
  }

  @Test func anAnchorThatCannotBeWrittenIsReportedAndNothingElseFails() throws {
    let directory = store.location.anchorDirectory
    try FileManager.default.removeItem(atPath: directory)
    try store.add("x")
    store.keychain.close()
    let isReported = store.keychain.notices.contains { if case .anchorNotWritten = $0 { true } else { false } }
    #expect(isReported)
  }

  @Test func anAnchorAtTheEndOfAllNumbersIsARollbackThatCannotBeAccepted() throws {
    let path = anchorPath
    try store.reopen { try "generation \(Int64.max)\n".write(toFile: path, atomically: false, encoding: .utf8) }
    guard case .readOnly(.rolledBack) = store.keychain.condition else {
      Issue.record("\(store.keychain.condition)")
      return
    }
    refuses(.internalError) { try store.keychain.acceptRollback() }
    try store.reopen { try FileManager.default.removeItem(atPath: path) }
    try store.add("new")
  }

  @Test func aRollbackThatCannotBeVerifiedIsNotAccepted() throws {
    try rollBack()
    store.keychain.close()
    #expect(throws: KeychainError.self) { try store.keychain.acceptRollback() }
    #expect(store.keychain.condition == .readOnly(.rolledBack(behindBy: 2)))
  }

  @Test(
    "An anchor that is altered or removed while the store is open is reported each time, and written again",
    arguments: ["", "generation 1\n", "generation \(Int64.max)\n", nil]) func alteredWhileOpen(_ text: String?) throws
  {
    let store = try TemporaryStore { $0.anchorInterval = 0 }
    let path = store.location.anchorDirectory + "/\(store.keychain.storeID).anchor"
    for number in 1...2 {
      try store.add("before \(number)")
      #expect(store.keychain.notices.count == number - 1)
      if let text {
        try text.write(toFile: path, atomically: false, encoding: .utf8)
      } else {
        try FileManager.default.removeItem(atPath: path)
      }
      try store.add("after \(number)")
      #expect(store.keychain.notices == Array(repeating: .anchorAltered(path: path), count: number))
    }
    try store.reopen()
    #expect(store.keychain.condition == .healthy && store.keychain.notices.isEmpty)
  }

  @Test func theStoreMayBeAheadOfItsAnchor() throws {
    try store.reopen { try "generation 1\n".write(toFile: anchorPath, atomically: false, encoding: .utf8) }
    #expect(store.keychain.condition == .healthy && store.keychain.notices.isEmpty)
  }
}

// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainCore
import TestKit
import Testing

/// Two processes at one store: the second one is this test's program again.
@Suite struct ProcessTests {
  @Test func asLongAsAStoreIsOpenNobodyElseWritesIt() async throws {
    let store = try TemporaryStore()
    let (directory, key) = (store.location.directory, store.keyFilePath)
    await #expect(processExitsWith: .exitCode(7)) {
      [directory = directory as String, key = key as String] in
      do {
        _ = try Keychain.open(at: StoreLocation(directory: directory), with: .keyFile(path: key))
      } catch let error as KeychainError {
        // It says who: the parent of this process.
        let isNamed = error.lockHolder?.processID == getppid() && error.status == .notAvailable
        exit(isNamed ? 7 : 8)
      }
      exit(9)
    }
    // In this process it is no different.
    do {
      _ = try Keychain.open(at: store.location, with: store.keyFile)
      Issue.record("opened twice")
    } catch {
      #expect(error.lockHolder?.processID == getpid() && error.lockHolder?.program != nil)
    }
  }

  @Test func readingBesideTheWriterWorksFromAnotherProcess() async throws {
    let store = try TemporaryStore()
    try store.keychain.add(Sample.password("anna"))
    let (directory, key) = (store.location.directory, store.keyFilePath)
    await #expect(processExitsWith: .exitCode(7)) {
      [directory = directory as String, key = key as String] in
      let keychain = try Keychain.open(
        at: StoreLocation(directory: directory), with: .keyFile(path: key), access: .readOnly)
      let item = try #require(try keychain.items(ItemQuery()).first)
      let isRight = try keychain.secret(of: item) == Sample.secret("secret")
      exit(isRight && keychain.condition == .healthy ? 7 : 8)
    }
  }

  @Test func theLockEndsWithTheProcessThatHeldIt() async throws {
    let store = try TemporaryStore()
    store.keychain.close()
    let (directory, key) = (store.location.directory, store.keyFilePath)
    await #expect(processExitsWith: .signal(SIGKILL)) {
      [directory = directory as String, key = key as String] in
      let keychain = try Keychain.open(
        at: StoreLocation(directory: directory), with: .keyFile(path: key))
      try keychain.add(Sample.password("anna"))
      kill(getpid(), SIGKILL)
    }
    try store.reopen()
    #expect(store.keychain.condition == .healthy)
    #expect(try store.keychain.items(ItemQuery()).count == 1)
  }

  @Test(arguments: 0..<8)
  func whatWasCommittedSurvivesAKill(_ round: Int) async throws {
    let store = try TemporaryStore()
    store.keychain.close()
    let (directory, key, home) = (store.location.directory, store.keyFilePath, store.path)
    await #expect(processExitsWith: .signal(SIGKILL)) {
      [
        directory = directory as String, key = key as String, home = home as String,
        round = round as Int
      ] in
      let keychain = try Keychain.open(
        at: StoreLocation(directory: directory), with: .keyFile(path: key))
      let log = try #require(fopen(home + "/committed", "a"))
      // The killer waits for a number of commits, and strikes somewhere in a later one.
      let killer = Thread {
        var status = stat()
        while stat(home + "/committed", &status) != 0 || status.st_size < 20 + round * 30 {
          sched_yield()
        }
        kill(getpid(), SIGKILL)
      }
      killer.start()
      for number in 0..<100_000 {
        let item = try keychain.add(Sample.password("user \(number)"))
        if number % 4 == 3 { try keychain.delete(item) }
        fputs("\(number)\n", log)
        fflush(log)
      }
    }
    let committed = try String(contentsOfFile: home + "/committed", encoding: .utf8)
      .split(separator: "\n").count
    #expect(committed > 3)
    try store.reopen()
    #expect(store.keychain.condition == .healthy && store.keychain.notices.isEmpty)
    let accounts = Set(try store.keychain.items(ItemQuery()).compactMap { $0[.account]?.string })
    let expected = (0..<committed).filter { $0 % 4 != 3 }.map { "user \($0)" }
    #expect(accounts.isSuperset(of: expected))
    #expect(accounts.count <= expected.count + 1)
    #expect(try store.keychain.verify(.everything).unreadable.isEmpty)
  }
}

// SPDX-License-Identifier: Apache-2.0

import Bridge
import DaemonTestKit
import Foundation
import KeychainCore
import Logging
import Settings
import Synchronization
import TestKit
import Testing

@testable import ThreadkeeperDaemon

@Suite("Locking the daemon's store while somebody writes to it", .timeLimit(.minutes(30)))
struct StoreServiceLockTests {
  private let disk = FaultyDisk()
  private let store: TemporaryStore
  private let settings: Settings
  private let service: StoreService
  private let state: DaemonStateReader
  private var keychain: Keychain { store.keychain }

  init() throws {
    var options = KeychainOptions()
    options.passwordHash = .floor
    options.auditor = "the daemon"
    options.vfs = disk.name
    store = try TemporaryStore(options: options)
    settings = MovedStore.settings(store)
    state = DaemonStateReader(
      settings: settings, port: 1883, monitor: BridgeMonitor(), keychain: store.keychain,
      discovery: { .off }, server: nil
    ) { LoginInUse(username: nil, password: nil, source: .none) }
    service = StoreService(
      settings, keychain: store.keychain, logger: Logger(label: "test"))
  }

  /// What becomes of a request that is given beside the test.
  private final class Answer: Sendable {
    let result = Mutex<Result<StoreReport, any Error>?>(nil)
  }

  private func ask(
    _ request: @escaping @Sendable (StoreService) async throws -> StoreReport
  ) -> Answer {
    let answer = Answer()
    Task { [service] in
      let result: Result<StoreReport, any Error>
      do { result = .success(try await request(service)) } catch { result = .failure(error) }
      answer.result.withLock { $0 = result }
    }
    return answer
  }

  private func askToLock() -> Answer { ask { [user] in try await $0.lock(for: user) } }

  private func askToUnlock() -> Answer {
    let secret = StoreSecret(kind: .keyFile, value: store.keyFilePath)
    return ask { [user] in try await $0.unlock(secret, for: user) }
  }

  private func notes() throws -> [String] {
    var found: [String] = []
    try keychain.forEachAuditRecord { record in
      found += record.lines.filter { [.locked, .unlocked].contains($0.action) }
        .map { "\(record.actor): \($0.action)" }
    }
    return found
  }

  /// What `status` reads.
  private var isUnlockedInStatus: Bool? { state.current.unlocked }

  private let user = "command of user \(geteuid())"

  @Test("who locks it is answered at once, and the audit says so before the daemon ends")
  func answered() async throws {
    let writer = Holder()
    defer { writer.letGo() }
    try await writer.start { [keychain] wait in try? keychain.database.write { _ in wait() } }
    let locked = askToLock()
    try await eventually("the answer") {
      locked.result.withLock { $0 != nil }
    }
    #expect(try locked.result.withLock { try $0?.get().unlocked } == false)
    #expect(!keychain.isUnlocked)
    #expect(isUnlockedInStatus == false)
    #expect(try notes().isEmpty)

    let hasEnded = Mutex(false)
    let running = Task { [service] in
      try await service.run()
      hasEnded.withLock { $0 = true }
    }
    running.cancel()
    // It comes to its end only if it does not wait.
    try? await eventually(within: .milliseconds(500)) { hasEnded.withLock { $0 } }
    #expect(!hasEnded.withLock { $0 })
    writer.letGo()
    try await running.value
    #expect(try notes() == ["\(user): locked"])
  }

  @Test("an unlock that comes then is noted after it")
  func order() async throws {
    let writer = Holder()
    defer { writer.letGo() }
    try await writer.start { [keychain] wait in try? keychain.database.write { _ in wait() } }
    let locked = askToLock()
    try await eventually("the answer") { locked.result.withLock { $0 != nil } }
    #expect(isUnlockedInStatus == false)
    let unlocked = askToUnlock()
    writer.letGo()
    try await eventually("the answer") { unlocked.result.withLock { $0 != nil } }
    #expect(try unlocked.result.withLock { try $0?.get().unlocked } == true)
    #expect(isUnlockedInStatus == true)
    #expect(try notes() == ["\(user): locked", "\(user): unlocked"])
  }

  @Test("a note that fails at once is told, and the store is locked all the same")
  func failure() async throws {
    disk.arm(.full(at: 1))
    let locked = askToLock()
    try await eventually("the answer") { locked.result.withLock { $0 != nil } }
    var failure: CommandFailure?
    do { _ = try locked.result.withLock { try $0?.get() } } catch {
      failure = error as? CommandFailure
    }
    #expect(failure?.status == .inputOutput, "\(String(describing: failure))")
    #expect(failure?.message.contains("the store is locked") == true)
    #expect(!keychain.isUnlocked)
    #expect(isUnlockedInStatus == false)
    disk.repair()
  }
}

// SPDX-License-Identifier: Apache-2.0

import ClientEnrolment
import DaemonTestKit
import Foundation
import KeychainCore
import Logging
import SodiumCrypto
import Synchronization
import TestKit
import Testing

@testable import DaemonSocket
@testable import ThreadkeeperDaemon

@Suite("What the daemon does with its store at the same time", .timeLimit(.minutes(30)))
struct StoreServiceTests {
  private func answer(
    _ service: StoreService, _ request: StoreRequest, passing files: [Int32] = []
  ) async throws -> StoreReport {
    var pair: [Int32] = [-1, -1]
    #expect(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &pair) == 0)
    let (command, daemon) = (
      try DaemonConnection(pair[0]), try DaemonConnection(pair[1], takesDescriptors: true)
    )
    let deadline = ContinuousClock.now + .seconds(60)
    try command.send(try request.bytes, passing: files, by: deadline)
    let bytes = try #require(await service.answer(try daemon.receive(by: deadline), daemon))
    // The command waits until here.
    return try withExtendedLifetime(command) { try StoreAnswer.result(Data(bytes)) }
  }

  @Test("Who locks the store does not wait for an export")
  func lock() async throws {
    var options = KeychainOptions()
    options.passwordHash = .floor
    options.auditor = "a test"
    let store = try TemporaryStore(options: options)
    try store.keychain.database.write { [keychain = store.keychain] tx in
      _ = try keychain.add(
        NewItem(
          .genericPassword,
          attributes: [
            .account: .string("anna"), .service: .string("mail"), .accessGroup: .string("own"),
          ], secret: SecretBytes(copying: Array("secret".utf8)), accessible: .afterFirstUnlock),
        in: tx)
    }
    let service = StoreService(
      MovedStore.settings(store), enrolments: ClientEnrolmentStore(store.keychain),
      logger: Logger(label: "test"))
    let draft = try ExportDraft(store.path + "/export", replacing: false)
    let descriptor = draft.descriptor

    // The export stands still where it wants to say how far it is.
    let isHeld = Mutex(false)
    let goOn = DispatchSemaphore(value: 0)
    let holder = Thread {
      service.progress.withLock { _ in
        isHeld.withLock { $0 = true }
        goOn.wait()
      }
    }
    holder.start()
    try await eventually { isHeld.withLock { $0 } }
    var request = StoreRequest(
      command: .exportItems, secret: StoreSecret(kind: .passphrase, value: "correct horse"))
    request.file = draft.path
    async let exported = answer(service, request, passing: [descriptor])
    defer { goOn.signal() }
    try await eventually("the export to begin") { lseek(descriptor, 0, SEEK_END) > 0 }

    _ = try await service.lock(for: "a test")
    #expect(!store.keychain.isUnlocked)
    #expect(try await service.listKeys().unlocked == false)
    goOn.signal()
    #expect(try await exported.exported?.items == 1)
  }
}

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

@testable import ThreadkeeperDaemon

@Suite("What the daemon does with its store at the same time", .timeLimit(.minutes(30)))
struct StoreServiceTests {
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
    let (settings, enrolments) = (MovedStore.settings(store), ClientEnrolmentStore(store.keychain))
    let logger = Logger(label: "test")
    let service = StoreService(settings, enrolments: enrolments, logger: logger)
    let exchange = ExchangeService(settings, enrolments: enrolments, logger: logger)

    // The export stands still where it wants to say how far it is.
    let isHeld = Mutex(false)
    let goOn = DispatchSemaphore(value: 0)
    let (path, keychain) = (store.path + "/export", store.keychain)
    async let exported = exchange.queue.run {
      let draft = try ExportDraft(path, replacing: false)
      let export = ExportService(keychain: keychain, settings: settings, enrolments: enrolments) {
        _, _ in
        isHeld.withLock { $0 = true }
        goOn.wait()
      }
      return try export.export(.init(passphrase: "correct horse", file: path), to: draft.descriptor)
    }
    defer { goOn.signal() }
    try await eventually("the export to begin") { isHeld.withLock { $0 } }

    _ = try await service.lock(for: "a test")
    #expect(!store.keychain.isUnlocked)
    #expect(try await service.listKeys().unlocked == false)
    goOn.signal()
    #expect(try await exported.items == 1)
  }
}

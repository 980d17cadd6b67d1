// SPDX-License-Identifier: Apache-2.0

import DaemonTestKit
import KeychainCore
import SQLiteDatabase
import SodiumCrypto
import TestKit
import Testing

@testable import ThreadkeeperDaemon

@Suite("What the daemon says of a rotation that leaves damaged items", .timeLimit(.minutes(30)))
struct StoreServiceDamageTests {
  @Test("it looks once, says what keeps its keys, and not that anything is renewed")
  func damaged() async throws {
    var options = KeychainOptions()
    options.passwordHash = .floor
    let store = try TemporaryStore(options: options)
    try store.keychain.database.write { tx in
      _ = try store.keychain.add(
        NewItem(
          .genericPassword, attributes: [.account: .string("anna")],
          secret: SecretBytes(copying: Array("secret".utf8)), accessible: .whenUnlocked), in: tx)
    }
    try store.keychain.database.write { tx in
      var wrapped = try #require(tx.first("SELECT wrapped_key FROM items") { $0.blob(0) })
      wrapped[40] ^= 1
      try tx.execute("UPDATE items SET wrapped_key = ?", .blob(wrapped))
    }
    #expect(try store.keychain.rotateKeys().damaged == 1)
    try store.reopen()
    #expect(try store.keychain.rotationIsOwed())

    let log = RecordingLog()
    let service = StoreService(
      MovedStore.settings(store), keychain: store.keychain,
      logger: log.logger)
    service.goOnRotating()
    try await eventually("the rotation to end") { log.lines.count == 2 }
    let damaged =
      "damaged items keep their old keys; `threadkeeper store verify` names them items=1"
    #expect(
      log.lines == [
        "older keys are still in the store: the rotation of the keys goes on", damaged,
      ])
    // It has seen that, and does not look again.
    service.goOnRotating()
    #expect(!service.rotation.withLock { $0.report.running } && log.lines.count == 2)
    // A real one is told as ever.
    service.beginRotation(.newKeys)
    try await eventually("the rotation to end") { log.lines.count == 4 }
    #expect(
      log.lines.suffix(2) == ["the keys of the store are renewed items=0 locked=0", damaged])
  }
}

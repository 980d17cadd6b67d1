// SPDX-License-Identifier: Apache-2.0

import Broker
import Foundation
import KeychainCore
import Testing
import ThreadDataset

@testable import Bridge
@testable import Home

/// The same loop over a store on disk.
@Suite("The loop on an encrypted store")
final class SealedLoopTests {
  private let directory = FileManager.default.temporaryDirectory.appending(
    path: "loop-\(UUID().uuidString)")
  private var location: StoreLocation { StoreLocation(directory: directory.path + "/store") }
  private var secret: KeySlotSecret { .keyFile(path: directory.path + "/store.key") }

  init() throws {
    try FileManager.default.createDirectory(
      at: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
  }

  deinit { try? FileManager.default.removeItem(at: directory) }

  private func kit(_ keychain: Keychain, _ time: LoopKit.Time = .init()) throws -> LoopKit {
    try LoopKit(store: SealedRecords(keychain), time: time)
  }

  @Test("Homes, secrets, messages and the audit are there again when the store is opened again")
  func restart() throws {
    var options = KeychainOptions()
    options.auditor = "threadkeeper"
    options.passwordHash = .floor
    let keychain = try Keychain.create(at: location, slots: [secret], options: options)
    let kit = try kit(keychain)
    try kit.loop.received((1...20).map { LoopKit.announce($0, LoopKit.dataset(UInt8($0 % 2 + 1))) })
    try kit.loop.received([
      LoopKit.announce(1, LoopKit.dataset(3)), LoopKit.message("leave", 2),
      LoopKit.message("heartbeat", 3),
    ])
    let messages = try kit.store.messages(after: 0, limit: 1_000)
    #expect(messages.count >= 20)
    try kit.loop.stop()
    keychain.close()

    let again = try Keychain.open(at: location, with: secret, options: options)
    defer { again.close() }
    let later = try self.kit(again, kit.time)
    #expect(later.home.equals(kit.home))
    #expect(try later.dataset(.router(LoopKit.agent(1))) == LoopKit.dataset(3).bytes)
    #expect(try later.dataset(.home) == LoopKit.dataset(2).bytes)
    #expect(try later.dataset(.router(LoopKit.agent(2))) == nil)
    #expect(
      try later.store.messages(after: 0, limit: 1_000).prefix(messages.count) == messages[...])
    var lines: [String] = []
    try again.forEachAuditRecord { record in
      lines += record.lines.map { "\(record.actor): \($0.action) \($0.subject)" }
    }
    #expect(
      lines.contains("mqtt user otbr: added genp thread-network/home a000000000000001 (otbr)"))
    #expect(
      lines.contains("mqtt user otbr: deleted genp thread-network/home a000000000000002 (otbr)"))
    try later.loop.received([LoopKit.announce(30)])
    #expect(later.home.routers.count == kit.home.routers.count + 1)
  }
}

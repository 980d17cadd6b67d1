// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainCore
import SodiumCrypto
import TestKit
import Testing

/// New root keys, and an end of the command or the daemon while the items are renewed.
@Suite("New root keys, and the end of who renews them", .inTurns, .timeLimit(.minutes(30)))
struct MasterKeyEndTests {
  private static let items = 30_000

  private let installation: Installation
  private let broker: TestBroker

  init() async throws {
    broker = try TestBroker()
    installation = try Installation(broker)
    try installation.makeStore()
    let keychain = try Keychain.open(
      at: installation.location, with: .keyFile(path: installation.directory.file("store.key")))
    defer { keychain.close() }
    try keychain.database.write { tx in
      for number in 0..<Self.items {
        _ = try keychain.add(
          NewItem(
            .genericPassword, attributes: [.account: .string("user \(number)")],
            secret: SecretBytes(copying: Array("secret".utf8)), accessible: .always), in: tx)
      }
    }
  }

  /// New roots without a spare key file, at a terminal.
  ///
  /// - Parameter isBeside: whether a daemon runs.
  /// - Returns: what the terminal shows, and the number of the slot that has gone.
  private func ended(
    with status: Int32, beside isBeside: Bool,
    by end: (TerminalSession, DaemonProcess?) async throws -> Void
  ) async throws -> (screen: String, slot: Int64) {
    for attempt in 1...10 {
      let daemon = isBeside ? try await installation.start() : nil
      let spare = installation.directory.file("spare-\(attempt).key")
      let added = try await installation.json("keys", "add", "--key-file", spare)
      let slot = try #require(added["slot"]?["id"]?.number)
      let session = try TerminalSession(
        ["keys", "rotate", "--master", "--yes", "--config", installation.configuration],
        environment: installation.environment)
      try await session.until("items")
      try await end(session, daemon)
      let found = try await session.end()
      if let daemon, daemon.isRunning { #expect(try await daemon.stop() == .exit(0)) }
      // It was over before.
      if found == 0 { continue }
      #expect(found == status, "\(session.screen)")
      return (session.screen, slot)
    }
    throw DaemonProcess.Unexpected(description: "every rotation was over before its end")
  }

  private func expectTold(
    _ ended: (screen: String, slot: Int64), _ location: SourceLocation = #_sourceLocation
  ) {
    #expect(
      ended.screen.contains("The root keys of the store are new."), "\(ended.screen)",
      sourceLocation: location)
    #expect(
      ended.screen.contains("Key slot \(ended.slot) (key_file) is removed."), "\(ended.screen)",
      sourceLocation: location)
  }

  private func expectFinished() async throws {
    #expect(try await installation.command("keys", "rotate").status == 0)
    #expect(try installation.verify() == VerificationReport(items: Self.items))
  }

  @Test("Ctrl-C without a daemon: what is done already is reported")
  func stopped() async throws {
    let ended = try await ended(with: 130, beside: false) { session, _ in session.type("\u{3}") }
    expectTold(ended)
    #expect(ended.screen.contains("or the next `keys rotate`"), "\(ended.screen)")
    try await expectFinished()
  }

  @Test("Ctrl-C beside a daemon: what is done already is reported")
  func stoppedBeside() async throws {
    let ended = try await ended(with: 130, beside: true) { session, _ in session.type("\u{3}") }
    expectTold(ended)
    #expect(ended.screen.contains("The daemon goes on"), "\(ended.screen)")
    try await expectFinished()
  }

  @Test("a daemon that ends by kill -9: what is done already is reported with the failure")
  func daemonEnds() async throws {
    let ended = try await ended(with: 75, beside: true) { _, daemon in try await daemon?.kill9() }
    expectTold(ended)
    #expect(ended.screen.contains("the daemon has ended"), "\(ended.screen)")
    #expect(ended.screen.contains("when it starts again"), "\(ended.screen)")
    try await expectFinished()
  }
}

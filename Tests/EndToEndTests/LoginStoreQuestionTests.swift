// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestKit
import Testing

@Suite("A login, and what opens the store", .inTurns, .timeLimit(.minutes(30)))
struct LoginStoreQuestionTests {
  private static let password = "Sesame-9c1d-right"

  private let broker: PasswordBroker
  private let installation: Installation

  init() throws {
    broker = try PasswordBroker("keeper", Self.password)
    installation = try Installation(broker.broker, mqtt: ["username: keeper"])
  }

  private func atTerminal() throws -> TerminalSession {
    try TerminalSession(
      ["login", "--config", installation.configuration], environment: installation.environment)
  }

  private func answer(_ session: TerminalSession, _ text: String, count: Int = 1) async throws {
    try await session.until("Password of keeper", count: count)
    try await session.untilHidden()
    session.type(text + "\n")
  }

  @Test("What opens the store, mistyped, is no wrong password: nobody is asked for that again")
  func mistyped() async throws {
    let opening = installation.directory.file("opening")
    try Data("correct horse battery\n".utf8).write(to: URL(fileURLWithPath: opening))
    chmod(opening, 0o600)
    try installation.makeStore()
    #expect(try await installation.command("keys", "add", "--passphrase-file", opening).status == 0)
    try FileManager.default.removeItem(atPath: installation.directory.file("store.key"))
    let session = try atTerminal()
    // The broker is the one that judges a password.
    try await answer(session, "Sesame-wrong")
    try await answer(session, Self.password, count: 2)
    try await session.until("Passphrase or recovery code of the store: ")
    try await session.untilHidden()
    session.type("mistyped\n")
    #expect(try await session.end() == 77, "\(session.screen)")
    #expect(session.isEchoing)
    #expect(session.screen.components(separatedBy: "Password of keeper").count == 3)
    #expect(session.screen.components(separatedBy: "Passphrase or recovery").count == 2)
    let audit = try await installation.command(
      "audit", "--json", environment: ["THREADKEEPER_STORE_PASSPHRASE_FILE": opening])
    #expect(audit.status == 0 && !audit.output.contains("inet"), "\(audit.output)")
  }

  @Test("A password that the running daemon's broker refuses is asked for again")
  func besideDaemon() async throws {
    let daemon = try installation.launch()
    try await eventually("a refusal") { daemon.log.contains("BrokerAuthenticationFailed") }
    let session = try atTerminal()
    try await answer(session, "Sesame-wrong")
    try await answer(session, Self.password, count: 2)
    #expect(try await session.end() == 0, "\(session.screen)")
    #expect(session.screen.contains("The running daemon goes on with it."), "\(session.screen)")
    #expect(try await daemon.stop() == .exit(0))
  }
}

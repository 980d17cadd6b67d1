// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestKit
import Testing

@Suite("Questions at a terminal", .inTurns, .timeLimit(.minutes(30)))
struct LoginTerminalTests {
  private static let password = "Sesame-9c1d-right"

  private let broker: PasswordBroker
  private let installation: Installation

  init() throws {
    broker = try PasswordBroker("keeper", Self.password)
    installation = try Installation(broker.broker, mqtt: ["username: keeper"])
  }

  private func atTerminal(_ arguments: String...) throws -> TerminalSession {
    try TerminalSession(
      arguments + ["--config", installation.configuration], environment: installation.environment)
  }

  private var isStored: Bool {
    get async throws {
      try await installation.json("status")["login"]?["password_from"] == "keychain"
    }
  }

  @Test("login hides what is typed, asks again after a wrong password, and stores the right one")
  func login() async throws {
    try await installation.serving {
      let session = try atTerminal("login")
      try await session.until("Password of keeper at 127.0.0.1:\(broker.port): ")
      try await session.untilHidden()
      // Enter alone is no answer.
      session.type("\n")
      try await session.until("Password of keeper", count: 2)
      try await session.untilHidden()
      session.type("Sesame-wrong\n")
      try await session.until("Password of keeper", count: 3)
      try await session.untilHidden()
      session.type(Self.password + "\n")
      #expect(try await session.end() == 0)
      #expect(session.isEchoing)
      #expect(session.screen.contains("refused the user name or password of `keeper`"))
      #expect(session.screen.contains("accepts keeper"))
      #expect(!session.screen.contains("Sesame"))
      #expect(try await isStored)
    }
  }

  @Test("After three wrong ones it gives up")
  func threeWrong() async throws {
    try await installation.serving {
      let session = try atTerminal("login")
      for count in 1...3 {
        try await session.until("Password of keeper", count: count)
        try await session.untilHidden()
        session.type("Sesame-wrong\n")
      }
      #expect(try await session.end() == 77)
      #expect(try await !isStored)
    }
  }

  @Test("A name that the settings do not have is asked for, and shown")
  func name() async throws {
    let installation = try Installation(broker.broker)
    try await installation.serving {
      let session = try TerminalSession(
        ["login", "--config", installation.configuration], environment: installation.environment)
      try await session.until("User name at 127.0.0.1:\(broker.port): ")
      session.type("keeper\n")
      try await session.until("Password of keeper")
      try await session.untilHidden()
      session.type(Self.password + "\n")
      #expect(try await session.end() == 0)
      // The next time it is proposed.
      let again = try TerminalSession(
        ["login", "--config", installation.configuration], environment: installation.environment)
      try await again.until("(Enter: keeper)")
      again.type("\n")
      try await again.until("Password of keeper")
      try await again.untilHidden()
      again.type(Self.password + "\n")
      #expect(try await again.end() == 0)
    }
  }

  @Test(
    "Ctrl-C and Ctrl-D: nothing is stored, and the terminal shows again what is typed",
    arguments: ["\u{3}", "\u{4}"])
  func cancelled(key: String) async throws {
    try await installation.serving {
      let session = try atTerminal("login")
      try await session.until("Password of keeper")
      try await session.untilHidden()
      session.type(key)
      #expect(try await session.end() == 130)
      #expect(session.isEchoing)
      #expect(session.screen.contains("Nothing was changed"))
      #expect(try await !isStored)
    }
  }

  @Test("Who gives up while the broker is asked finds nothing stored afterwards")
  func cancelledWhileTried() async throws {
    try await installation.serving {
      let session = try atTerminal("login")
      try await session.until("Password of keeper")
      try await session.untilHidden()
      try broker.pause()
      session.type(Self.password + "\n")
      try await eventually("the end of the question") { session.isEchoing }
      session.type("\u{3}")
      #expect(try await session.end() == 130)
      #expect(session.screen.contains("Nothing was changed"))
      try broker.resume()
      #expect(try await !isStored)
    }
  }

  @Test("A question that Ctrl-\\ breaks off leaves the terminal showing what is typed")
  func brokenOff() async throws {
    try await installation.serving {
      let session = try atTerminal("login")
      try await session.until("Password of keeper")
      try await session.untilHidden()
      // Ctrl-Z does nothing.
      session.type("half a pass\u{1A}")
      session.type("\u{1C}")
      _ = try await session.end()
      #expect(session.isEchoing)
      #expect(!session.screen.contains("half"))
    }
  }
}

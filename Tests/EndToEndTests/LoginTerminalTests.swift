// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestKit
import Testing

@Suite("Questions at a terminal", .inTurns, .timeLimit(.minutes(30)))
struct LoginTerminalTests {
  private static let password = "Sesame-9c1d-right"
  private static let other = "Sesame-7f20-other"

  private let broker: PasswordBroker
  private let installation: Installation

  init() throws {
    broker = try PasswordBroker("keeper", Self.password)
    installation = try Installation(broker.broker, mqtt: ["username: keeper"])
  }

  private func atTerminal(_ arguments: String..., errorFile: String? = nil) throws
    -> TerminalSession
  {
    try TerminalSession(
      arguments + ["--config", installation.configuration], environment: installation.environment,
      errorFile: errorFile)
  }

  private func store(_ password: String, _ options: String...) async throws {
    let answer = try await installation.serving {
      try await ThreadkeeperBinary.run(
        ["login", "--password-stdin", "--config", installation.configuration] + options,
        input: .text(password), environment: installation.environment)
    }
    #expect(answer.status == 0, "\(answer.error)")
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
      #expect(session.screen.contains("Nothing was stored"))
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
      #expect(session.screen.contains("Nothing was stored"))
      try broker.resume()
      #expect(try await !isStored)
    }
  }

  @Test("run finds a stored password and asks nothing")
  func runFinds() async throws {
    try await store(Self.password)
    let session = try atTerminal("run", errorFile: installation.directory.file("run.log"))
    try await eventually("the connection") {
      let status = try await installation.command("status", "--json")
      return JSON(status.output)?["intake"]?["state"] == "running"
    }
    session.type("\u{3}")
    #expect(try await session.end() == 0)
    #expect(!session.screen.contains("Password"))
  }

  @Test("run asks when the broker refuses, until the password is right, and stores it")
  func runAsks() async throws {
    try await store(Self.other, "--no-validate")
    let log = installation.directory.file("run.log")
    let session = try atTerminal("run", errorFile: log)
    try await session.until("Password of keeper")
    try await session.untilHidden()
    session.type("Sesame-wrong\n")
    try await session.until("Password of keeper", count: 2)
    try await session.untilHidden()
    session.type(Self.password + "\n")
    try await session.until("accepts it")
    try await eventually("the connection, and the alert's end") {
      let status = try await installation.json("status")
      return status["intake"]?["state"] == "running" && status["alerts"] == 0
    }
    session.type("\u{3}")
    #expect(try await session.end() == 0)
    #expect(session.isEchoing)
    let written = try String(contentsOfFile: log, encoding: .utf8)
    #expect(!(session.screen + written).contains("Sesame"))
    // The next run has it.
    let daemon = try await installation.start()
    #expect(try await daemon.stop() == .exit(0))
  }

  @Test("run: Ctrl-C instead of an answer ends it with 77; Enter alone leaves it trying")
  func runDeclined() async throws {
    var session = try atTerminal("run", errorFile: installation.directory.file("run.log"))
    try await session.until("Password of keeper")
    try await session.untilHidden()
    session.type("\u{3}")
    #expect(try await session.end() == 77)
    #expect(session.isEchoing)
    // No daemon runs then, which `login` needs.
    let log = try String(contentsOfFile: installation.directory.file("run.log"), encoding: .utf8)
    #expect(log.contains("run `threadkeeper setup`"), "\(log)")

    session = try atTerminal("run", errorFile: installation.directory.file("run.log"))
    try await session.until("Password of keeper")
    try await session.untilHidden()
    session.type("\n")
    try await session.until("goes on trying")
    #expect(session.isEchoing)
    try await store(Self.password)
    try await eventually("the connection") {
      try await installation.json("status")["intake"]?["state"] == "running"
    }
    session.type("\u{3}")
    #expect(try await session.end() == 0)
  }

  @Test("run: a broker that is away judges no password, so none counts as wrong")
  func runWithoutBroker() async throws {
    let session = try atTerminal("run", errorFile: installation.directory.file("run.log"))
    try await session.until("Password of keeper")
    broker.broker.stop()
    for count in 1...4 {
      try await session.until("Password of keeper", count: count)
      try await session.untilHidden()
      session.type(Self.password + "\n")
      try await session.until("could not be asked", count: count)
    }
    try broker.broker.start()
    try await session.until("Password of keeper", count: 5)
    try await session.untilHidden()
    session.type(Self.password + "\n")
    try await session.until("accepts it")
    session.type("\u{3}")
    #expect(try await session.end() == 0)
  }

  @Test("run: after three wrong ones it goes on trying, and says so")
  func runThreeWrong() async throws {
    let session = try atTerminal("run", errorFile: installation.directory.file("run.log"))
    for count in 1...3 {
      try await session.until("Password of keeper", count: count)
      try await session.untilHidden()
      session.type("Sesame-wrong\n")
    }
    try await session.until("goes on trying")
    session.type("\u{3}")
    #expect(try await session.end() == 0)
  }

  @Test("Ctrl-Z does nothing, and after Ctrl-\\ the terminal shows again what is typed")
  func brokenOff() async throws {
    let session = try atTerminal("run", errorFile: installation.directory.file("run.log"))
    try await session.until("Password of keeper")
    try await session.untilHidden()
    session.type("half a pass\u{1A}")
    session.type("\u{1C}")
    _ = try await session.end()
    #expect(session.isEchoing)
    #expect(!session.screen.contains("half"))
  }

  @Test("run: a login from elsewhere takes the question away")
  func runAnsweredElsewhere() async throws {
    let session = try atTerminal("run", errorFile: installation.directory.file("run.log"))
    try await session.until("Password of keeper")
    try await session.untilHidden()
    try await store(Self.password)
    try await eventually("the terminal's echo") { session.isEchoing }
    session.type("\u{3}")
    #expect(try await session.end() == 0)
  }
}

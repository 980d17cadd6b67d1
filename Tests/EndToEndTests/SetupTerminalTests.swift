// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestKit
import Testing

@Suite("Setting up at a terminal", .inTurns, .timeLimit(.minutes(30)))
struct SetupTerminalTests {
  private static let password = "Sesame-51d0-right"

  private let broker: PasswordBroker
  private let installation: Installation

  init() throws {
    broker = try PasswordBroker("keeper", Self.password)
    installation = try Installation(port: nil)
  }

  private func atTerminal(_ arguments: String...) throws -> TerminalSession {
    try TerminalSession(
      ["setup"] + arguments + ["--config", installation.configuration],
      environment: installation.environment.merging([
        "THREADKEEPER_SYSTEM_ROOT": installation.directory.file("system")
      ]) { $1 })
  }

  private func answerBroker(_ session: TerminalSession) async throws {
    try await session.until("Broker [127.0.0.1]: ")
    session.type("\n")
    try await session.until("Port [1883]: ")
    session.type("\(broker.port)\n")
    try await session.until("Login [threadkeeper]: ")
    session.type("keeper\n")
  }

  private var settings: String {
    get throws { try String(contentsOfFile: installation.configuration, encoding: .utf8) }
  }

  @Test("It asks, hides the password, asks again after a wrong one, and writes what was answered")
  func questions() async throws {
    let session = try atTerminal()
    try await answerBroker(session)
    try await session.until("Password of keeper: ")
    try await session.untilHidden()
    session.type("Sesame-wrong\n")
    try await session.until("Password of keeper: ", count: 2)
    try await session.untilHidden()
    session.type(Self.password + "\n")
    try await session.until("Announce them to Home Assistant? [yes]: ")
    session.type("no\n")
    try await session.until("Serve the status page? [no]: ")
    session.type("\n")
    try await session.until("Other logins [none]: ")
    session.type("\n")
    try await session.until("Write it? [yes]: ")
    session.type("\n")
    #expect(try await session.end() == 0, "\(session.screen)")
    #expect(session.screen.contains("refused the user name or password of `keeper`"))
    #expect(!session.screen.contains("Sesame"))
    #expect(session.screen.contains("all that it needs is listed"), "\(session.screen)")
    #expect(session.isEchoing)
    #expect(try settings.contains("  username: keeper\n"))
    #expect(try !settings.contains("Sesame"))
    let daemon = try await installation.start()
    #expect(try await daemon.stop() == .exit(0))
  }

  @Test("Of a list that is there it asks which logins are border routers', and denies them nothing")
  func routers() async throws {
    let list = "user hub\ntopic readwrite #\nuser nodered\ntopic readwrite #\n"
    let broker = try BrokerInUse(
      house: ["allow_anonymous false", "password_file $/passwords", "acl_file $/own.acl"],
      addition: "", files: ["own.acl": list], logins: ["threadkeeper", "hub", "nodered"])
    let session = try atTerminal(
      "--broker", "127.0.0.1", "--port", "\(broker.port)", "--login", "threadkeeper",
      "--no-home-assistant", "--no-page", "--mosquitto-config", broker.file("mosquitto.conf"))
    try await session.until("Password of threadkeeper: ")
    try await session.untilHidden()
    session.type("threadkeeper-pw\n")
    try await session.until("Logins of border routers [none]: ")
    session.type("hub\n")
    try await session.until("Write it? [yes]: ")
    session.type("\n")
    #expect(try await session.end() == 0, "\(session.screen)")
    #expect(session.screen.contains("remove these lines of the border router's login hub"))
    #expect(session.screen.contains("--keep nodered |") && !session.screen.contains("--keep hub"))
    #expect(broker.log.contains(" running"))
  }

  @Test("Ctrl-C at a question leaves everything as it was", arguments: [0, 1, 2])
  func cancelled(place: Int) async throws {
    let before = try settings
    let session = try atTerminal()
    if place == 0 {
      try await session.until("Broker [127.0.0.1]: ")
    } else {
      try await answerBroker(session)
      try await session.until("Password of keeper: ")
      try await session.untilHidden()
      if place == 2 {
        session.type(Self.password + "\n")
        try await session.until("Announce them to Home Assistant? [yes]: ")
      }
    }
    session.type("\u{3}")
    #expect(try await session.end() == 130, "\(session.screen)")
    #expect(session.isEchoing)
    #expect(session.screen.contains("Nothing was written"), "\(session.screen)")
    #expect(try settings == before)
    #expect(!FileManager.default.fileExists(atPath: installation.storePath))
  }
}

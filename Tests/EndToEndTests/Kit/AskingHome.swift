// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestKit
import Testing

/// A daemon and programs at terminals that ask it for the preferred network.
struct AskingHome: Sendable {
  static let agent = "a1b2c3d4e5f60718"

  let broker: TestBroker
  let installation: Installation
  let daemon: DaemonProcess
  let home: ThreadNetwork

  /// The example at a terminal, asking for the preferred network.
  func program(_ more: [String: String] = [:]) throws -> TerminalSession {
    try TerminalSession(
      program: ThreadClientExampleTests.program, ["preferred"],
      environment: environment.merging(more) { $1 })
  }

  /// One that has said that it is ready.
  func shell() async throws -> TerminalSession {
    let shell = try TerminalSession(
      program: "/bin/bash", ["--norc", "--noprofile", "-i"],
      environment: environment.merging(["PS1": "ready> ", "TERM": "dumb"]) { $1 })
    try await shell.until("ready> ")
    return shell
  }

  /// Waits for the dataset in a file that a program writes to.
  func untilTold(in file: String) async throws {
    try await eventually("the dataset") {
      let told = (try? String(contentsOfFile: file, encoding: .utf8)) ?? ""
      return told.contains(try home.hex())
    }
  }

  var environment: [String: String] {
    installation.environment.merging(["THREADKEEPER_STORE_PATH": installation.storePath]) { $1 }
  }

  func waiting() async throws -> [JSON] {
    try await installation.json("consent", "list")["pending"]?.list ?? []
  }

  /// The id of the one question that waits.
  func question() async throws -> String {
    try await eventually("a question") { try await waiting().count == 1 }
    return try #require(try await waiting().first?["id"]?.text)
  }

  func history() async throws -> [JSON] {
    try await installation.json("consent", "list", "--history")["history"]?.list ?? []
  }

  func check(_ session: TerminalSession, told: Bool) throws {
    #expect(session.screen.contains(try home.hex()) == told, "\(session.screen)")
    #expect(session.isEchoing)
  }

  /// - Parameters:
  ///   - name: of the home, where the settings name several.
  ///   - prepare: before the daemon starts.
  static func start(
    _ settings: String = "", home name: String? = nil,
    prepare: (Installation) async throws -> Void = { _ in }
  ) async throws -> AskingHome {
    let broker = try TestBroker()
    let installation = try Installation(broker, hold: 0, more: settings)
    try await prepare(installation)
    let daemon = try await installation.start()
    let home = try ThreadNetwork("home-thread")
    let publisher = try await TestPublisher.start(broker)
    try await publisher.publish([BorderRouter(agent).announces(try home.hex())])
    try await eventually("the preferred network") {
      try await isPreferred(installation, in: name)
    }
    return AskingHome(broker: broker, installation: installation, daemon: daemon, home: home)
  }

  static func isPreferred(_ installation: Installation, in home: String?) async throws -> Bool {
    let named = home.map { ["--home", $0] } ?? []
    let shown = try await ThreadkeeperBinary.run(
      ["preferred", "show", "--config", installation.configuration] + named,
      environment: installation.environment)
    return shown.status == 0
  }
}

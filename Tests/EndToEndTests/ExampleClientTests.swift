// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestKit
import Testing

/// The example that readers copy, run as they would.
@Suite("The example keychain-client", .inTurns, .timeLimit(.minutes(30)))
struct ExampleClientTests {
  private static let program = ThreadkeeperBinary.executable.deletingLastPathComponent()
    .appendingPathComponent("KeychainClientExample").path

  private let home: TemporaryDirectory
  private let environment: [String: String]

  init() throws {
    home = try TemporaryDirectory()
    // Empty is not set, whatever the tests' own environment says.
    environment = [
      "XDG_DATA_HOME": home.path, "THREADKEEPER_KEYCHAIN_DIRECTORY": "",
      "THREADKEEPER_KEYCHAIN_KEY_FILE": "", "THREADKEEPER_KEYCHAIN_PASSPHRASE_FILE": "",
      "THREADKEEPER_KEYCHAIN_GROUPS": "",
    ]
  }

  private func run(_ arguments: String..., input: String = "") throws -> Program.Result {
    try Program.run(Self.program, arguments, input: Array(input.utf8), environment: environment)
  }

  @Test("sets, gets, lists, replaces and deletes; what it keeps is encrypted")
  func life() throws {
    #expect(try run("list").output == "")
    #expect(try run("set", "mail", input: "Sesame-4711\n").status == 0)
    #expect(try run("set", "bank 🔑", input: "geheim\n").status == 0)
    #expect(try run("get", "mail").output == "Sesame-4711\n")
    #expect(try run("list").output == "bank 🔑\nmail\n")
    #expect(try run("set", "mail", input: "Sesame-4712\n").status == 0)
    #expect(try run("get", "mail").output == "Sesame-4712\n")
    let files = try #require(FileManager.default.enumerator(atPath: home.path))
    var seen = 0
    for case let name as String in files {
      guard let bytes = FileManager.default.contents(atPath: home.file(name)) else { continue }
      seen += bytes.count
      #expect(bytes.range(of: Data("Sesame".utf8)) == nil, "\(name)")
    }
    #expect(seen > 1000)
    #expect(try run("delete", "mail").status == 0)
    #expect(try run("list").output == "bank 🔑\n")
  }

  @Test("what is not there is said, with its number, and what is wrongly called with the usage")
  func refusals() throws {
    for command in ["get", "delete"] {
      let result = try run(command, "none")
      #expect(result.status == 1)
      #expect(result.output.contains("(-25300)"))
    }
    let nothing = try run("set", "mail", input: "\n")
    #expect(nothing.status == 1 && nothing.output.contains("no password was given"))
    #expect(try run("set").status == 64)
    #expect(try run("get", "a", "b").status == 64)
    #expect(try run().output.hasPrefix("usage: "))
  }

  @Test("asks at a terminal once, hides what is typed, and bothers nobody afterwards")
  func terminal() async throws {
    func atTerminal() throws -> TerminalSession {
      let variables = ProcessInfo.processInfo.environment.merging(environment) { $1 }
      return try TerminalSession(
        program: Self.program, ["get", "mail"], environment: variables)
    }
    let first = try atTerminal()
    try await first.until("No password for mail yet. Password: ")
    try await first.untilHidden()
    first.type("Sesame-4713\n")
    #expect(try await first.end() == 0)
    try await first.until("Sesame-4713\r\n")
    #expect(first.screen.components(separatedBy: "Sesame").count == 2, "printed, and not echoed")
    let second = try atTerminal()
    #expect(try await second.end() == 0)
    try await second.until("Sesame-4713\r\n")
    #expect(!second.screen.contains("Password"))
  }

  @Test("many that keep the same name at once all succeed, and one of them is kept")
  func races() async throws {
    let passwords = (0..<8).map { "password \($0)" }
    try await withThrowingTaskGroup(of: Program.Result.self) { group in
      for password in passwords {
        group.addTask { try run("set", "common", input: password + "\n") }
      }
      for try await result in group { #expect(result.status == 0, "\(result.output)") }
    }
    let kept = try run("get", "common").output.trimmingCharacters(in: .newlines)
    #expect(passwords.contains(kept))
    #expect(try run("list").output == "common\n")
  }
}

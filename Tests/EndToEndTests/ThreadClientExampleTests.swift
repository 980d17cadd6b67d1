// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestKit
import Testing

/// The example that readers copy, run as they would.
@Suite("The example thread-client", .inTurns, .timeLimit(.minutes(30)))
struct ThreadClientExampleTests {
  static let program = ThreadkeeperBinary.executable.deletingLastPathComponent()
    .appendingPathComponent("ThreadClientExample").path
  private static let agent = "a1b2c3d4e5f60718"

  private let home: TemporaryDirectory

  init() throws { home = try TemporaryDirectory() }

  private func run(_ arguments: String..., input: String = "") throws -> Program.Result {
    try Program.run(
      Self.program, arguments, input: Array(input.utf8),
      environment: [
        "THREADKEEPER_STATE_DIRECTORY": home.path, "THREADKEEPER_SOCKET": "",
        "THREADKEEPER_STORE_PATH": home.file("store"), "THREADKEEPER_NETWORK_PRESENCE": "none",
      ])
  }

  @Test("stores, lists, checks and deletes, without showing a key")
  func life() throws {
    let dataset = try SampleNetwork.home.dataset(at: 1).hex
    #expect(try run("list").output == "")
    #expect(try run("store", Self.agent, input: dataset + "\n").status == 0)
    #expect(
      try run("list").output == "a1b2c3d4e5f60718  home  1111111122222222  channel 15\n")
    #expect(try run("check", input: dataset).output == "preferred\n")
    let guest = try SampleNetwork.guest.dataset(at: 1).hex
    #expect(try run("check", input: guest).output == "not preferred\n")
    #expect(try run("delete", Self.agent).status == 0)
    #expect(try run("list").output == "")
  }

  @Test("says what it may not know, what is wrong, and how it is called")
  func refusals() throws {
    #expect(try run("preferred").output.contains("no preferred network"))
    let dataset = try SampleNetwork.home.dataset(at: 1).hex
    #expect(try run("store", Self.agent, input: dataset).status == 0)
    let preferred = try run("preferred")
    #expect(preferred.status == 77)
    #expect(preferred.output.contains("a person must agree"))
    #expect(!preferred.output.contains(SampleNetwork.home.networkKey))
    let cut = try run("store", Self.agent, input: String(dataset.dropLast(2)))
    #expect(cut.status == 1)
    #expect(cut.output.contains("truncated"))
    #expect(try run("store", Self.agent, input: "xyz").output.contains("hexadecimal"))
    #expect(try run("delete", "0000000000000009").output.contains("no credentials"))
    #expect(try run("delete").status == 64)
    #expect(try run().output.hasPrefix("usage: "))
  }

  @Test("asks at its terminal where no daemon runs, and tells once a person agrees")
  func terminal() async throws {
    let dataset = try SampleNetwork.home.dataset(at: 1).hex
    #expect(try run("store", Self.agent, input: dataset).status == 0)
    var variables = ProcessInfo.processInfo.environment
    variables["THREADKEEPER_STATE_DIRECTORY"] = home.path
    variables["THREADKEEPER_STORE_PATH"] = home.file("store")
    for (answer, status, told) in [("y\n", Int32(0), true), ("n\n", 77, false)] {
      let session = try TerminalSession(
        program: Self.program, ["preferred"], environment: variables)
      try await session.until("the Thread network \"home\" (1111111122222222)")
      try await session.until("Allow it? [y/N] ")
      session.type(answer)
      #expect(try await session.end() == status)
      #expect(session.screen.contains(SampleNetwork.home.networkKey) == told)
    }
  }
}

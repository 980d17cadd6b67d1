// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestKit
import Testing

@Suite("The examples that ask for credentials over MQTT", .inTurns, .timeLimit(.minutes(30)))
struct SealedExampleTests {
  private let place: SealedHome

  init() throws { place = try SealedHome() }

  /// Runs one of them while the test does something else.
  private func example(
    _ program: String, _ name: String, _ arguments: [String], _ variables: [String: String] = [:]
  ) async throws -> Program.Result {
    try await Program.example(
      "automation/\(name)", by: program, arguments,
      variables.merging(["HOME": place.installation.directory.path]) { $1 })
  }

  @Test("The example in shell gets the dataset once somebody agrees, and 77 when somebody does not")
  func shell() async throws {
    let scene = try await place.start()
    let variables = [
      "DAEMON_LINE": scene.line, "MQTT_USERNAME": "phone",
      "CLIENT_KEY": try await place.enrollPhone(),
      "MQTT_HOST": "127.0.0.1", "MQTT_PORT": "\(place.broker.port)",
    ]
    async let first = example("/bin/sh", "preferred-dataset.sh", [], variables)
    #expect(
      try await place.installation.command("consent", "approve", try await place.waiting()).status
        == 0)
    let told = try await first
    #expect(told.status == 0 && told.output.contains(place.dataset), "\(told.output)")
    async let second = example("/bin/sh", "preferred-dataset.sh", [], variables)
    #expect(
      try await place.installation.command("consent", "deny", try await place.waiting()).status == 0
    )
    let denied = try await second
    #expect(denied.status == 77, "\(denied.output)")
    let wrong = try await example("/bin/sh", "preferred-dataset.sh", ["party"], variables)
    #expect(wrong.status == 64)
    #expect(try await scene.daemon.stop() == .exit(0))
  }

  private static let hasPython = access("/usr/bin/python3", X_OK) == 0

  @Test(
    "The example in Python says which network came, and shows the dataset only when asked to",
    .enabled(if: hasPython, "needs python3"))
  func python() async throws {
    let scene = try await place.start()
    let options = [
      "--daemon", scene.line, "--username", "phone", "--key", try await place.enrollPhone(),
      "--host", "127.0.0.1", "--port", "\(place.broker.port)",
    ]
    async let first = example("/usr/bin/python3", "networks.py", options)
    #expect(
      try await place.installation.command("consent", "approve", try await place.waiting()).status
        == 0)
    let told = try await first
    #expect(told.status == 0 && told.output.contains("home-thread"), "\(told.output)")
    #expect(!told.output.contains(place.dataset))
    async let second = example(
      "/usr/bin/python3", "networks.py", options + [place.home.extendedPANID, "--dataset"])
    #expect(
      try await place.installation.command("consent", "approve", try await place.waiting()).status
        == 0)
    let shown = try await second
    #expect(shown.output.contains(place.dataset), "\(shown.output)")
    #expect(try await scene.daemon.stop() == .exit(0))
  }
}

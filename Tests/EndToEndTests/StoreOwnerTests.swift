// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestKit
import Testing

@Suite(
  "A store of another user", .inTurns, .timeLimit(.minutes(30)),
  .enabled(if: geteuid() == 0, "only root can be another user"))
struct StoreOwnerTests {
  private static let nobody: uid_t = 65534
  private let directory: TemporaryDirectory
  private let state: String

  /// A state directory that belongs to nobody, as that of a service belongs to the service.
  init() throws {
    directory = try TemporaryDirectory()
    chmod(directory.path, 0o755)
    state = directory.file("state")
    try FileManager.default.createDirectory(atPath: state, withIntermediateDirectories: false)
    try #require(chmod(state, 0o700) == 0 && chown(state, Self.nobody, Self.nobody) == 0)
  }

  private func run(
    _ arguments: [String], as user: uid_t = 0, in place: String? = nil
  ) async throws -> ThreadkeeperBinary.Outcome {
    let launcher =
      user == 0
      ? [] : ["/usr/bin/setpriv", "--reuid=\(user)", "--regid=\(user)", "--clear-groups"]
    return try await ThreadkeeperBinary.run(
      arguments + ["--state-directory", place ?? state], input: .text("Sesame-71a\n"),
      environment: ["HOME": directory.path, "THREADKEEPER_MQTT_HOST": "127.0.0.1"]
        .merging(user == 0 ? [:] : TestSandbox.uncounted) { $1 },
      launcher: launcher)
  }

  private func makeStore(in place: String? = nil) async throws {
    let made = try await run(
      [
        "setup", "--broker", "127.0.0.1", "--port", "9", "--no-login", "--no-validate", "--yes",
        "--config", "\(state)/threadkeeper.yaml",
      ],
      as: Self.nobody, in: place)
    #expect(made.status == 0, "\(made.error)")
  }

  @Test("root is named the way, and makes and changes nothing")
  func root() async throws {
    try await makeStore()
    let files = try FileManager.default.subpathsOfDirectory(atPath: state).sorted()
    let backup = directory.file("a.tkbackup")
    for command in [
      ["store", "verify"], ["store", "restore", backup, "--yes"], ["keys", "list"], ["run"],
    ] {
      let refused = try await run(command)
      #expect(refused.status == 77, "\(command): \(refused.error)")
      #expect(
        refused.error.contains(
          "`sudo -u nobody \(ThreadkeeperBinary.executable.path) \(command.joined(separator: " "))"
            + " --state-directory \(state)`"), "\(command): \(refused.error)")
      #expect(!refused.error.contains("chown") && refused.output.isEmpty)
    }
    #expect(try FileManager.default.subpathsOfDirectory(atPath: state).sorted() == files)
    #expect(try await run(["keys", "list"], as: Self.nobody).status == 0)
  }

  @Test("Who may not look is told so, and not that there is no store")
  func noAccess() async throws {
    try await makeStore()
    let login = ["login", "--username", "a", "--password-stdin"]
    for command in [["routers"], ["status"], login, ["run"]] {
      let refused = try await run(command, as: 12_345)
      #expect(refused.status == 77, "\(command): \(refused.error)")
      #expect(refused.error.contains("`sudo -u nobody /"), "\(command)")
    }
  }

  @Test("root makes no store in a directory of another user")
  func making() async throws {
    let refused = try await run(["run"])
    #expect(refused.status == 77, "\(refused.error)")
    #expect(refused.error.contains("`sudo -u nobody /"))
    #expect(try FileManager.default.contentsOfDirectory(atPath: state).isEmpty)
  }

  @Test("A state directory that is not there yet is made, also below another user's")
  func newPlace() async throws {
    try await makeStore(in: "\(state)/new")
  }

  @Test(
    "A place where no directory can be made is said to be one",
    arguments: ["/etc/passwd/x", "/proc/x"])
  func noPlace(path: String) async throws {
    let refused = try await run(["run"], in: path)
    #expect(refused.status == 73, "\(refused.error)")
    #expect(refused.error.contains("cannot make the directory"))
    #expect(!refused.error.contains("threadkeeper setup"))
  }
}

// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestKit
import Testing

/// What a command does that names no place, while the store is not in the default one.
@Suite("A store that is not in the default place", .inTurns, .timeLimit(.minutes(30)))
struct RunningElsewhereTests {
  private let directory: TemporaryDirectory
  /// As threadkeeper shows it: without doubled slashes.
  private let root: String
  private let environment: [String: String]

  init() throws {
    directory = try TemporaryDirectory()
    root = URL(fileURLWithPath: directory.path).standardizedFileURL.path
    environment = [
      "HOME": root + "/home", "THREADKEEPER_SYSTEM_ROOT": root,
      "PATH": "/usr/bin:/bin:/usr/sbin", "TMPDIR": root, "THREADKEEPER_HTTP_ENABLED": "false",
    ]
  }

  private func run(_ arguments: String...) async throws -> ThreadkeeperBinary.Outcome {
    try await ThreadkeeperBinary.run(arguments, environment: environment)
  }

  private func start(in directory: String) async throws -> DaemonProcess {
    let daemon = try DaemonProcess(
      ["run", "--state-directory", directory], environment: environment,
      errorFile: "\(root)/daemon-\(UInt64.random(in: 0 ... .max)).log")
    try await eventually("the daemon in \(directory)") {
      try await run("status", "--state-directory", directory).status == 0
    }
    return daemon
  }

  @Test("The daemon of this user that runs elsewhere is found, and it is said which it is")
  func found() async throws {
    let project = "\(root)/project/.threadkeeper"
    let daemon = try await start(in: project)
    // It has the store a moment before it listens.
    try await eventually("the daemon to be found") { try await run("status").status == 0 }
    for command in [
      ["status"], ["routers"], ["alerts"], ["clients", "list"], ["preferred", "show", "--history"],
    ] {
      let outcome = try await ThreadkeeperBinary.run(command, environment: environment)
      try #require(outcome.status == 0, "\(outcome.error)\(daemon.isRunning) \(daemon.log)")
      #expect(outcome.error.hasPrefix("note: there is no store in \(root)/"))
      #expect(outcome.error.contains("process \(daemon.identifier)"))
      #expect(outcome.error.contains("\(project)/store"))
    }
    #expect(
      JSON(try await run("status", "--json").output)?["pid"]?.number
        == Int64(daemon.identifier))
    let forget = try await run("preferred", "forget")
    #expect(forget.error.contains("\(project)/store"))
    #expect(forget.error.contains("no network is preferred"))
    // Whoever can change a directory above the store could put another daemon there.
    chmod("\(root)/project", 0o775)
    let unsafe = try await run("status")
    #expect(unsafe.status == 66 && unsafe.error.contains("other users can change \(root)/project"))
    #expect(unsafe.error.contains("chmod go-w"), "\(unsafe.error)")
    chmod("\(root)/project", 0o755)
    // Who names a place means it.
    let named = try await run("status", "--state-directory", "\(root)/other")
    #expect(named.status == 66)
    #expect(named.error.contains("\(root)/other/store"))

    let second = try await start(in: "\(root)/second")
    try await eventually("both to be found") { try await run("status").status == 66 }
    let several = try await run("status")
    #expect(several.error.contains(project) && several.error.contains("\(root)/second"))
    #expect(several.error.contains("--state-directory"))
    #expect(try await second.stop() == .exit(0))

    #expect(try await daemon.stop() == .exit(0))
    let none = try await run("status")
    #expect(none.status == 66)
    #expect(none.error.contains("there is no store in \(root)/"), "\(none.error)")
    #expect(none.error.contains("no threadkeeper was found running"))
    #expect(none.error.contains("threadkeeper run"))
  }

  @Test("Without a daemon, status shows the store and ends with 69")
  func stopped() async throws {
    let state = "\(root)/state"
    #expect(
      try await run(
        "setup", "--broker", "embedded", "--yes", "--config", root + "/new.yaml",
        "--state-directory", state
      ).status == 0)
    let outcome = try await run("status", "--state-directory", state)
    #expect(outcome.status == 69)
    #expect(outcome.output.contains(", not running\n"))
    #expect(outcome.output.contains("\nalerts       none\n"))
    #expect(outcome.error == "")
  }
}

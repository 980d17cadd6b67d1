// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestKit
import Testing

/// What people expect of any script, with broker clients that only note how they were called.
@Suite("The example's scripts as programs", .inTurns, .timeLimit(.minutes(30)))
struct ScriptMannersTests {
  private let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  private static func path(_ script: String) -> String {
    URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("../../examples/\(script)").standardized.path
  }

  /// A client of the broker that leaves its options and its number, and waits, as without messages.
  private func listeningClient(_ name: String) throws {
    let here = directory.path
    let text = """
      #!/bin/sh
      cat "$XDG_CONFIG_HOME/\(name)" >'\(here)/options.new'
      mv '\(here)/options.new' '\(here)/options'
      echo $$ >'\(here)/number.new'
      mv '\(here)/number.new' '\(here)/number'
      exec sleep 600
      """
    try Data(text.utf8).write(to: URL(fileURLWithPath: directory.file(name)))
    try FileManager.default.setAttributes(
      [.posixPermissions: 0o755], ofItemAtPath: directory.file(name))
  }

  /// `threadkeeper client seal` needs keys; what it would print is of no matter here.
  private func sealer() throws {
    try Data("#!/bin/sh\ncat\n".utf8).write(
      to: URL(fileURLWithPath: directory.file("threadkeeper")))
    try FileManager.default.setAttributes(
      [.posixPermissions: 0o755], ofItemAtPath: directory.file("threadkeeper"))
  }

  @Test(
    """
    SIGTERM ends a script that waits for the broker at once, with its client and its file of options; a home directory \
    that is missing is not made
    """,
    arguments: [
      ("sealed-router/adopt.sh", "mosquitto_sub", ["a1b2c3d4e5f60718", "cat", "true"]),
      ("sealed-router/announce.sh", "mosquitto_pub", ["leave", "a1b2c3d4e5f60718"]),
    ])
  func end(script: String, client: String, arguments: [String]) async throws {
    try listeningClient(client)
    try sealer()
    let temporary = directory.file("temporary")
    try FileManager.default.createDirectory(atPath: temporary, withIntermediateDirectories: false)
    try Data("Sesame-4711\n".utf8).write(to: URL(fileURLWithPath: directory.file("password")))
    let process = try ChildProcess(
      "/bin/sh", [Self.path(script)] + arguments,
      environment: [
        "PATH": "\(directory.path):/usr/bin:/bin", "HOME": directory.file("home"),
        "TMPDIR": temporary,
        "DAEMON_LINE": "tk1:none", "MQTT_USERNAME": "script", "MQTT_CAFILE": "/none.pem",
        "MQTT_PASSWORD_FILE": directory.file("password"), "ANSWER_SECONDS": "0",
      ])
    let number = directory.file("number")
    try await eventually("the client") { FileManager.default.fileExists(atPath: number) }
    let listener = try #require(
      pid_t(
        try String(contentsOfFile: number, encoding: .utf8)
          .trimmingCharacters(in: .whitespacesAndNewlines)))
    // No port: with an authority, the client takes 8883 by itself.
    let options = try String(contentsOfFile: directory.file("options"), encoding: .utf8)
    let lines = options.split(separator: "\n")
    #expect(
      lines.dropLast() == ["-h localhost", "-u script", "-P Sesame-4711", "--cafile /none.pem"])
    #expect(lines.last?.wholeMatch(of: /-i threadkeeper-[0-9a-f]{32}(-[0-9a-f]{16})?/) != nil)
    process.signal(SIGTERM)
    #expect(process.wait(within: 60) == .exit(143))
    #expect(try FileManager.default.contentsOfDirectory(atPath: temporary) == [])
    #expect(!FileManager.default.fileExists(atPath: directory.file("home")))
    try await eventually("the client's end") { kill(listener, 0) != 0 && errno == ESRCH }
  }

  @Test(
    "--help is no failure, and a missing variable is a matter of the configuration",
    arguments: [
      ("sealed-router/adopt.sh", ["a1b2c3d4e5f60718", "cat", "true"]),
      ("sealed-router/announce.sh", ["leave", "a1b2c3d4e5f60718"]),
      ("automation/preferred-dataset.sh", []),
    ])
  func usage(script: String, arguments: [String]) async throws {
    let streams = (directory.file("output"), directory.file("errors"))
    let help = try ChildProcess(
      "/bin/sh", [Self.path(script), "--help"], environment: ["PATH": "/usr/bin:/bin"],
      streams: (.nothing, .file(streams.0), .file(streams.1)))
    #expect(help.wait(within: 60) == .exit(0))
    let text = try String(contentsOfFile: streams.0, encoding: .utf8)
    #expect(text.hasPrefix("Usage: "))
    #expect(try String(contentsOfFile: streams.1, encoding: .utf8) == "")
    for given in [[:], ["DAEMON_LINE": "tk1:none"], ["MQTT_USERNAME": "script"]] {
      let outcome = try await Program.example(
        script, arguments,
        given.merging(["DAEMON_LINE": "", "MQTT_USERNAME": "", "HOME": directory.path]) { mine, _ in
          mine
        })
      #expect(outcome.status == 78)
      #expect(outcome.output.contains("is not set; see --help"), "\(outcome.output)")
    }
  }
}

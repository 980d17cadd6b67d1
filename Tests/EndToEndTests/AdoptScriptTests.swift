// SPDX-License-Identifier: Apache-2.0

import Broker
import Foundation
import TestKit
import Testing

/// The example's script with the real program, and a broker that can be made to fail at will: its clients
/// are scripts of this test.
@Suite(
  "A router's script and messages that come more than once", .inTurns, .timeLimit(.minutes(30)))
struct AdoptScriptTests {
  private let directory: TemporaryDirectory
  private let daemonIdentity: Identity
  private static let agent = "a1b2c3d4e5f60705"
  private static let topic = "threadkeeper/out/script/dataset/set"

  init() throws {
    directory = try TemporaryDirectory()
    daemonIdentity = try Identity()
  }

  private func file(_ name: String, _ text: String, isProgram: Bool = false) throws {
    let path = directory.file(name)
    try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    if isProgram {
      try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
    }
  }

  private func message(
    _ id: String, _ dataset: String, to line: String, of agent: String = agent
  ) throws -> String {
    let body = #"{"border_agent_id":"\#(agent)","dataset":"\#(dataset)","id":"\#(id)"}"#
    let envelope = try Envelope.seal(
      Array(body.utf8), to: try PublicIdentity(line: line), from: daemonIdentity,
      at: Envelope.Place(
        topic: Self.topic, order: .identifier(id), now: Int64(Date().timeIntervalSince1970),
        lifetime: 300))
    return #"{"sealed":\#(String(decoding: envelope, as: UTF8.self)),"v":1}"#
  }

  @Test("What is set already is not set again, but announced, since nobody may have heard of it")
  func repeated() async throws {
    let key = directory.file("router.key")
    let made = try await ThreadkeeperBinary.run(["client", "keygen", "--out", key, "--json"])
    let line = try #require(JSON(made.output)?["line"]?.text, "\(made.error)")
    let first = try ThreadNetwork("home-thread").hex()
    let second = try ThreadNetwork("other-thread").hex()
    let messages = try [
      message("a-0000000000000001", first, to: line),
      message("a-0000000000000001", first, to: line),
      message("a-0000000000000002", second, to: line),
    ]
    try file("messages", messages.joined(separator: "\n") + "\n")
    let here = directory.path
    try file("mosquitto_sub", "#!/bin/sh\ncat '\(here)/messages'\n", isProgram: true)
    // The broker cannot be reached when the first one is announced.
    try file(
      "mosquitto_pub",
      """
      #!/bin/sh
      cat >/dev/null
      echo x >>'\(here)/tries'
      [ "$(wc -l <'\(here)/tries')" -gt 1 ] || exit 1
      cat '\(here)/active' >>'\(here)/announced'
      """, isProgram: true)
    let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("../../examples/sealed-router/adopt.sh").standardized.path
    let tools = ThreadkeeperBinary.executable.deletingLastPathComponent().path
    let outcome = try Program.run(
      "/bin/sh",
      [
        script, Self.agent,
        // As `ot-ctl` does: it prints what it is given, and its exit code means nothing.
        "tee -a '\(here)/set' | tee '\(here)/active'; exit 1",
        "printf '> '; sed 's/$/\\r/' '\(here)/active'; echo Done",
      ],
      environment: [
        "PATH": "\(here):\(tools):/usr/bin:/bin", "HOME": here, "CLIENT_KEY": key,
        "DAEMON_LINE": daemonIdentity.keys.line, "MQTT_USERNAME": "script", "ANSWER_SECONDS": "0",
      ])
    #expect(outcome.status == 69, "\(outcome.output)")
    #expect(outcome.output.contains("the dataset could not be published"))
    #expect(!outcome.output.contains(first) && !outcome.output.contains(second))
    func lines(_ name: String) throws -> [String] {
      try String(contentsOfFile: directory.file(name), encoding: .utf8)
        .split(separator: "\n").map(String.init)
    }
    #expect(try lines("set") == [first, second])
    #expect(try lines("announced") == [first, second])
  }
}

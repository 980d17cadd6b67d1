// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestKit
import Testing

@Suite("The audit by command", .inTurns, .timeLimit(.minutes(30)))
struct AuditCommandTests {
  @Test("Who announced, deleted and restored is shown, followed, and checked")
  func audit() async throws {
    let broker = try TestBroker()
    let installation = try Installation(broker, hold: 0)
    let daemon = try await installation.start()
    let followed = installation.directory.file("followed")
    let follower = try ChildProcess(
      ThreadkeeperBinary.executable.path,
      ["audit", "--follow", "--json", "--config", installation.configuration],
      environment: installation.environment,
      streams: (.nothing, .file(followed), .file(installation.directory.file("follower.log"))))
    defer { follower.signal(SIGKILL) }
    let publisher = try await TestPublisher.start(broker)
    let dataset = try ThreadNetwork("home").hex()
    let hub = BorderRouter(number: 1)
    try await publisher.publish([
      hub.says("announce", ("name", #""Hub""#), ("dataset", "\"\(dataset)\""))
    ])
    try await eventually {
      let text = (try? String(contentsOfFile: followed, encoding: .utf8)) ?? ""
      let lines = text.split(separator: "\n")
      return lines.contains { line in
        let actor = JSON(String(line))?["actor"]?.text ?? ""
        return actor.hasPrefix("mqtt user ") && line.contains("thread-network/home")
      }
    }
    let shown = try await installation.json("audit")
    let added = shown.list.first { $0["actor"]?.text?.hasPrefix("mqtt user ") == true }
    #expect(added?["changes"]?.list.first?["action"] == "added")
    let all = try await installation.command("audit")
    #expect(all.status == 0 && all.output.contains("added genp thread-network/home"))
    let agent = try #require(
      try await installation.json("routers").list.first?["border_agent_id"]?.text)
    #expect(try await installation.command("credentials", "delete", agent).status == 0)
    let last = try await installation.json("audit", "--last", "1").list.first
    #expect(last?["actor"]?.text == "command of user \(getuid())")
    #expect(last?["changes"]?.list.first?["action"] == "deleted")
    #expect(try await installation.json("audit", "--verify")["records"] == last?["number"])
    #expect(try await installation.command("store", "verify").status == 0)
    // As `consent list --follow` ends.
    follower.signal(SIGINT)
    #expect(follower.wait() == .signal(SIGINT))
    let said = try String(contentsOfFile: followed, encoding: .utf8) + all.output
    #expect(!said.lowercased().contains(dataset.lowercased()))
    try await daemon.stop()

    let number = try #require(last?["number"]?.number)
    _ = try Program.check(
      "sqlite3",
      [installation.storePath + "/store.sqlite3", "DELETE FROM audit WHERE id = \(number)"])
    let cut = try await installation.command("store", "verify")
    #expect(cut.status == 65 && cut.output.contains("cut off"), "\(cut.output)")
  }

  private func enroll(
    _ user: String, _ installation: Installation, _ session: TerminalSession
  ) async throws {
    let line = try await installation.clientKeygen(installation.directory.file("\(user).key"))
    #expect(try await installation.command("clients", "enroll", user, line).status == 0)
    try await session.until(user)
  }

  @Test("--follow goes on with the next daemon, shows nothing twice, and ends with Ctrl-C")
  func restarts() async throws {
    let installation = try Installation(try TestBroker())
    #expect(try await installation.command("audit", "--follow").status == 69)
    var daemon = try await installation.start()
    let session = try TerminalSession(
      ["audit", "--follow", "--config", installation.configuration],
      environment: installation.environment)
    try await enroll("bert", installation, session)
    #expect(try await daemon.stop() == .exit(0))
    let passphrase = try installation.passphraseFile()
    #expect(
      try await installation.command("keys", "add", "--passphrase-file", passphrase).status == 0)
    daemon = try await installation.start()
    try await session.until("key_slot_added passphrase")
    try await enroll("carl", installation, session)
    session.type("\u{3}")
    _ = try await session.end()
    let lines = session.screen.split(separator: "\r\n").filter { $0.contains("  command of user ") }
    #expect(lines.count >= 3 && Set(lines).count == lines.count, "\(session.screen)")
    #expect(try await daemon.stop() == .exit(0))
  }

  @Test("A wrong number is a usage error")
  func nothing() async throws {
    let installation = try Installation(port: 1)
    #expect(try await installation.command("audit").status == 69)
    try await installation.serving { () async throws in
      #expect(try await installation.command("audit", "--verify").status == 0)
    }
    #expect(try await installation.command("audit", "--verify", "--follow").status == 64)
    for last in ["--last=-1", "--last=0"] {
      #expect(try await installation.command("audit", last).status == 64)
    }
  }
}

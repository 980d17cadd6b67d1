// SPDX-License-Identifier: Apache-2.0

import Foundation
import SealedEnvelope
import TestKit
import Testing

@Suite("Export and import of clients", .inTurns, .timeLimit(.minutes(30)))
struct ExportAccessTests {
  private func users(_ installation: Installation) async throws -> [String] {
    try await installation.json("clients", "list")["clients"]?.list.compactMap { $0["user"]?.text }
      ?? []
  }

  @Test("A new store takes the clients of the export, and says who; one with clients refuses them")
  func clients() async throws {
    let (oldBroker, newBroker) = (try TestBroker(), try TestBroker())
    let (old, new) = (try Installation(oldBroker), try Installation(newBroker))
    let (file, secret) = (old.directory.file("home.tkexport"), try old.passphraseFile())
    let (oldDaemon, newDaemon) = (try await old.start(), try await new.start())
    for user in ["hub", "router"] {
      let line = try Identity().keys.line
      #expect(try await old.command("clients", "enroll", user, line).status == 0)
    }
    _ = try await old.json("store", "export", "--passphrase-file", secret, file)
    #expect(try await old.command("clients", "revoke", "router").status == 0)

    func take(_ installation: Installation, _ options: String...) async throws
      -> ThreadkeeperBinary.Outcome
    {
      try await ThreadkeeperBinary.run(
        [
          "store", "import", "--passphrase-file", secret, "--config", installation.configuration,
          file,
        ]
          + options, environment: installation.environment)
    }
    let back = try await take(old, "--on-conflict", "replace")
    #expect(back.status == 73, "\(back.error)")
    #expect(back.error.contains("(1 client): nothing is imported"), "\(back.error)")
    #expect(back.error.contains("--credentials-only"))
    let only = try await take(old, "--credentials-only", "--json")
    #expect(only.status == 0 && JSON(only.output)?["left_out"] == 3, "\(only.output)")
    #expect(try await users(old) == ["hub"])

    // The daemon that runs has looked for its keys, and had none. It cannot know who was revoked since.
    let trial = try await take(new, "--dry-run", "--json")
    let coming = JSON(trial.output)?["clients"]?.list.map(\.text)
    #expect(coming == ["hub, home home", "router, home home"], "\(trial.output)")
    let shown = try await new.json("clients", "fingerprint")["line"]
    let taken = try await take(new)
    #expect(taken.status == 0)
    let created = try #require(JSON(trial.output)?["created"]?.text)
    #expect(
      taken.output.contains(
        "These get access, as of \(created), when the export was made. Revoke again here who was revoked since:"
          + "\n  client hub, home home\n  client router, home home\n"),
      "\(taken.output)")
    #expect(try await users(new) == ["hub", "router"])
    let line = try await old.json("clients", "fingerprint")["line"]
    #expect(
      try await new.json("clients", "fingerprint")["line"] == line && line != nil && line != shown)
    #expect(try await new.command("clients", "revoke", "router").status == 0)
    #expect(try await take(new).status == 73)
    #expect(try await users(new) == ["hub"])
    #expect(try await oldDaemon.stop() == .exit(0))
    #expect(try await newDaemon.stop() == .exit(0))
    #expect(try await new.command("audit", "--verify").status == 0)
  }
}

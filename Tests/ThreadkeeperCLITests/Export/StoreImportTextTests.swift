// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainCore
import TestKit
import Testing

@testable import ThreadkeeperCLI
@testable import ThreadkeeperDaemon

@Suite("What the commands say of an export and an import", .timeLimit(.minutes(30)))
struct StoreImportTextTests {
  private static let outcome = """
    {"storeId":"a","created":"2026-01-01T00:00:00Z","items":3,"added":2,"unchanged":1,"kept":0,"replaced":0,
    "deleted":0,"conflicts":0,"leftOut":4,"notInExport":{},"damagedThere":0,"unknownHomes":[],"imported":true}
    """

  @Test("Who gets access is listed, and why items are left out")
  func access() throws {
    let outcome = try JSONDecoder().decode(ImportOutcome.self, from: Data(Self.outcome.utf8))
    let names = (1...21).map { ImportedName(client: "user \($0), home home") }
    let text = try StoreImportCommand.parse(["file"]).text(.init(outcome, names, dryRun: false))
    #expect(
      text.contains("These get access, as of 2026-01-01T00:00:00Z, when the export was made."))
    #expect(
      text.contains("\n  client user 20, home home\n  and 1 more; --json lists all\n"), "\(text)")
    let why = "because they belong to that daemon or machine only, or are unknown to this version"
    #expect(text.contains("Left out, \(why): 4\n"))
    let only = try StoreImportCommand.parse(["file", "--credentials-only"])
    let other = only.text(.init(outcome, [], dryRun: false))
    #expect(
      other.contains("Left out, as --credentials-only says: 4\n") && !other.contains("access"))
  }

  @Test("Every class that stays out is a line for people")
  func classes() {
    #expect(
      Accessibility.lines(["when_unlocked_this_device_only": 2])
        == "  2 when unlocked this device only\n")
  }

  @Test("Help has examples, and says what stays out")
  func help() async throws {
    for command in ["export", "import"] {
      let help = try await ThreadkeeperBinary.run(["store", command, "--help"])
      #expect(help.status == 0 && help.output.contains("Examples:"))
      #expect(help.output.contains("--passphrase-file"))
    }
    let wrong = try await ThreadkeeperBinary.run(["store", "import", "x", "--on-conflict", "guess"])
    #expect(wrong.status == 64 && wrong.error.contains("refuse"))
  }
}

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
    "deleted":0,"conflicts":0,"leftOut":{},"takenOver":{},"replacesKeys":false,"notInExport":{},"damagedThere":0,"unknownHomes":[],"imported":true}
    """

  @Test("Lines of another version that cannot be read are counted, where there are any")
  func unread() throws {
    let outcome = try JSONDecoder().decode(ImportOutcome.self, from: Data(Self.outcome.utf8))
    let command = try StoreImportCommand.parse(["file"])
    #expect(
      command.text(.init(outcome, .init(unread: 2), dryRun: false))
        .contains("Of what the running daemon names, 2 cannot be read here"))
    #expect(!command.text(.init(outcome, .init(), dryRun: false)).contains("cannot be read"))
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

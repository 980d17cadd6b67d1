// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import ThreadkeeperDaemon

/// `threadkeeper store`
struct StoreCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "store",
    abstract: "Look after the encrypted store itself.",
    subcommands: [
      StoreVerifyCommand.self, StoreBackupCommand.self, StoreRestoreCommand.self,
    ])
}

/// `threadkeeper store verify`
struct StoreVerifyCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "verify",
    abstract: "Check that every item opens, and that none was added, removed or replaced.",
    discussion: """
      A running daemon verifies while it works. Exits 0 when all is well, 65 when something was altered.

      Example:
        threadkeeper store verify
      """)

  @OptionGroup var options: SettingsOptions
  @OptionGroup var output: OutputOptions

  func run() async throws {
    let report = try await MaintenanceClient(settings: try options.loadOfStore()).verify()
    try output.show(
      report,
      text: report.isWell
        ? "All \(report.items) items are as they were left.\n"
        : "\(report.damagedRows.count) of \(report.items) items are damaged; the store is "
          + "\(report.condition).\n"
          + (report.auditProblem.map { "The audit: \($0).\n" } ?? ""))
    if report.locked > 0 {
      try StandardStream.error.write(
        "\(report.locked) items are locked, and their secrets were not opened. Name the passphrase in"
          + " `store.passphrase`, and verify again without the daemon.\n")
    }
    guard report.isWell else { throw ExitCode(ExitStatus.badInput.rawValue) }
  }
}

// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import KeychainCore
import ThreadkeeperDaemon

/// `threadkeeper store verify`
struct StoreVerifyCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "verify",
    abstract: "Check that every item opens, and that none was added, removed or replaced.",
    discussion: """
      Works beside a running daemon. Exits 0 when all is well, 65 when something was altered.

      Example:
        threadkeeper store verify
      """)

  @OptionGroup var options: SettingsOptions
  @OptionGroup var output: OutputOptions

  struct Report: Encodable {
    let items: Int
    let matchesManifest: Bool
    let damagedRows: [Int64]
    let condition: String
    /// What is wrong with the audit; not there when nothing is.
    let auditProblem: String?

    var isWell: Bool {
      auditProblem == nil && matchesManifest && damagedRows.isEmpty && condition == "healthy"
    }
  }

  func run() throws {
    let settings = try options.loadOfStore()
    let keychain = try OpenStore.forReading(settings)
    let found = try keychain.verify(.everything)
    let auditProblem = try keychain.auditProblem()
    let report = Report(
      items: found.items, matchesManifest: found.matchesManifest,
      damagedRows: keychain.quarantine.sorted(), condition: keychain.condition.words,
      auditProblem: auditProblem)
    try output.show(
      report,
      text: report.isWell
        ? "All \(report.items) items are as they were left.\n"
        : "\(report.damagedRows.count) of \(report.items) items are damaged; the store is "
          + "\(report.condition).\n" + (auditProblem.map { "The audit: \($0).\n" } ?? ""))
    guard report.isWell else { throw ExitCode(ExitStatus.badInput.rawValue) }
  }
}

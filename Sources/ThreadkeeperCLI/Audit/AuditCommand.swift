// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import KeychainCore
import ThreadkeeperDaemon

/// `threadkeeper audit`
struct AuditCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "audit",
    abstract: "Show who changed what in the store.",
    discussion: """
      Works beside a running daemon. Each record is linked to the one before it, and the store knows the \
      last one. --verify goes through all of them, and ends with 65 when one is missing, altered or \
      not in its place. With --follow, --json prints a line of JSON for each record.

      Examples:
        threadkeeper audit --last 20
        threadkeeper audit --follow --json
        threadkeeper audit --verify
      """)

  @Option(help: ArgumentHelp("How many records to begin with.", valueName: "number"))
  var last: Int64 = 50

  @Flag(help: "Go on showing what comes.")
  var follow = false

  @Flag(help: "Check all of them.")
  var verify = false

  @OptionGroup var options: SettingsOptions
  @OptionGroup var output: OutputOptions

  struct Verification: Encodable {
    let records: Int64
    /// Not there when all is well.
    let problem: String?
  }

  func validate() throws {
    guard last > 0 || (last == 0 && follow) else {
      throw ValidationError("--last is 1 or more; with --follow it can be 0.")
    }
    guard !(verify && follow) else {
      throw ValidationError("--verify and --follow do not go together.")
    }
  }

  func run() async throws {
    let settings = try options.loadOfStore()
    var keychain = try OpenStore.forReading(settings)
    defer { keychain.close() }
    do {
      if verify { return try check(keychain) }
      let newest = try keychain.lastAuditRecord()
      var shown = newest - min(newest, last)
      try show(try records(keychain, after: &shown))
      while follow {
        try await Task.sleep(for: .milliseconds(300))
        do {
          let next = try records(keychain, after: &shown)
          if !next.isEmpty { try show(next) }
        } catch let error as KeychainError {
          guard error.asksForReopening else { throw error }
          // The root keys are new.
          keychain.close()
          keychain = try OpenStore.forReading(settings)
        }
      }
    } catch let error as KeychainError {
      throw CommandFailure(error)
    }
  }

  private func check(_ keychain: Keychain) throws {
    let report = Verification(
      records: try keychain.lastAuditRecord(), problem: try keychain.auditProblem())
    try output.show(
      report,
      text: report.problem.map { "\($0.printable).\n" }
        ?? "All \(report.records) records are as they were written.\n")
    guard report.problem == nil else { throw ExitCode(ExitStatus.badInput.rawValue) }
  }

  private func records(
    _ keychain: Keychain, after shown: inout Int64
  ) throws(KeychainError) -> [AuditRecord] {
    var records: [AuditRecord] = []
    try keychain.forEachAuditRecord(after: shown) { records.append($0) }
    shown = records.last?.number ?? shown
    return records
  }

  private func show(_ records: [AuditRecord]) throws(CommandFailure) {
    let reports = records.map(AuditReport.init)
    if follow, output.json {
      for report in reports { try StandardStream.output.write(JSONText.line(report)) }
      return
    }
    if !follow, records.isEmpty, !output.json {
      return try StandardStream.output.write("Nothing has been changed yet.\n")
    }
    try output.show(reports, text: reports.map(\.text).joined())
  }
}

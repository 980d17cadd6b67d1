// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import ThreadkeeperDaemon

/// `threadkeeper audit`
struct AuditCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "audit",
    abstract: "Show who changed what in the store.",
    discussion: """
      Works beside a running daemon. Each record is linked to the one before it, and the store knows the \
      last one. --verify goes through all of them, and ends with 65 when one is missing, altered or \
      not in its place.

      With --follow it goes on until Ctrl-C, also over a restart of the daemon, which is asked where one \
      runs. --json prints a line of JSON for each record then.

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
    if follow {
      var follower = AuditFollower(
        settings: settings, show: { [output] in try Self.show($0, output) },
        warn: { try StandardStream.error.write("warning: \($0.printable)\n") })
      try await follower.run(last: last)
    }
    let client = AuditClient(settings: settings)
    if verify { return try await show(client.verify()) }
    let entries = try await client.last(last)
    try output.show(
      entries,
      text: entries.isEmpty ? "Nothing has been changed yet.\n" : entries.map(\.text).joined())
  }

  /// What comes while it is followed.
  private static func show(_ entries: [AuditEntry], _ output: OutputOptions) throws {
    for entry in entries {
      try StandardStream.output.write(output.json ? JSONText.line(entry) : entry.text)
    }
  }

  private func show(_ report: AuditMethods.Verification) throws {
    try output.show(
      report,
      text: report.problem.map { "\($0.printable).\n" }
        ?? "All \(report.records) records are as they were written.\n")
    guard report.problem == nil else { throw ExitCode(ExitStatus.badInput.rawValue) }
  }
}

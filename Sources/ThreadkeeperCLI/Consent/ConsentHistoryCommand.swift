// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import ThreadkeeperDaemon

/// `threadkeeper consent history`
struct ConsentHistoryCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "history",
    abstract: "Show what was decided, the newest first.",
    discussion: """
      The last 1,000 decisions are kept. `threadkeeper audit` has all of them, and whom credentials \
      were given to each time.

      Examples:
        threadkeeper consent history
        threadkeeper consent history --last 5 --json
      """)

  @Option(help: ArgumentHelp("How many.", valueName: "number"))
  var last = 50

  @OptionGroup var options: SettingsOptions
  @OptionGroup var output: OutputOptions

  func validate() throws {
    guard last > 0 else { throw ValidationError("--last is 1 or more.") }
  }

  func run() async throws {
    let report = try await ConsentClient(settings: options.loadOfStore()).history(last)
    try output.show(report, text: Self.text(report.history))
  }

  static func text(_ history: [ConsentReport.Decision]) -> String {
    var table = Table(
      columns: "DECIDED", "OUTCOME", "REQUESTER", "WANTED", "NETWORK", "ROUTER", "BY", "ID")
    for past in history {
      table.add(
        past.decidedAt, outcome(past), past.requester, past.command, past.networkNames,
        past.router?.description ?? "", past.decidedBy ?? "", past.id)
    }
    return table.isEmpty ? "Nothing has been decided yet.\n" : table.text()
  }

  private static func outcome(_ past: ConsentReport.Decision) -> String {
    guard past.outcome == "approved" else { return past.outcome }
    let approved = past.scope.map { "approved \($0)" } ?? past.outcome
    guard past.given == false else { return approved }
    return "\(approved), not given" + (past.notGiven.map { ": \($0.code)" } ?? "")
  }
}

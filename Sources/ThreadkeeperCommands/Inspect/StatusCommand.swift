// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// `threadkeeper status`
struct StatusCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "status",
    abstract: "Show how the daemon is: the broker, the store, and what is in it.",
    discussion: """
      Ends with 69 when no daemon runs on the store.

      Examples:
        threadkeeper status
        threadkeeper status --json | jq .alerts
      """)

  @OptionGroup var options: SettingsOptions
  @OptionGroup var output: OutputOptions

  func run() async throws {
    let registry = try Registry(options)
    let asked = await DaemonStatusRequest.ask(registry.settings)
    let report = try registry.reading { try StatusReport(registry, asked: asked) }
    try output.show(report, text: report.text(width: StandardStream.output.columns))
    guard report.running else { throw ExitCode(ExitStatus.unavailable.rawValue) }
  }
}

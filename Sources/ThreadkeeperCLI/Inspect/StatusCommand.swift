// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Settings
import ThreadkeeperDaemon

/// `threadkeeper status`
struct StatusCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "status",
    abstract: "Show how the daemon is: the broker, the store, and what is in it.",
    discussion: """
      A daemon that runs is asked, without any key. Without one the store is opened, which needs a key, \
      and the exit status is 69.

      Examples:
        threadkeeper status
        threadkeeper status --json | jq .alerts
      """)

  @OptionGroup var options: SettingsOptions
  @OptionGroup var output: OutputOptions

  func run() async throws {
    let settings = try options.loadOfStore()
    let report = try await StatusClient(settings: settings).report() ?? stored(settings)
    try output.show(report, text: report.text(width: StandardStream.output.columns))
    guard report.running else { throw ExitCode(ExitStatus.unavailable.rawValue) }
  }

  /// What the store says by itself.
  private func stored(_ settings: Settings) throws -> StatusReport {
    let registry = try Registry(settings, OpenStore.forReading(settings))
    return try registry.reading { try StatusReport(registry) }
  }
}

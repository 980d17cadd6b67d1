// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import KeychainCore
import LocalAPI
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

/// Asks the daemon how it is.
struct StatusClient {
  let settings: Settings

  private static let timeout = Duration.seconds(10)
  /// How long a process that has the store and does not listen is given: it may be starting.
  private static let startTimeout = Duration.seconds(2)

  /// - Returns: nil where no daemon answers: none runs, this user has no access to it, it is another version, or it cannot
  ///   read its store.
  /// - Throws: `CancellationError`.
  func report() async throws -> StatusReport? {
    let end = ContinuousClock.now + Self.startTimeout
    while true {
      if let report = try await reportNow() { return report }
      guard ContinuousClock.now < end,
        StoreLock.holder(of: OpenStore.location(settings)) != nil
      else { return nil }
      try await Task.sleep(for: .milliseconds(100))
    }
  }

  private func reportNow() async throws -> StatusReport? {
    do {
      return try await DaemonClient(settings: settings).call(
        StatusMethods.get, VarlinkNothing(), within: Self.timeout
      )?.status
    } catch {
      try Task.checkCancellation()
      return nil
    }
  }
}

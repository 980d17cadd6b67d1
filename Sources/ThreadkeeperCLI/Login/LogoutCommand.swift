// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Settings
import ThreadkeeperDaemon

/// `threadkeeper logout`
struct LogoutCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "logout",
    abstract: "Delete the stored password for the broker.",
    discussion: """
      Works beside a running daemon, which then has no password any more: the broker will refuse it, \
      and it says so by an alert until the next `login`. Ends with 66 when none was stored, 77 when the store is \
      another user's.

      Examples:
        threadkeeper logout
        threadkeeper logout --json
      """)

  @OptionGroup var options: SettingsOptions
  @OptionGroup var output: OutputOptions

  struct Report: Encodable {
    let broker: String
    /// User names.
    let deleted: [String]
    let daemonRunning: Bool
  }

  func run() async throws {
    let settings = try options.loadOfStore()
    let client = try LoginClient(settings)
    try OpenStore.checkAccess(settings)
    guard OpenStore.exists(settings) else { throw nothing(client) }
    let deleted = try await client.delete()
    guard !deleted.users.isEmpty else { throw nothing(client) }
    let report = Report(
      broker: "\(client.address)", deleted: deleted.users, daemonRunning: deleted.isDaemonRunning)
    let users = deleted.users.map(\.printable).joined(separator: ", ")
    let whose = deleted.isDaemonRunning ? "The running daemon's settings" : "The settings"
    let note = deleted.wasInUse ? "" : "\(whose) still have one, in `mqtt.password`.\n"
    try output.show(
      report, text: "The password of \(users) at \(report.broker) is deleted.\n\(note)")
  }

  private func nothing(_ client: LoginClient) -> CommandFailure {
    CommandFailure(.noInput, "no password for \(client.address) is stored")
  }
}

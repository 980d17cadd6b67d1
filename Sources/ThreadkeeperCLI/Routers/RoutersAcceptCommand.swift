// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import ThreadkeeperDaemon

/// `threadkeeper routers accept`
struct RoutersAcceptCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "accept",
    abstract: "End the alert about a border router that is new on the preferred network.",
    discussion: """
      A router that was not there before and joins the preferred network has its credentials, so the \
      alert UnknownRouter names it until you accept it. Nothing else changes.

      Works beside a running daemon and without one. Ends with 66 for an unknown id.

      Examples:
        threadkeeper routers accept a1b2c3d4e5f60718
        threadkeeper routers accept a1b2c3d4e5f60718 --json
      """)

  @OptionGroup var argument: CredentialArgument
  @OptionGroup var options: SettingsOptions
  @OptionGroup var output: OutputOptions

  func run() async throws {
    let settings = try options.loadOfStore()
    let report = try await RoutersClient(settings: settings).accept(argument.router(settings))
    try output.show(
      report,
      text: report.changed
        ? "\(report.borderAgentId) is accepted.\n"
        : "\(report.borderAgentId) needs no acceptance: it was there before, or is accepted already.\n"
    )
  }
}

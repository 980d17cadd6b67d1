// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import ThreadkeeperDaemon

/// `threadkeeper routers release`
struct RoutersReleaseCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "release",
    abstract: "Let the next team that announces a border agent id own it.",
    discussion: """
      The credentials stored under the id are deleted, and the id belongs to nobody. The router stays \
      in the list. The next login that announces the id with a dataset owns it, also the one that owned \
      it before: stop that one first, or use `transfer`. The preferred network stays as it is.

      Works beside a running daemon and without one. Ends with 66 when no team owns the id.

      Examples:
        threadkeeper routers release a1b2c3d4e5f60718
        threadkeeper routers release a1b2c3d4e5f60718 --json
      """)

  @OptionGroup var argument: CredentialArgument
  @OptionGroup var options: SettingsOptions
  @OptionGroup var output: OutputOptions

  func run() async throws {
    let settings = try options.loadOfStore()
    let report = try await RoutersClient(settings: settings).release(argument.router(settings))
    let previous = report.previousTeam.map { " to the team `\($0.printable)`" } ?? ""
    let credentials = report.credentials ? " Its credentials are deleted." : ""
    try output.show(
      report,
      text: "\(report.borderAgentId) does not belong\(previous) any more.\(credentials)\n"
        + "The next team that announces it owns it.\n")
  }
}

// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import ThreadkeeperDaemon

/// `threadkeeper routers remove`
struct RoutersRemoveCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "remove",
    abstract: "Remove a border router that is gone, with all that is stored of it.",
    discussion: """
      For a router that cannot leave by itself any more: one that was thrown away, or that has \
      another border agent id since its factory reset. It leaves the list, its credentials and its owner \
      are deleted, its topics on the broker are emptied, and its alerts resolve. The preferred network \
      stays as it is. A router that announces itself again is listed again.

      Also to give the id to another team: it belongs to the next login that announces it with a dataset. \
      Stop the login that announced it before first.

      Works beside a running daemon and without one: then the topics are emptied at the next start. \
      Ends with 66 for an unknown id.

      Examples:
        threadkeeper routers remove a1b2c3d4e5f60718
        threadkeeper routers remove a1b2c3d4e5f60718 --json
      """)

  @OptionGroup var argument: CredentialArgument
  @OptionGroup var options: SettingsOptions
  @OptionGroup var output: OutputOptions

  func run() async throws {
    let settings = try options.loadOfStore()
    let report = try await RoutersClient(settings: settings).remove(argument.router(settings))
    let credentials = report.credentials ? ", and so are its credentials" : ""
    try output.show(report, text: "\(report.borderAgentId) is removed\(credentials).\n")
  }
}

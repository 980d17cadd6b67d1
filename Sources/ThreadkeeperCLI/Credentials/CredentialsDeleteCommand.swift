// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import ThreadDataset
import ThreadRequests

/// `threadkeeper credentials delete`
struct CredentialsDeleteCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "delete",
    abstract: "Delete the stored credentials of one border router.",
    discussion: """
      The router stays in the list, without credentials. A router that announces itself again \
      stores them again. Works beside a running daemon and without one.

      Examples:
        threadkeeper credentials delete a1b2c3d4e5f60718
      """)

  @OptionGroup var argument: CredentialArgument
  @OptionGroup var options: SettingsOptions
  @OptionGroup var output: OutputOptions

  struct Report: Encodable {
    let deleted: String
  }

  func run() async throws {
    let agent = try argument.agent()
    let settings = try options.loadOfStore()
    var request = ThreadRequest(.deleteCredentials)
    request.home = try argument.homeName(settings)
    request.agent = agent
    // Done twice, the second time there is nothing to delete.
    _ = try await RequestClient(settings: settings).perform(request, isRepeatable: false)
    try output.show(
      Report(deleted: agent.description), text: "The credentials of \(agent) are deleted.\n")
  }
}

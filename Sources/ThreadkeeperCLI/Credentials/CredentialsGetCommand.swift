// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Settings
import ThreadDataset
import ThreadkeeperDaemon

/// Which router's credentials are meant.
struct CredentialArgument: ParsableArguments {
  @Argument(help: "The border agent id: 16 or 32 hex digits.")
  var borderAgentID: String

  @Option(help: "The home; needed only where there is more than one.")
  var home: String?

  func agent() throws -> BorderAgentID {
    guard let agent = BorderAgentID(hex: borderAgentID) else {
      throw CommandFailure(.usage, "a border agent id has 16 or 32 hex digits")
    }
    return agent
  }

  func homeName(_ settings: Settings) throws -> String { try settings.home(named: home) }

  func router(_ settings: Settings) throws -> RouterSelection {
    RouterSelection(home: try homeName(settings), borderAgentId: try agent().description)
  }
}

/// `threadkeeper credentials get`
struct CredentialsGetCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "get",
    abstract: "Show the stored credentials of one border router.",
    discussion: """
      The dataset holds the network key and is printed only with --show-secrets.

      Examples:
        threadkeeper credentials get a1b2c3d4e5f60718
        threadkeeper credentials get a1b2c3d4e5f60718 --show-secrets --json | \\
          jq -r .dataset
      """)

  @OptionGroup var argument: CredentialArgument
  @Flag(help: "Print the dataset, which holds the network key.")
  var showSecrets = false
  @OptionGroup var options: SettingsOptions
  @OptionGroup var output: OutputOptions

  func run() async throws {
    _ = try argument.agent()
    let settings = try options.loadOfStore()
    let router = try argument.router(settings)
    let method = showSecrets ? ListsMethods.credentialSecret : ListsMethods.credential
    let report = try await ListsClient(settings: settings).one(method, router) {
      try $0.credential(router, showingSecrets: showSecrets)
    }
    try output.show(report, text: report.text)
  }
}

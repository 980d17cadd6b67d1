// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import ThreadkeeperDaemon

/// `threadkeeper preferred show`
struct PreferredShowCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show",
    abstract: "Show the preferred network. Its dataset only when asked for.",
    discussion: """
      A network that was chosen by its Extended PAN ID alone is checked for like any other, and has no \
      dataset. Then the command names the border routers that report credentials of it.

      Examples:
        threadkeeper preferred show
        threadkeeper preferred show --show-secrets --json | jq -r .dataset
      """)

  @OptionGroup var home: HomeOption
  @Flag(help: "Print the dataset, which holds the network key.")
  var showSecrets = false
  @OptionGroup var options: SettingsOptions
  @OptionGroup var output: OutputOptions

  func run() async throws {
    let settings = try options.loadOfStore()
    let request = ListsMethods.HomeSelection(home: try settings.home(named: home.home))
    let method = showSecrets ? ListsMethods.preferredSecret : ListsMethods.preferred
    let report = try await ListsClient(settings: settings).one(method, request) {
      try $0.preferred(request, showingSecrets: showSecrets)
    }
    try output.show(report, text: report.text(homeOption: home.home.map { " --home \($0)" } ?? ""))
  }
}

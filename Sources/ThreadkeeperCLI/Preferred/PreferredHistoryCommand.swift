// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import ThreadkeeperDaemon

/// `threadkeeper preferred history`
struct PreferredHistoryCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "history",
    abstract: "List the networks that were preferred before.",
    discussion: """
      The last eight are kept, the newest first, with their keys, which are never shown. An id names \
      one for `threadkeeper preferred set` and `threadkeeper networks forget`.

      Examples:
        threadkeeper preferred history
        last=$(threadkeeper preferred history --json | jq -r '.[0].id')
        threadkeeper preferred set "$last"
      """)

  @OptionGroup var home: HomeOption
  @OptionGroup var options: SettingsOptions
  @OptionGroup var output: OutputOptions

  func run() async throws {
    let settings = try options.loadOfStore()
    let request = ListsMethods.HomeSelection(home: try settings.home(named: home.home))
    let records = try await ListsClient(settings: settings)
      .rows(ListsMethods.former, request) { try $0.former(request) }.rows
    var table = Table(columns: "ID", "NETWORK", "EXTENDED PAN ID", "CHANNEL", "TIMESTAMP", "UNTIL")
    for record in records {
      table.add(
        record.id, record.networkName, record.extendedPANID,
        record.channel.map(String.init) ?? "",
        record.activeTimestamp.map(String.init) ?? "no dataset", record.until)
    }
    try output.show(
      records,
      text: table.isEmpty
        ? "No other network was preferred before.\n" : table.text(style: .init(of: .output)))
  }
}

// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Settings
import ThreadRequests
import ThreadkeeperDaemon

/// `threadkeeper preferred`
struct PreferredCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "preferred",
    abstract: "Look at the preferred network, check a dataset against it, or choose another one.",
    subcommands: [
      PreferredShowCommand.self, PreferredCheckCommand.self, PreferredSetCommand.self,
      PreferredForgetCommand.self,
    ])
}

/// Which home is meant.
struct HomeOption: ParsableArguments {
  @Option(help: "The home; needed only where there is more than one.")
  var home: String?
}

/// `threadkeeper preferred show`
struct PreferredShowCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show",
    abstract: "Show the preferred network. Its dataset only when asked for.",
    discussion: """
      A network that was chosen by its Extended PAN ID alone is checked for like any other, and has no \
      dataset. Then the command names the border routers that report credentials of it.

      With --history it lists the last eight networks that were preferred before, the newest first. Their keys are \
      kept, and never shown. An id names one for `threadkeeper preferred set` and `threadkeeper networks forget`.

      Examples:
        threadkeeper preferred show
        threadkeeper preferred show --show-secrets --json | jq -r .dataset
        last=$(threadkeeper preferred show --history --json | jq -r '.[0].id')
        threadkeeper preferred set "$last"
      """)

  @OptionGroup var home: HomeOption
  @Flag(help: "Print the dataset, which holds the network key.")
  var showSecrets = false
  @Flag(help: "List the networks that were preferred before.")
  var history = false
  @OptionGroup var options: SettingsOptions
  @OptionGroup var output: OutputOptions

  func validate() throws {
    guard !showSecrets || !history else {
      throw ValidationError("Say one of --show-secrets and --history.")
    }
  }

  func run() async throws {
    let settings = try options.loadOfStore()
    let name = try settings.home(named: home.home)
    let client = DaemonClient(settings: settings)
    guard !history else {
      return try showHistory(try await client.list(ListFormerNetworks(home: name)).rows)
    }
    let report = try await client.perform(ShowPreferred(home: name, secret: showSecrets))
    try output.show(report, text: report.text(homeOption: home.home.map { " --home \($0)" } ?? ""))
  }

  private func showHistory(_ records: [FormerNetworkRecord]) throws {
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

/// `threadkeeper preferred forget`
struct PreferredForgetCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "forget",
    abstract: "Let no network be the preferred one.",
    discussion: """
      The network is kept in the history. From then on no border router is checked, and no announcement \
      makes a network the preferred one: choose one with `threadkeeper preferred set`.

      Examples:
        threadkeeper preferred forget
        threadkeeper preferred set home
      """)

  @OptionGroup var home: HomeOption
  @OptionGroup var options: SettingsOptions
  @OptionGroup var output: OutputOptions

  struct Report: Encodable {
    let kept: FormerNetworkRecord?
  }

  func run() async throws {
    let settings = try options.loadOfStore()
    var request = ThreadRequest(.forgetPreferred)
    request.home = try settings.home(named: home.home)
    let data = try await DaemonClient(settings: settings).perform(request)
    let kept = data.forgotten?.first
    let name = kept.map { "\($0.networkName.printable) is kept as \($0.id). " } ?? ""
    try output.show(
      Report(kept: kept),
      text: "No network is preferred now. \(name)"
        + "Choose one with `threadkeeper preferred set`.\n")
  }
}

// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Broker
import ThreadkeeperDaemon

/// `threadkeeper networks list`, which may be left out.
struct NetworksListCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List the Thread networks, the preferred one marked, and their border routers.",
    discussion: """
      Lists what the daemon has stored. With --scan it looks on the local network itself for that many \
      seconds, without a daemon, a store or settings; this needs avahi-daemon.

      PREFERRED is `yes` for the preferred network and `accepted` for one that `networks accept` names. \
      A router that cannot be reached now is marked `(offline)`.

      Examples:
        threadkeeper networks
        threadkeeper networks --json
        threadkeeper networks --scan 5
      """)

  @Option(help: "Look on the local network for this many seconds instead, 1 to 60.")
  var scan: Int?
  @OptionGroup var options: SettingsOptions
  @OptionGroup var output: OutputOptions

  func validate() throws {
    if let scan, !(1...60).contains(scan) {
      throw ValidationError("--scan takes whole seconds from 1 to 60")
    }
  }

  func run() async throws {
    if let scan {
      let networks = try await NetworkScan(seconds: scan).run()
      try output.show(networks, text: text(networks, none: "No border router was found.\n"))
      return
    }
    let client = DaemonClient(settings: try options.loadOfStore())
    let networks = NetworkListing.all(
      try await client.list(ListNetworks()).rows, try await client.list(ListRouters()).rows)
    try output.show(networks, text: text(networks, none: "No network is known yet.\n"))
  }

  private func text(_ networks: [NetworkListing], none: String) -> String {
    var table = Table(
      columns: "NETWORK", "EXTENDED PAN ID", "CHANNEL", "PREFERRED", "BORDER ROUTERS")
    for network in networks { table.add(network.cells) }
    return table.isEmpty ? none : table.text(style: .init(of: .output))
  }
}

/// `threadkeeper networks`
struct NetworksCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "networks",
    abstract: "List the Thread networks and their border routers, accept or forget a network.",
    subcommands: [
      NetworksListCommand.self, NetworksAcceptCommand.self, NetworksForgetCommand.self,
    ],
    defaultSubcommand: NetworksListCommand.self)
}

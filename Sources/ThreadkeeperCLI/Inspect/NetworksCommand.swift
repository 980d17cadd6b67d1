// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Bridge
import BridgeProtocol
import ThreadkeeperDaemon

/// `threadkeeper networks`
struct NetworksCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "networks",
    abstract: "List the Thread networks, or forget one.",
    subcommands: [NetworksListCommand.self, NetworksForgetCommand.self],
    defaultSubcommand: NetworksListCommand.self)
}

/// `threadkeeper networks list`, which may be left out.
struct NetworksListCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List the Thread networks, the preferred one marked.",
    discussion: """
      Examples:
        threadkeeper networks
        threadkeeper networks --json
      """)

  @OptionGroup var options: SettingsOptions
  @OptionGroup var output: OutputOptions

  func run() throws {
    let networks = try Registry(options).list { registry, home in
      try registry.networks(in: home).map { $0.state(in: home) }
    }
    var table = Table(
      columns: "NETWORK", "EXTENDED PAN ID", "CHANNEL", "ROUTERS", "ONLINE", "PREFERRED")
    for network in networks {
      table.add(
        network.networkName, network.extendedPANID, network.channel.map(String.init) ?? "",
        String(network.routers), String(network.routersOnline), network.isPreferred ? "yes" : "")
    }
    try output.show(
      networks,
      text: table.isEmpty ? "No network is known yet.\n" : table.text(style: .init(of: .output)))
  }
}

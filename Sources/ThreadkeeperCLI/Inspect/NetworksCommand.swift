// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

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

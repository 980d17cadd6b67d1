// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// `threadkeeper routers`
struct RoutersCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "routers",
    abstract: "List the border routers, remove one, or accept one that is new.",
    discussion: """
      Without a subcommand it lists them, with the options of `list`.

      Examples:
        threadkeeper routers
        threadkeeper routers --json
        threadkeeper routers remove a1b2c3d4e5f60718
        threadkeeper routers accept a1b2c3d4e5f60718
      """,
    subcommands: [
      RoutersListCommand.self, RoutersRemoveCommand.self, RoutersAcceptCommand.self,
    ],
    defaultSubcommand: RoutersListCommand.self)
}

// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// `threadkeeper client`
struct ClientCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "client",
    abstract:
      "For border routers and other clients: keys of their own, and what is sealed with them.",
    discussion: """
      These work on any machine, without a store and without a daemon.
      """,
    subcommands: [
      ClientKeygenCommand.self, ClientSealCommand.self, ClientOpenCommand.self,
      ClientRequestCommand.self,
    ])
}

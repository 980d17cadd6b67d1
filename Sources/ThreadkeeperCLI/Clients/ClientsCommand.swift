// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Settings
import ThreadkeeperDaemon

/// `threadkeeper clients`
struct ClientsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "clients",
    abstract: "Users of the broker whose keys the daemon knows.",
    discussion: """
      What an enrolled user seals and signs is believed; with the trust `signed`, nothing else of it \
      is. A client makes its keys with `threadkeeper client keygen`.
      """,
    subcommands: [
      ClientsEnrollCommand.self, ClientsListCommand.self, ClientsRevokeCommand.self,
    ])
}

/// The home of a client.
struct ClientHomeOption: ParsableArguments {
  @Option(help: "The home; needed only where there is more than one.")
  var home: String?

  func name(_ settings: Settings) throws(CommandFailure) -> String {
    try settings.home(named: home)
  }
}

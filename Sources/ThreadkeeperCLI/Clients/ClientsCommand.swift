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
      ClientsFingerprintCommand.self,
    ])
}

/// The home of a client.
struct ClientHomeOption: ParsableArguments {
  @Option(help: "The home; needed only where there is more than one.")
  var home: String?

  func name(_ settings: Settings) throws(CommandFailure) -> String {
    if let home { return try Self.checked(home, settings) }
    guard settings.homes.count == 1, let only = settings.homes.first else {
      throw CommandFailure(.usage, "there is more than one home", remedy: "say which with --home")
    }
    return only.name
  }

  static func checked(_ home: String, _ settings: Settings) throws(CommandFailure) -> String {
    guard settings.homes.contains(where: { $0.name == home }) else {
      throw CommandFailure(
        .usage, "there is no home \(home)",
        remedy: "homes: \(settings.homes.map(\.name).joined(separator: ", "))")
    }
    return home
  }
}

// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import ThreadkeeperDaemon

/// The command that all others hang from.
package struct ThreadkeeperCommand: AsyncParsableCommand {
  package static let configuration = CommandConfiguration(
    commandName: "threadkeeper",
    abstract: "Keeps the Thread credentials of a home's border routers.",
    discussion: """
      A daemon listens on MQTT to border routers that announce themselves, leave or change their \
      dataset, keeps their credentials in an encrypted store, and raises an alert when a router is \
      not on the preferred network.

      Start with:
        threadkeeper demo          watch it work for a minute; it touches nothing
        threadkeeper setup         name your broker, and what it needs
        threadkeeper run           run it, with a private broker unless configured
        threadkeeper status        see how it is
      """,
    version: threadkeeperVersion,
    groupedSubcommands: [
      CommandGroup(
        name: "Run it",
        subcommands: [
          RunCommand.self, DemoCommand.self, AgentCommand.self,
        ]),
      CommandGroup(
        name: "Look at it",
        subcommands: [
          StatusCommand.self, DoctorCommand.self, RoutersCommand.self, NetworksCommand.self,
          AlertsCommand.self,
          CredentialsCommand.self, PreferredCommand.self, AuditCommand.self,
        ]),
      CommandGroup(name: "Decide", subcommands: [ConsentCommand.self]),
      CommandGroup(
        name: "Set it up",
        subcommands: [
          SetupCommand.self, LoginCommand.self, KeysCommand.self, CheckConfigCommand.self,
          ACLCommand.self, ClientsCommand.self, StoreCommand.self, PageCommand.self,
        ]),
      CommandGroup(name: "Tools", subcommands: [ClientCommand.self, DatasetCommand.self]),
    ])

  package init() {}
}

// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// `threadkeeper consent`
struct ConsentCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "consent",
    abstract: "Say who may have a network's credentials.",
    discussion: """
      A program that asks for the preferred network's credentials, or for those of a network that its \
      team has not stored, waits up to 120 seconds for a person. Without one it gets nothing.

      Examples:
        threadkeeper consent list
        threadkeeper consent approve c-0123456789abcdef
        threadkeeper consent list --grants
      """,
    subcommands: [
      ConsentListCommand.self, ConsentApproveCommand.self, ConsentDenyCommand.self,
      ConsentAskCommand.self, ConsentRevokeCommand.self,
    ])
}

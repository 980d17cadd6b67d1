// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// `threadkeeper credentials`
struct CredentialsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "credentials",
    abstract: "Look at the stored Thread credentials, or delete some.",
    subcommands: [
      CredentialsListCommand.self, CredentialsGetCommand.self, CredentialsDeleteCommand.self,
    ])
}

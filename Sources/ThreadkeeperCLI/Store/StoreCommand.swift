// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// `threadkeeper store`
struct StoreCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "store",
    abstract: "Look after the encrypted store itself.",
    subcommands: [
      StoreVerifyCommand.self, StoreBackupCommand.self, StoreRestoreCommand.self,
    ])
}

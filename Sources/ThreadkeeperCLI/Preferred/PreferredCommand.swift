// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// `threadkeeper preferred`
struct PreferredCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "preferred",
    abstract: "Look at the preferred network, check a dataset against it, or choose another one.",
    subcommands: [
      PreferredShowCommand.self, PreferredCheckCommand.self, PreferredSetCommand.self,
      PreferredForgetCommand.self,
    ])
}

/// Which home is meant.
struct HomeOption: ParsableArguments {
  @Option(help: "The home; needed only where there is more than one.")
  var home: String?
}

// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// `threadkeeper dataset …`: looks at operational datasets, without store and broker.
struct DatasetCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "dataset",
    abstract: "Decode operational datasets.",
    discussion: """
      A dataset holds the secrets of a Thread network. What stands on a command line can be read \
      by other users of the machine in the list of processes, and is kept in the shell's history. \
      So give @FILE, or "-" and pass the dataset on standard input. Otherwise a warning is written to \
      standard error.
      """,
    subcommands: [DatasetDecodeCommand.self])
}

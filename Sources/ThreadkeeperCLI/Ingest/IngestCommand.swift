// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// `threadkeeper ingest`
struct IngestCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "ingest",
    abstract: "Try the rules that take in messages of other publishers.",
    subcommands: [IngestTestCommand.self])
}

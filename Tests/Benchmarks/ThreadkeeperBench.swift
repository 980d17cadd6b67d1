// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// `make bench`: the figures of the keeper, measured from outside on the program that is shipped.
@main
struct ThreadkeeperBench: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "threadkeeper-bench",
    abstract: "Measure the keeper against a bare subscriber that stores nothing.",
    subcommands: [MeasureCommand.self, SubscribeCommand.self, PublishCommand.self],
    defaultSubcommand: MeasureCommand.self)
}

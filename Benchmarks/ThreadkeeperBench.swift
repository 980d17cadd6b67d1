import ArgumentParser

/// `make bench`: the figures of the daemon, measured from outside on the program that is shipped, and
/// those of the keychain, measured inside of this program.
@main struct ThreadkeeperBench: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "threadkeeper-bench",
    abstract: "Measure the daemon against a bare subscriber, and the keychain against bare tables.",
    subcommands: [MeasureCommand.self, SubscribeCommand.self, PublishCommand.self, ViewersCommand.self],
    defaultSubcommand: MeasureCommand.self)
}

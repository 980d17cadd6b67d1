// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import ThreadkeeperDaemon

/// `threadkeeper consent deny`
struct ConsentDenyCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "deny",
    abstract: "Refuse a program the credentials that it asks for.",
    discussion: """
      It is told so, and the same request is refused until it would have expired. Ends with 66 when \
      nothing of that id waits any more, 69 when no daemon runs.

      Example:
        threadkeeper consent deny c-0123456789abcdef
      """)

  @Argument(help: "The id that `threadkeeper consent list` shows.")
  var id: String

  @OptionGroup var options: SettingsOptions
  @OptionGroup var output: OutputOptions

  func run() async throws {
    let past = try await ConsentClient(settings: options.loadOfStore()).deny(id)
    try output.show(
      past, text: "\(past.requester.printable) does not get \(past.wanted.printable).\n")
  }
}

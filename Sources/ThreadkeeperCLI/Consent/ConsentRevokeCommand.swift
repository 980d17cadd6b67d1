// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import ThreadkeeperDaemon

/// `threadkeeper consent revoke`
struct ConsentRevokeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "revoke",
    abstract: "Take an \"always\" back.",
    discussion: """
      The next request is a question again. What was given out is given out: only a new network key \
      makes it worthless. Ends with 66 when there is no such grant.

      Example:
        threadkeeper consent revoke g-0123456789abcdef
      """)

  @Argument(help: "The id that `threadkeeper consent list --grants` shows.")
  var id: String

  @OptionGroup var options: SettingsOptions
  @OptionGroup var output: OutputOptions

  func run() async throws {
    let grant = try await ConsentClient(settings: options.loadOfStore()).revoke(id).grant
    try output.show(
      grant,
      text:
        "\(grant.requester.printable) is asked about again for \(grant.networkNames.printable).\n"
    )
  }
}

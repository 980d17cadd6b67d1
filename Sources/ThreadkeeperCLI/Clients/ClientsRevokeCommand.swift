// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import ThreadkeeperDaemon

/// `threadkeeper clients revoke`
struct ClientsRevokeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "revoke",
    abstract: "Forget the keys of a user of the broker.",
    discussion: """
      What it seals is refused from now on, what people have agreed to for it ends, and what it waits \
      for too. What it says in plaintext counts again, unless its trust was `signed`: then it goes on being \
      refused, until --forget. Take its login from the broker too. Its credentials stay.

      Examples:
        threadkeeper clients revoke living-room-router
        threadkeeper clients revoke living-room-router --forget
      """)

  @Argument(help: "The user's name at the broker.")
  var user: String

  @Flag(help: "Keep nothing of it: what it says in plaintext is believed again.")
  var forget = false

  @OptionGroup var home: ClientHomeOption
  @OptionGroup var options: SettingsOptions
  @OptionGroup var output: OutputOptions

  struct Report: Encodable {
    let revoked: String
  }

  func run() async throws {
    let settings = try options.loadOfStore()
    try await EnrolmentClient(settings: settings).revoke(
      .init(home: home.name(settings), user: EnrolmentService.checked(user), forgets: forget))
    try output.show(Report(revoked: user), text: "The keys of \(user) are forgotten.\n")
  }
}

// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// `threadkeeper clients revoke`
struct ClientsRevokeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "revoke",
    abstract: "Forget the keys of a user of the broker.",
    discussion: """
      What it seals is refused from now on. What it says in clear counts again, as far as the broker \
      lets it in: take its login from the broker too. Its credentials stay.

      Examples:
        threadkeeper clients revoke living-room-router
      """)

  @Argument(help: "The user's name at the broker.")
  var user: String

  @OptionGroup var home: ClientHomeOption
  @OptionGroup var options: SettingsOptions
  @OptionGroup var output: OutputOptions

  struct Report: Encodable {
    let revoked: String
  }

  func run() async throws {
    let settings = try options.load()
    _ = try await ClientsDesk(settings: settings).perform(
      ClientsRequest(
        command: .revoke, home: home.name(settings), user: ClientsWork.checked(user)))
    try output.show(Report(revoked: user), text: "The keys of \(user) are forgotten.\n")
  }
}

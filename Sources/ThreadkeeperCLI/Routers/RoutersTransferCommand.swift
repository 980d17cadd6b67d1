// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import ThreadkeeperDaemon

/// `threadkeeper routers transfer`
struct RoutersTransferCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "transfer",
    abstract: "Give a border agent id, and its credentials, to another team.",
    discussion: """
      TEAM is a team of the settings, or the login of a router that no team lists. From then on its \
      logins speak for the router, and the previous team's are refused. The dataset that is stored \
      under the id goes with it: the new team can read it, network key included, and nobody else is \
      asked. What waits for consent to adopt the preferred network through the previous team's login \
      is withdrawn. When the stored dataset is not the new team's business, use `release`.

      Works beside a running daemon and without one. Ends with 66 for an unknown id, with 64 for a \
      team of the settings without a user. A login is not looked up at the broker: check its spelling. \
      `transfer` again changes the owner; what the wrong login has read it keeps.

      Examples:
        threadkeeper routers transfer a1b2c3d4e5f60718 living-room-router
        threadkeeper routers transfer a1b2c3d4e5f60718 installers --json
      """)

  @OptionGroup var argument: CredentialArgument
  @Argument(help: "The team: of the settings, or a login of the broker.")
  var team: String
  @OptionGroup var options: SettingsOptions
  @OptionGroup var output: OutputOptions

  func run() async throws {
    let settings = try options.loadOfStore()
    let report = try await RoutersClient(settings: settings).transfer(
      RouterTransfer(argument.router(settings), team: team))
    try output.show(report, text: text(report))
  }

  private func text(_ report: RoutersReport) -> String {
    let name = "`\(team.printable)`"
    guard report.changed else {
      return "\(report.borderAgentId) belongs to the team \(name) already.\n"
    }
    var text = "\(report.borderAgentId) belongs to the team \(name) now"
    if let previous = report.previousTeam { text += ", not to `\(previous.printable)` any more" }
    text += ".\n"
    if report.credentials {
      text += "The stored dataset, with its network key, is handed to \(name).\n"
    }
    if report.teamKnown == false {
      text +=
        "No other router is announced by a login of \(name) now: check the name if that surprises you.\n"
    }
    return text
  }
}

// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import ThreadkeeperDaemon
import VarlinkSocket

/// `threadkeeper credentials list`
struct CredentialsListCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List whose credentials are stored. Shows no secret.",
    discussion: """
      Examples:
        threadkeeper credentials list
        threadkeeper credentials list --json
      """)

  @OptionGroup var options: SettingsOptions
  @OptionGroup var output: OutputOptions

  func run() async throws {
    let list = try await ListsClient(settings: options.loadOfStore())
      .rows(ListsMethods.credentials, VarlinkNothing()) { try $0.credentials() }
    var table = Table(
      columns: "BORDER AGENT ID", "TEAM", "NETWORK", "EXTENDED PAN ID", "CHANNEL", "TIMESTAMP")
    for credential in list.rows {
      table.add(
        credential.borderAgentID, credential.team, credential.networkName ?? "",
        credential.extendedPANID ?? "", credential.channel.map(String.init) ?? "",
        credential.activeTimestamp.map { String($0) } ?? "")
    }
    try output.show(
      list.rows,
      text: table.isEmpty ? "No credentials are stored.\n" : table.text(style: .init(of: .output)))
    let (unreadable, damaged) = (list.unreadable ?? 0, list.damaged ?? [])
    guard unreadable == 0 else {
      throw CommandFailure(
        .badInput, "\(unreadable) more could not be read: \(damaged.joined(separator: ", "))",
        remedy: "restore a backup, or delete them; the routers store them again when they announce "
          + "themselves")
    }
  }
}

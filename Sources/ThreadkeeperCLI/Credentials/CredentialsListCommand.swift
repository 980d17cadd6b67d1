// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import KeychainCore
import ThreadCredentialStore
import ThreadkeeperDaemon

/// `threadkeeper credentials list`
struct CredentialsListCommand: ParsableCommand {
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

  func run() throws {
    let registry = try Registry(options)
    let store = ThreadCredentialStore(registry.keychain)
    var damaged: [String] = []
    let credentials = try registry.list { _, home in
      try registry.keychain.database.read { tx in
        let all = try store.all(in: home.name, tx)
        damaged += all.damaged.map(\.description)
        return all.readable.map { CredentialReport($0, showingSecrets: false) }
      }
    }
    var table = Table(
      columns: "BORDER AGENT ID", "TEAM", "NETWORK", "EXTENDED PAN ID", "CHANNEL", "TIMESTAMP")
    for credential in credentials {
      table.add(
        credential.borderAgentID, credential.team, credential.networkName ?? "",
        credential.extendedPANID ?? "", credential.channel.map(String.init) ?? "",
        credential.activeTimestamp.map { String($0) } ?? "")
    }
    try output.show(
      credentials,
      text: table.isEmpty ? "No credentials are stored.\n" : table.text(style: .init(of: .output)))
    let unreadable = registry.keychain.quarantine.count
    guard unreadable == 0 else {
      throw CommandFailure(
        .badInput, "\(unreadable) more could not be read: \(damaged.joined(separator: ", "))",
        remedy: "restore a backup, or delete them; the routers store them again when they announce "
          + "themselves")
    }
  }
}

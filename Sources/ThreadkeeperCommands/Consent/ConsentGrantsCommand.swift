// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// `threadkeeper consent grants`
struct ConsentGrantsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "grants",
    abstract: "List who is given credentials without a question.",
    discussion: """
      Examples:
        threadkeeper consent grants
        threadkeeper consent grants --json | \\
          jq -r '.grants[] | .id + " " + .requester'
      """)

  @OptionGroup var options: SettingsOptions
  @OptionGroup var output: OutputOptions

  func run() async throws {
    let report = try await ConsentCounter(settings: options.loadOfStore()).perform(.init(.grants))
    var table = Table(
      columns: "ID", "REQUESTER", "MAY", "NETWORK", "SINCE", "GRANTED BY", "SEALED TO")
    for grant in report.grants ?? [] {
      table.add(
        grant.id, grant.requester, grant.command, grant.networkNames, grant.createdAt,
        grant.grantedBy, grant.fingerprint ?? "")
    }
    try output.show(
      report, text: table.isEmpty ? "Everybody is asked about each time.\n" : table.text())
  }
}

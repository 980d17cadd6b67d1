// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// `threadkeeper consent grants`
struct ConsentGrantsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "grants",
    abstract: "List who is given credentials without a question.",
    discussion: """
      A grant holds for the network key it was given for. After the key has changed, the next request is a \
      question again; such a grant is marked "asks again" (--json: `asks_again`), and so is one of an earlier \
      version, which did not note the key. The next `consent approve --always` replaces it.

      Examples:
        threadkeeper consent grants
        threadkeeper consent grants --json | \\
          jq -r '.grants[] | .id + " " + .requester'
      """)

  @OptionGroup var options: SettingsOptions
  @OptionGroup var output: OutputOptions

  func run() async throws {
    let report = try await ConsentClient(settings: options.loadOfStore()).grants()
    var table = Table(
      columns: "ID", "REQUESTER", "MAY", "NETWORK", "SINCE", "GRANTED BY", "SEALED TO", "NOTE")
    for grant in report.grants {
      table.add(
        grant.id, grant.requester, grant.command, grant.networkNames, grant.createdAt,
        grant.grantedBy, grant.fingerprint ?? "", grant.asksAgain == true ? "asks again" : "")
    }
    try output.show(
      report, text: table.isEmpty ? "Everybody is asked about each time.\n" : table.text())
  }
}

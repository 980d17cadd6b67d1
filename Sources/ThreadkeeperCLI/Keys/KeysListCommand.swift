// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// `threadkeeper keys list`
struct KeysListCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List the ways into the store.",
    discussion: """
      OPENS says whether a slot opens with what is here: the key file of the settings, and what \
      systemd hands over. A passphrase and a recovery code are not tried.

      Examples:
        threadkeeper keys list
        threadkeeper keys list --json | jq '.slots[].kind'
      """)

  @OptionGroup var options: SettingsOptions
  @OptionGroup var output: OutputOptions

  func run() async throws {
    let report = try await StoreClient(settings: options.loadOfStore()).list()
    try output.show(report, text: Table(report.slots ?? []).text())
  }
}

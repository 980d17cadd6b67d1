// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Bridge
import BridgeProtocol

/// `threadkeeper routers`, also as `threadkeeper routers list`.
struct RoutersListCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List the border routers.",
    discussion: """
      Examples:
        threadkeeper routers
        threadkeeper routers --json | jq -r '.[] | select(.preferred == "mismatch") | .name'
      """)

  @OptionGroup var options: SettingsOptions
  @OptionGroup var output: OutputOptions

  func run() throws {
    let routers = try Registry(options).list { registry, home in
      try registry.routers(in: home).map { $0.state(home: home.name) }
    }
    var table = Table(
      columns: "BORDER AGENT ID", "NAME", "NETWORK", "CHANNEL", "AVAILABILITY", "CREDENTIALS",
      "PREFERRED")
    for router in routers {
      table.add(
        router.borderAgentID, router.name ?? "", router.networkName ?? "",
        router.channel.map(String.init) ?? "", router.availability, router.credentials.rawValue,
        router.preferred)
    }
    try output.show(
      routers,
      text: table.isEmpty
        ? "No border router has announced itself yet.\n" : table.text(style: .init(of: .output)))
  }
}

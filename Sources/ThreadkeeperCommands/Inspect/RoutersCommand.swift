// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Bridge
import BridgeProtocol
import ThreadCredentialStore

/// `threadkeeper routers`
struct RoutersCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "routers",
    abstract: "List the border routers.",
    discussion: """
      Examples:
        threadkeeper routers
        threadkeeper routers --json | jq -r '.[] | select(.preferred == "mismatch") | .name'
      """)

  @OptionGroup var options: SettingsOptions
  @OptionGroup var output: OutputOptions

  func run() throws {
    let registry = try Registry(options)
    let routers = try registry.list { registry, home in
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
    let text = table.isEmpty ? try reason(registry) + "\n" : table.text(style: .init(of: .output))
    try output.show(routers, text: text)
  }

  /// Why there is nothing to list.
  private func reason(_ registry: Registry) throws -> String {
    let store = ThreadCredentialStore(registry.keychain)
    var (credentials, haveLeft) = (0, false)
    for home in try registry.registry.homes() {
      try registry.keychain.database.read { tx in
        credentials += try store.count(in: home.name, tx)
        haveLeft = try haveLeft || store.hasFormerOwners(in: home.name, tx)
      }
      haveLeft = try haveLeft || registry.registry.hasDepartedRouters(in: home)
    }
    if credentials > 0 {
      let whose = credentials == 1 ? "one border router" : "\(credentials) border routers"
      return "No border router has announced itself yet. Credentials of \(whose) are stored: "
        + "`threadkeeper credentials list`."
    }
    guard haveLeft else { return "No border router has announced itself yet." }
    return "No border router is there now: all that announced themselves have left."
  }
}

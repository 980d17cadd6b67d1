// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Bridge
import BridgeProtocol
import ThreadCredentialStore
import ThreadkeeperDaemon

/// `threadkeeper routers`, also as `threadkeeper routers list`.
struct RoutersListCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List the border routers.",
    discussion: """
      Examples:
        threadkeeper routers
        threadkeeper routers --json | \\
          jq -r '.[] | select(.preferred == "mismatch") | .name'
        threadkeeper routers --json | \\
          jq '.[] | {name, thread_state, current_ext_pan_id}'

      THREAD is what the router reports of its Thread interface, with the network that it is on where
      that is another one than it is configured for (NETWORK). SOURCE is `mqtt` where a login has announced \
      the router, and `mdns` where only its record on the local network says that it is there.
      """)

  @OptionGroup var options: SettingsOptions
  @OptionGroup var output: OutputOptions

  func run() throws {
    let registry = try Registry(options)
    let routers = try registry.list { registry, home in
      try registry.routers(in: home).map { $0.state(home: home.name) }
    }
    var table = Table(
      columns: "BORDER AGENT ID", "NAME", "NETWORK", "CHANNEL", "THREAD", "AVAILABILITY",
      "CREDENTIALS", "PREFERRED", "SOURCE")
    for router in routers {
      table.add(
        router.borderAgentID, router.name ?? "", router.networkName ?? "",
        router.channel.map(String.init) ?? "", thread(router), availability(router),
        router.credentials.rawValue, router.preferred, router.source)
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
    guard haveLeft else {
      return
        "No border router is listed. Each appears when it announces itself by MQTT, or when it is seen on "
        + "the local network."
    }
    return "No border router is there now: all that announced themselves have left."
  }

  private func thread(_ router: RouterState) -> String {
    let state = router.threadState ?? ""
    guard let current = router.currentExtendedPANID, current != router.extendedPANID else {
      return state
    }
    return state.isEmpty ? "on \(current)" : "\(state) on \(current)"
  }

  private func availability(_ router: RouterState) -> String {
    router.offlineReason.map { "\(router.availability) (\($0))" } ?? router.availability
  }
}

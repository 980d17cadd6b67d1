// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import BridgeProtocol
import ThreadkeeperDaemon
import VarlinkSocket

/// `threadkeeper routers`, also as `threadkeeper routers list`.
struct RoutersListCommand: AsyncParsableCommand {
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

  func run() async throws {
    let list = try await ListsClient(settings: options.loadOfStore())
      .rows(ListsMethods.routers, VarlinkNothing()) { try $0.routers() }
    var table = Table(
      columns: "BORDER AGENT ID", "NAME", "NETWORK", "CHANNEL", "THREAD", "AVAILABILITY",
      "CREDENTIALS", "PREFERRED", "SOURCE")
    for router in list.rows {
      table.add(
        router.borderAgentID, router.name ?? "", router.networkName ?? "",
        router.channel.map(String.init) ?? "", thread(router), availability(router),
        router.credentials.rawValue, router.preferred, router.source)
    }
    try output.show(
      list.rows, text: list.note.map { $0 + "\n" } ?? table.text(style: .init(of: .output)))
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

// SPDX-License-Identifier: Apache-2.0

import Bridge
import Broker
import Home
import ServiceDiscovery
import ThreadDataset
import ThreadRequests
import ThreadkeeperDaemon

/// A network, and the border routers that are on it.
struct NetworkListing: Encodable, Sendable {
  struct Router: Encodable, Sendable {
    let borderAgentID: String
    let name: String?
    let vendor: String?
    let model: String?
    let partitionID: UInt32?
    let isOnline: Bool
    /// Others of the list look so named.
    var isAlike = false

    enum CodingKeys: String, CodingKey {
      case borderAgentID = "border_agent_id"
      case name, vendor, model
      case partitionID = "partition_id"
      case isOnline = "online"
    }

    var text: String {
      let shown = name.map { isAlike ? "\($0) (\(borderAgentID))" : $0 } ?? borderAgentID
      return shown + (isOnline ? "" : " (offline)")
    }
  }

  /// Nil for what is found by a scan, and for routers without a network.
  let state: JSONValue?
  let home: String?
  let networkName: String?
  let extendedPANID: String?
  private(set) var routers: [Router]

  init(_ state: JSONValue, _ routers: [JSONValue]) {
    self.state = state
    home = state["home"]?.text
    networkName = state["network_name"]?.text
    extendedPANID = state["ext_pan_id"]?.text
    self.routers = routers.map(Router.init).sorted { $0.text < $1.text }
  }

  /// What is found by a scan, or has no network.
  init(network: String?, name: String?, home: String?, routers: [Router]) {
    state = nil
    self.home = home
    networkName = name
    extendedPANID = network
    self.routers = routers.sorted { $0.text < $1.text }
  }

  /// Of each home: each network with its routers; then those that no router is configured for, and the routers
  /// without a network.
  static func all(_ networks: [JSONValue], _ routers: [JSONValue]) -> [NetworkListing] {
    var homes: [String] = []
    for home in (networks + routers).map({ $0.text("home") }) where !homes.contains(home) {
      homes.append(home)
    }
    return homes.flatMap { home in
      let known = networks.filter { $0.text("home") == home }
      let ids = Set(known.map { $0["ext_pan_id"]?.text })
      let placed = Dictionary(grouping: routers.filter { $0.text("home") == home }) {
        ($0["current_ext_pan_id"] ?? $0["ext_pan_id"])?.text
      }
      let others = placed.filter { $0.key == nil || !ids.contains($0.key) }
        .map { network, routers in
          NetworkListing(
            network: network, name: nil, home: home, routers: routers.map(Router.init))
        }
        .sorted { ($0.extendedPANID ?? "g") < ($1.extendedPANID ?? "g") }
      return known.map { NetworkListing($0, placed[$0["ext_pan_id"]?.text] ?? []) } + others
    }
  }

  /// Routers that look named as others of the list have their ids.
  static func toldApart(_ all: [NetworkListing]) -> [NetworkListing] {
    let routers = all.flatMap(\.routers).compactMap { router in
      BorderAgentID(hex: router.borderAgentID).map { (agent: $0, name: router.name) }
    }
    let alike = Set(Home.namesakes(among: routers).map(\.description))
    var all = all
    for network in all.indices {
      for router in all[network].routers.indices {
        all[network].routers[router].isAlike = alike.contains(
          all[network].routers[router].borderAgentID)
      }
    }
    return all
  }

  var cells: [String] {
    let mark =
      state?["preferred"]?.bool == true
      ? "yes" : state?["accepted"]?.bool == true ? "accepted" : ""
    return [
      extendedPANID == nil ? "(none)" : networkName ?? "", extendedPANID ?? "",
      state?["channel"]?.integer.map(String.init) ?? "", mark,
      routers.map(\.text).joined(separator: ", "),
      (state?["shared_by"]?.array ?? []).compactMap(\.text).joined(separator: ", "),
    ]
  }

  func encode(to encoder: any Encoder) throws {
    var members = [
      "home": home, "network_name": networkName, "ext_pan_id": extendedPANID,
    ].compactMapValues { $0.map(JSONValue.text) }
    if case .object(let published)? = state { members = published }
    members["border_routers"] = try JSONValue(routers)
    try JSONValue.object(members).encode(to: encoder)
  }
}

extension NetworkListing.Router {
  init(_ router: JSONValue) {
    self.init(
      borderAgentID: router.text("border_agent_id"), name: router["name"]?.text,
      vendor: router["vendor"]?.text, model: router["model"]?.text,
      partitionID: router["partition_id"]?.integer.flatMap(UInt32.init(exactly:)),
      isOnline: router["availability"]?.text == "online")
  }

  init(_ router: Router) {
    self.init(
      borderAgentID: router.agent.description, name: router.name, vendor: router.vendor,
      model: router.model, partitionID: router.shownPartition, isOnline: router.isOnline)
  }
}

/// One look at the local network, without a daemon.
struct NetworkScan {
  let seconds: Int

  /// - Throws: `CommandFailure`: 69 where avahi-daemon does not answer in that time.
  func run() async throws -> (networks: [NetworkListing], unlisted: [UnlistedRecord]) {
    do {
      return try await look()
    } catch let obstacle as DiscoveryObstacle {
      throw CommandFailure(obstacle)
    }
  }

  private func look() async throws -> (networks: [NetworkListing], unlisted: [UnlistedRecord]) {
    let scan = DiscoveryScan()
    let browser = ServiceBrowser(type: BorderRouterAdvertisement.serviceType) { scan.receive($0) }
    try browser.start()
    let line = WaitingLine()
    line.show("Looking for border routers")
    defer { line.end() }
    try await Task.sleep(for: .seconds(seconds))
    browser.stop()
    let (home, unlisted) = try scan.result()
    let networks = Dictionary(grouping: home.routers, by: \.network).map { network, routers in
      NetworkListing(
        network: network?.description, name: network.flatMap(home.networkName), home: nil,
        routers: routers.map(NetworkListing.Router.init))
    }
    return (networks.sorted { $0.cells.lexicographicallyPrecedes($1.cells) }, unlisted)
  }
}

extension CommandFailure {
  fileprivate init(_ obstacle: DiscoveryObstacle) {
    let message =
      obstacle.message.hasSuffix(".") ? obstacle.message.dropLast() : obstacle.message[...]
    self.init(.unavailable, String(message), remedy: obstacle.remedy)
  }
}

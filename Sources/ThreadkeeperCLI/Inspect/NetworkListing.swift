// SPDX-License-Identifier: Apache-2.0

import Bridge
import Broker
import ThreadDataset

/// A network, and the border routers that are on it.
struct NetworkListing: Encodable, Sendable {
  struct Router: Encodable, Sendable {
    let borderAgentID: String
    let name: String?
    let vendor: String?
    let model: String?
    let partitionID: UInt32?
    let isOnline: Bool

    enum CodingKeys: String, CodingKey {
      case borderAgentID = "border_agent_id"
      case name, vendor, model
      case partitionID = "partition_id"
      case isOnline = "online"
    }

    var text: String { (name ?? borderAgentID) + (isOnline ? "" : " (offline)") }
  }

  /// Nil for what is found by a scan, and for routers without a network.
  let state: NetworkState?
  let home: String?
  let networkName: String?
  let extendedPANID: String?
  let routers: [Router]

  init(_ state: NetworkState, _ routers: [RouterState]) {
    self.state = state
    home = state.home
    networkName = state.networkName
    extendedPANID = state.extendedPANID
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
  static func all(_ networks: [NetworkState], _ routers: [RouterState]) -> [NetworkListing] {
    var homes: [String] = []
    for home in networks.map(\.home) + routers.map(\.home) where !homes.contains(home) {
      homes.append(home)
    }
    return homes.flatMap { home in
      let known = networks.filter { $0.home == home }
      let ids = Set(known.map(\.extendedPANID))
      let placed = Dictionary(grouping: routers.filter { $0.home == home }) {
        $0.currentExtendedPANID ?? $0.extendedPANID
      }
      let others = placed.filter { $0.key.map { !ids.contains($0) } ?? true }
        .map { network, routers in
          NetworkListing(
            network: network, name: nil, home: home, routers: routers.map(Router.init))
        }
        .sorted { ($0.extendedPANID ?? "g") < ($1.extendedPANID ?? "g") }
      return known.map { NetworkListing($0, placed[$0.extendedPANID] ?? []) } + others
    }
  }

  var cells: [String] {
    let mark = state.map { $0.isPreferred ? "yes" : $0.isAccepted ? "accepted" : "" } ?? ""
    return [
      extendedPANID == nil ? "(none)" : networkName ?? "", extendedPANID ?? "",
      state?.channel.map(String.init) ?? "", mark, routers.map(\.text).joined(separator: ", "),
    ]
  }

  enum CodingKeys: String, CodingKey {
    case home
    case networkName = "network_name"
    case extendedPANID = "ext_pan_id"
    case routers = "border_routers"
  }

  func encode(to encoder: any Encoder) throws {
    try state?.encode(to: encoder)
    var container = encoder.container(keyedBy: CodingKeys.self)
    if state == nil {
      try container.encodeIfPresent(home, forKey: .home)
      try container.encodeIfPresent(networkName, forKey: .networkName)
      try container.encodeIfPresent(extendedPANID, forKey: .extendedPANID)
    }
    try container.encode(routers, forKey: .routers)
  }
}

extension NetworkListing.Router {
  init(_ router: RouterState) {
    self.init(
      borderAgentID: router.borderAgentID, name: router.name, vendor: router.vendor,
      model: router.model, partitionID: router.partitionID,
      isOnline: router.availability == "online")
  }

  init(_ router: BorderRouterAdvertisement) {
    self.init(
      borderAgentID: router.agents[0].description, name: router.name, vendor: router.vendor,
      model: router.model, partitionID: router.partition, isOnline: router.isThreadActive)
  }
}

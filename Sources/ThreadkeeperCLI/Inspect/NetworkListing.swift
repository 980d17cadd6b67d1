// SPDX-License-Identifier: Apache-2.0

import Bridge
import BridgeProtocol
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

  init(_ state: NetworkState, _ routers: [RouterRecord]) {
    self.state = state
    home = state.home
    networkName = state.networkName
    extendedPANID = state.extendedPANID
    self.routers = routers.map(Router.init).sorted { $0.text < $1.text }
  }

  /// What is found by a scan, or has no network.
  init(network: ExtendedPANID?, name: String?, home: String?, routers: [Router]) {
    state = nil
    self.home = home
    networkName = name
    extendedPANID = network?.description
    self.routers = routers.sorted { $0.text < $1.text }
  }

  /// Each network with its routers; then those that no router is configured for, and the routers without a network.
  ///
  /// - Parameter routers: by the network that they are on.
  static func all(
    _ networks: [(network: ExtendedPANID, state: NetworkState)],
    _ routers: [ExtendedPANID?: [RouterRecord]], home: String
  ) -> [NetworkListing] {
    let known = Set(networks.map(\.network))
    let others = routers.filter { $0.key.map { !known.contains($0) } ?? true }
      .map { network, routers in
        NetworkListing(
          network: network, name: nil, home: home, routers: routers.map(Router.init))
      }
      .sorted { ($0.extendedPANID ?? "g") < ($1.extendedPANID ?? "g") }
    return networks.map { NetworkListing($0.state, routers[$0.network] ?? []) } + others
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
  init(_ router: RouterRecord) {
    self.init(
      borderAgentID: router.agent.description, name: router.name, vendor: router.vendor,
      model: router.model, partitionID: router.partition, isOnline: router.isOnline)
  }

  init(_ router: BorderRouterAdvertisement) {
    self.init(
      borderAgentID: router.agents[0].description, name: router.name, vendor: router.vendor,
      model: router.model, partitionID: router.partition, isOnline: router.isThreadActive)
  }
}

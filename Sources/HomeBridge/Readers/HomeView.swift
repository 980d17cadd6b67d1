// SPDX-License-Identifier: Apache-2.0

import Broker
import Home
import ThreadDataset

import struct Home.WireTime

/// A home as the status page draws it. Nothing in it is secret.
package struct HomeView: Sendable {
  package struct Router: Sendable {
    package let state: RouterState
    package let lastSeen: Broker.WireTime
    /// Whether its record is on the local network, as far as that was looked at.
    package let isAdvertised: Bool
    /// Whether a person may accept that it joined the preferred network.
    package let isNew: Bool
  }

  package struct Network: Sendable {
    /// Nil: of routers without a network.
    package let state: NetworkState?
    /// False: it is preferred by its Extended PAN ID alone.
    package let hasCredentials: Bool
    package let routers: [Router]

    /// Whether a person can prefer it.
    package var isPreferable: Bool { state != nil && !routers.isEmpty }
  }

  /// Routers that are drawn.
  package static let routersShown = 300

  package let name: String
  /// The preferred one first, then by name.
  package let networks: [Network]
  /// Routers that are not drawn, because there are too many.
  package let more: Int
  /// Border routers are on several networks, and none is preferred: nothing is checked until a person prefers one.
  package let isUndecided: Bool

  package init(_ home: Home, name: String) {
    self.name = name
    var groups: [ExtendedPANID?: [Router]] = [:]
    var shown = 0
    var others = 0
    for router in home.routers where router.isPresent {
      guard shown < Self.routersShown else {
        others += 1
        continue
      }
      shown += 1
      let verdict = home.verdict(of: router)
      groups[router.network, default: []].append(
        Router(
          state: RouterState(router, verdict, in: name),
          lastSeen: .init(home.routers.lastSeen(router.agent)), isAdvertised: router.isAdvertised,
          isNew: !router.isKnown && verdict == .match))
    }
    more = others
    let found = home.networks.filter { $0.isPreferred || groups[$0.id] != nil }
    isUndecided = home.preferred == nil && found.count > 1
    var networks = (found.filter(\.isPreferred) + found.filter { !$0.isPreferred }).map {
      Network(
        state: NetworkState($0, in: name), hasCredentials: !$0.isPreferred || $0.dataset != nil,
        routers: groups[$0.id] ?? [])
    }
    if let routers = groups[nil] {
      networks.append(Network(state: nil, hasCredentials: true, routers: routers))
    }
    self.networks = networks
  }
}

extension Home {
  /// When the first routers of the list were seen last, for metrics; nil while their records are on the local network.
  package func lastSeen(most: Int) -> [(agent: BorderAgentID, at: Broker.WireTime?)] {
    let listed = routers.lazy.filter { $0.isPresent }
    return listed.prefix(most).map { router in
      (router.agent, router.isAdvertised ? nil : .init(routers.lastSeen(router.agent)))
    }
  }
}

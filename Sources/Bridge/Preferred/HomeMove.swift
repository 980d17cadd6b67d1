// SPDX-License-Identifier: Apache-2.0

import Broker
import ThreadDataset
import ThreadkeeperSupport

/// Whether all border routers that were on the preferred network are together on another one.
enum HomeMove {
  /// Routers that were on the preferred network and are in one place now.
  struct Place: Hashable {
    /// Nil where nothing is known.
    let network: ExtendedPANID?
    let isOnline: Bool
    let routers: Int
  }

  /// A home that moved has at least so many border routers; one alone is a mismatch.
  static let fewest = 2

  /// - Returns: the network that all of them are on; nil where they are not together. A router that cannot
  ///   be reached and was last on the preferred network does not count: it is not known where it is.
  static func destination(of places: [Place], preferred: ExtendedPANID?) -> ExtendedPANID? {
    guard let preferred else { return nil }
    let known = places.filter { $0.routers > 0 && $0.network != nil }
    guard !known.contains(where: { $0.network == preferred && $0.isOnline }) else { return nil }
    let elsewhere = known.filter { $0.network != preferred }
    guard let network = elsewhere.first?.network,
      elsewhere.allSatisfy({ $0.network == network }),
      elsewhere.reduce(0, { $0 + $1.routers }) >= fewest
    else { return nil }
    return network
  }

  static func facts(
    _ routers: Int, to network: ExtendedPANID, name: String?, preferred: OperationalDataset,
    homeOption: String
  ) -> AlertFacts {
    let preferredName = preferred.shownName ?? "the preferred network"
    let place = name.flatMap(ShownName.quoted) ?? network.description
    var facts = AlertFacts(
      summary: "all \(routers) border routers of the preferred network \(preferredName) are on "
        + "\(place) now",
      remedy: "If the home has moved to \(place), run `threadkeeper preferred set "
        + "\(network)\(homeOption)`. If not, give the border routers the credentials of "
        + "\(preferredName).")
    facts.networkName = name ?? network.description
    facts.extendedPANID = network.description
    facts.preferredNetworkName = preferred.networkName
    facts.preferredExtendedPANID = preferred.extendedPANID?.description
    return facts
  }
}

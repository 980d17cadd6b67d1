// SPDX-License-Identifier: Apache-2.0

import Broker
import SQLiteDatabase
import ThreadDataset

/// Where the border routers of a home are. A whole home that moves to another network is one alert, not one for each
/// router; `HomeMove` decides.
struct HomeMoves {
  let tx: ReadTransaction

  /// Whether a change of a router may be one of where the home is.
  static func concerns(_ router: RouterRecord, stored: RouterRecord?) -> Bool {
    guard router.memberOf != nil || stored?.memberOf != nil else { return false }
    return router.network != stored?.network || router.isOnline != stored?.isOnline
      || router.memberOf != stored?.memberOf
  }

  /// The network that all members of the preferred network are on instead; nil while they are not.
  ///
  /// - Parameters:
  ///   - preferred: the preferred network.
  ///   - router: one as it is about to be written.
  func destination(
    of home: HomeRecord, preferred: ExtendedPANID?, with router: RouterRecord?
  ) throws -> ExtendedPANID? {
    guard let preferred, try !isAtHome(preferred, with: router, home: home.id) else { return nil }
    var places = try RouterLedger.places(
      ofMembersOf: preferred, home: home.id, besides: router?.agent, tx)
    if let router, router.isPresent, router.memberOf == preferred {
      places.append(
        HomeMove.Place(network: router.network, isOnline: router.isOnline, routers: 1))
    }
    return HomeMove.destination(of: places, preferred: preferred)
  }

  /// The text of the alert about a home that has moved; nil where no network is preferred.
  func facts(
    of home: HomeRecord, movedTo network: ExtendedPANID, preferred: OperationalDataset?,
    homeOption: String
  ) throws -> AlertFacts? {
    guard let preferred, let id = preferred.extendedPANID else { return nil }
    let places = try RouterLedger.places(ofMembersOf: id, home: home.id, besides: nil, tx)
    let routers = places.filter { $0.network == network }.reduce(0) { $0 + $1.routers }
    let name = try RouterLedger.name(of: network, home: home.id, tx)
    return HomeMove.facts(
      routers, to: network, name: name, preferred: preferred,
      homeOption: homeOption)
  }

  /// Whether the home is where it was, which is so most of the time, without a look at every router.
  private func isAtHome(
    _ preferred: ExtendedPANID, with router: RouterRecord?, home: Int64
  ) throws -> Bool {
    if let router, router.network == preferred, router.isOnline { return true }
    return try RouterLedger.hasOnlineMember(of: preferred, home: home, besides: router?.agent, tx)
  }
}

// SPDX-License-Identifier: Apache-2.0

import BridgeProtocol
import ThreadDataset

/// A whole home that moves to another network is one alert, not one for each router.
extension BatchApplier {
  /// Whether a router's mismatch is part of a move that the home's alert tells of.
  func isPartOfMove(_ router: RouterRecord, home: HomeContext) throws -> Bool {
    guard let network = router.network, network == home.movedTo,
      let preferred = try preferredNetwork(of: home)?.extendedPANID
    else { return false }
    return router.memberOf == preferred
  }

  /// Looks where the home is, with one router as it is about to be written.
  func lookAtMove(with router: RouterRecord, stored: RouterRecord?, home: HomeContext) throws {
    guard router.memberOf != nil || stored?.memberOf != nil,
      router.network != stored?.network || router.isOnline != stored?.isOnline
        || router.memberOf != stored?.memberOf
    else { return }
    try lookAtMove(in: home, with: router)
  }

  /// Whether the home is where it was, which is so most of the time, without a look at every router.
  private func isAtHome(
    _ preferred: ExtendedPANID, with router: RouterRecord?, home: HomeContext
  ) throws -> Bool {
    if let router, router.network == preferred, router.isOnline { return true }
    return try RouterLedger.hasOnlineMember(
      of: preferred, home: home.record.id, besides: router?.agent, tx)
  }

  /// The alert of a home that has moved, at the end of a batch. When a home moves, or is split again, each
  /// router is checked again: its own alert goes or comes back.
  func lookAtMoves() throws {
    for home in servedHomes
    where home.isPreferredNew || home.hasChangedRouters || home.needsMoveLook {
      if home.isPreferredNew || home.needsMoveLook { try lookAtMove(in: home, with: nil) }
      if home.movedTo != home.record.movedTo {
        try HomeLedger.setMoved(to: home.movedTo, of: home.record.id, tx)
      }
      guard home.movedTo != nil || home.record.movedTo != nil else { continue }
      try setAlert(.homeMoved, moveFacts(of: home), in: home)
    }
  }

  private func lookAtMove(in home: HomeContext, with router: RouterRecord?) throws {
    let preferred = try preferredNetwork(of: home)?.extendedPANID
    var places: [HomeMove.Place] = []
    if let preferred, try !isAtHome(preferred, with: router, home: home) {
      places = try RouterLedger.places(
        ofMembersOf: preferred, home: home.record.id, besides: router?.agent, tx)
      if let router, router.isPresent, router.memberOf == preferred {
        places.append(
          HomeMove.Place(network: router.network, isOnline: router.isOnline, routers: 1))
      }
    }
    let destination = HomeMove.destination(of: places, preferred: preferred)
    guard destination != home.movedTo else { return }
    home.movedTo = destination
    home.needsWalk = true
  }

  private func moveFacts(of home: HomeContext) throws -> AlertFacts? {
    guard let network = home.movedTo, let preferred = try preferredNetwork(of: home),
      let id = preferred.extendedPANID
    else { return nil }
    let places = try RouterLedger.places(
      ofMembersOf: id, home: home.record.id, besides: nil, tx)
    let routers = places.filter { $0.network == network }.reduce(0) { $0 + $1.routers }
    let name = try RouterLedger.name(of: network, home: home.record.id, tx)
    return HomeMove.facts(
      routers, to: network, name: name ?? network.description, preferred: preferred,
      homeOption: homeOption(home))
  }
}

// SPDX-License-Identifier: Apache-2.0

import Broker
import ThreadDataset

/// What the advertisements of border routers change, within one transaction. What follows is returned.
struct DiscoveredRouters {
  /// Seconds after the first complete list in which a router counts as one that was there before: some answer late.
  static let firstLook = 3_600

  let context: TransactionContext
  let home: HomeContext

  private var now: WireTime { context.now }

  /// The rows of a router: first the one that a login has announced, or that somebody owns, under whichever of its ids;
  /// then the one that its record has made, which is under the first of them; then those that are not listed.
  ///
  /// A row that a record has made is of no other record, whichever address that names: anybody can name it.
  func rows(of advertisement: BorderRouterAdvertisement) throws -> [RouterRecord] {
    var rows = try advertisement.agents.compactMap {
      try RouterLedger.find($0, home: home.record.id, context.tx)
    }.filter {
      !$0.isPresent || $0.isAnnounced || $0.team != nil || $0.agent == advertisement.agents[0]
    }
    if let address = advertisement.extendedAddress {
      let listed = try RouterLedger.listed(
        extendedAddress: address, home: home.record.id, context.tx)
      rows += listed.filter { row in row.isAnnounced && !rows.contains { $0.id == row.id } }
    }
    return rows.filter(\.isAnnounced) + rows.filter { $0.isPresent && !$0.isAnnounced }
      + rows.filter { !$0.isPresent }
  }

  /// A router that left by MQTT stays off the list although it can still be seen, and so does one that is announced in
  /// another home.
  ///
  /// - Parameter absent: its row; nil where it has none.
  func mayBeListed(_ advertisement: BorderRouterAdvertisement, _ absent: RouterRecord?) throws
    -> Bool
  {
    if let absent, absent.credential == .missing, !absent.user.isEmpty { return false }
    for other in context.servedHomes where other.record.id != home.record.id {
      for agent in advertisement.agents {
        let row = try RouterLedger.find(agent, home: other.record.id, context.tx)
        if row?.isAnnounced == true { return false }
      }
    }
    return true
  }

  /// - Returns: nil where nothing is new.
  func seen(_ advertisement: BorderRouterAdvertisement, _ stored: RouterRecord) -> RouterChange? {
    var router = stored
    router.take(advertisement, now: now)
    guard router != stored else { return nil }
    if router.source == .mdns { router.lastSeen = now }
    return RouterChange(router, stored: stored, trigger: "mdns", now: now)
  }

  /// A router that was not on the list.
  ///
  /// - Parameter stored: its row, where it has an owner.
  func found(
    _ advertisement: BorderRouterAdvertisement, _ stored: RouterRecord?
  ) throws -> [Effect] {
    var router = RouterRecord(
      home: home.record.id, agent: stored?.agent ?? advertisement.agents[0],
      user: stored?.user ?? "", now: now)
    router.source = .mdns
    let preferred = try context.preferredNetwork(of: home)?.extendedPANID
    // Who is elsewhere yet may join later: only who is on the preferred network already was there before.
    router.isKnown =
      stored != nil || isFirstLook && preferred != nil && advertisement.network == preferred
    var dataset: OperationalDataset?
    if let stored {
      router.id = stored.id
      router.team = stored.team
      router.order = stored.order
      router.credential = stored.credential
      dataset = try context.store.readableCredential(
        of: router.agent, in: home.record.name, context.tx)?.dataset
      if let dataset { router.describe(dataset, at: now) }
    }
    router.take(advertisement, now: now)
    let change = RouterChange(router, stored: stored, trigger: "mdns", now: now)
    change.dataset = .known(dataset)
    change.event.types = .routerDiscovered
    change.event.network = advertisement.network
    change.event.detail.networkName = advertisement.networkName
    return [.routerCame(home: home.record.id), .router(change)]
  }

  /// A router whose record has gone.
  func gone(_ stored: RouterRecord, seen: WireTime) -> RouterChange {
    var router = stored
    router.endAdvertisement(seen: seen, now: now)
    return RouterChange(router, stored: stored, trigger: "mdns", now: now)
  }

  /// A router of MQTT, of whose record nothing is known any more.
  func withdrawn(_ stored: RouterRecord) -> RouterChange {
    var router = stored
    router.withdrawAdvertisement()
    return RouterChange(router, stored: stored, trigger: "mdns", now: now)
  }

  /// Takes a router off the list that only its record has brought there.
  func unlist(_ router: RouterRecord) throws -> [Effect] {
    if router.team == nil, router.order.isEmpty, router.credential == .missing {
      try RouterLedger.delete(router, context.tx)
    } else {
      var absent = RouterRecord(
        absent: router.agent, home: router.home, user: router.user, team: router.team,
        credential: router.credential == .missing ? .missing : .stored, since: now)
      absent.id = router.id
      absent.order = router.order
      try RouterLedger.update(absent, context.tx)
    }
    return [.unlist(router, EventRecord(time: now, home: router.home))]
  }

  func noteFirstLook() throws {
    guard home.record.discoveredSince == nil else { return }
    try HomeLedger.setDiscoveredSince(now, of: home.record.id, context.tx)
  }

  private var isFirstLook: Bool {
    guard let since = home.record.discoveredSince else { return true }
    return now < since.adding(seconds: Self.firstLook)
  }
}

// SPDX-License-Identifier: Apache-2.0

import Broker
import ThreadDataset

/// Brings the list of routers in line with what is advertised on the local network, within one transaction. It compares
/// everything each time, so that a later round makes up for whatever an earlier one missed or refused.
struct DiscoveryApplier {
  /// Routers that one home may have from the local network alone. Anybody there can invent some.
  static let mostRouters = 200
  /// Routers forgotten at once.
  private static let forgottenAtOnce = 50

  let transaction: BridgeTransaction
  let home: HomeContext

  private var context: TransactionContext { transaction.context }
  private var routers: DiscoveredRouters { DiscoveredRouters(context: context, home: home) }

  /// - Parameters:
  ///   - isComplete: whether a router that is not in the list is not there. Else the list has only begun.
  ///   - lastSeen: when routers were seen last whose records have gone since the last round.
  ///   - memory: of the last round, then of this one.
  /// - Returns: how many of the list are listed, and how many are not.
  func apply(
    _ list: [BorderRouterAdvertisement], isComplete: Bool,
    lastSeen: [BorderAgentID: WireTime] = [:],
    memory: inout DiscoveryMemory
  ) throws -> (listed: Int, refused: Int) {
    var visited: Set<BorderAgentID> = []
    var listed: Set<BorderAgentID> = []
    var new: [BorderRouterAdvertisement] = []
    var refused = 0
    for advertisement in try withOwnRowsFirst(list) {
      let rows = try routers.rows(of: advertisement)
      guard let stored = rows.first, stored.isPresent else {
        new.append(advertisement)
        continue
      }
      // Two records of one router: the first counts.
      guard visited.insert(stored.agent).inserted else {
        refused += 1
        continue
      }
      listed.insert(advertisement.agents[0])
      if let change = routers.seen(advertisement, stored) {
        try transaction.apply([.router(change)])
      }
      // It was seen under another of its ids before its login announced it.
      for twin in rows.dropFirst() where twin.isPresent && twin.source == .mdns {
        try transaction.apply(routers.unlist(twin))
      }
    }
    // Who is listed already comes first, so that nobody who is there has to make room.
    for advertisement in new {
      let stored = try routers.rows(of: advertisement).first
      guard visited.insert(stored?.agent ?? advertisement.agents[0]).inserted,
        !isRemoved(advertisement, &memory), try add(advertisement, stored, room: &memory.room)
      else {
        refused += 1
        continue
      }
      listed.insert(advertisement.agents[0])
    }
    if isComplete {
      let present = Set(list.map { $0.agents[0] })
      memory.removed = memory.removed.filter { present.contains($0.key) }
      memory.listed = listed
      try routers.noteFirstLook()
      for stored in try RouterLedger.advertised(home: home.record.id, context.tx)
      where !visited.contains(stored.agent) {
        let time = lastSeen[stored.agent] ?? context.now
        try transaction.apply([.router(routers.gone(stored, seen: time))])
      }
    }
    try forgetOld()
    try transaction.apply(NetworkSplits(context: context, home: home).check())
    return (list.count - refused, refused)
  }

  /// A record that names an id of another router, whose own record is there as well, is not that router's.
  private func withOwnRowsFirst(
    _ list: [BorderRouterAdvertisement]
  ) throws -> [BorderRouterAdvertisement] {
    let own = try list.map {
      try RouterLedger.find($0.agents[0], home: home.record.id, context.tx)?.isPresent == true
    }
    let pairs = zip(list, own)
    return pairs.filter(\.1).map(\.0) + pairs.filter { !$0.1 }.map(\.0)
  }

  /// Whether a person has removed its router, and it has not answered since: a record outlives its router in caches.
  private func isRemoved(
    _ advertisement: BorderRouterAdvertisement, _ memory: inout DiscoveryMemory
  ) -> Bool {
    let agent = advertisement.agents[0]
    if memory.listed.contains(agent) { memory.removed[agent] = context.now }
    guard let since = memory.removed[agent] else { return false }
    // A clock that was set back hides nothing for longer.
    if since <= context.now, context.now < since.adding(seconds: DiscoveryMemory.answerLimit) {
      return true
    }
    memory.removed[agent] = nil
    return false
  }

  /// - Returns: whether it is listed.
  private func add(
    _ advertisement: BorderRouterAdvertisement, _ stored: RouterRecord?, room: inout Int
  ) throws -> Bool {
    guard room > 0, stored?.isPresent != true, try routers.mayBeListed(advertisement, stored),
      try makeRoom()
    else { return false }
    room -= 1
    try transaction.apply(routers.found(advertisement, stored))
    return true
  }

  /// Where the list is full, the router that was there the longest time ago makes room, unless it was on the preferred
  /// network or has an owner.
  private func makeRoom() throws -> Bool {
    let count = try RouterLedger.countDiscovered(home: home.record.id, context.tx)
    if count < Self.mostRouters { return true }
    guard
      let oldest = try RouterLedger.discoveredAndGone(
        home: home.record.id, before: context.now, limit: Self.mostRouters, context.tx
      ).first(where: { $0.memberOf == nil && $0.team == nil })
    else { return false }
    try transaction.apply(routers.unlist(oldest))
    return true
  }

  /// Routers that were there 30 days ago.
  private func forgetOld() throws {
    let deadline = context.now.adding(seconds: -Ownership.retention)
    let old = try RouterLedger.discoveredAndGone(
      home: home.record.id, before: deadline, limit: Self.forgottenAtOnce, context.tx)
    for router in old { try transaction.apply(routers.unlist(router)) }
  }

  /// Discovery is off: what it has brought goes. When it is on again, all is looked at as for the first time.
  func end() throws {
    for stored in try RouterLedger.advertised(home: home.record.id, context.tx) {
      if stored.source == .mqtt { try transaction.apply([.router(routers.withdrawn(stored))]) }
    }
    for stored in try RouterLedger.discovered(home: home.record.id, context.tx) {
      try transaction.apply(routers.unlist(stored))
    }
    if home.record.discoveredSince != nil {
      try HomeLedger.setDiscoveredSince(nil, of: home.record.id, context.tx)
    }
    try transaction.apply(NetworkSplits(context: context, home: home).check())
  }
}

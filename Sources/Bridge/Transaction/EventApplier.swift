// SPDX-License-Identifier: Apache-2.0

import Broker
import KeychainCore
import ThreadCredentialStore
import ThreadDataset

/// From a checked event to the components that it concerns.
struct EventApplier {
  let context: TransactionContext
  let effects: EffectApplier

  /// - Throws: `Rejection`, or what the store throws.
  func apply(_ event: InboundEvent, user: String, home: HomeContext) throws {
    switch event.subject {
    case .accessPoint(let accessPoint):
      let behind = try context.routers.behind(accessPoint, of: user, in: home.record)
      var damage: KeychainError?
      for router in behind {
        do {
          try applySSID(event, to: router, home: home)
        } catch let error as KeychainError where error.isItemDamaged {
          // The other routers of this access point have nothing to do with it.
          damage = error
        }
      }
      if let damage { throw damage }
    case .router(let agent):
      let stored = try RouterLedger.find(agent, home: home.record.id, context.tx)
      try apply(event, of: agent, stored: stored, user: user, home: home)
    }
  }

  private func apply(
    _ event: InboundEvent, of agent: BorderAgentID, stored: RouterRecord?, user: String,
    home: HomeContext
  ) throws {
    let (store, tx) = (context.store, context.tx)
    switch event.kind {
    case .ssid:
      // A Wi-Fi watcher is often not the router and has a login of its own: it may report the SSID,
      // which changes no credentials.
      guard let stored, stored.isAnnounced else { throw Rejection.unknownRouter }
      try applySSID(event, to: stored, home: home)
    case .announce, .dataset, .leave:
      let credential = try store.credential(of: agent, in: home.record.name, tx)
      // An id continues to belong to its team when its credentials were deleted.
      let owner = try credential?.team ?? store.formerOwner(of: agent, in: home.record.name, tx)
      guard var router = try admit(event, of: agent, stored, user, owner: owner, home: home)
      else { return }
      if event.kind == .leave {
        try effects.apply(
          context.routers.leave(
            stored, ordered: router, credential: credential, owner: owner, in: home.record))
      } else {
        try announce(
          event, of: &router, stored: stored, over: credential, user: user, home: home)
      }
    case .heartbeat, .offline:
      guard let stored, stored.isAnnounced else { throw Rejection.unknownRouter }
      let owner = try store.owner(of: agent, in: home.record.name, tx)
      guard let ordered = try admit(event, of: agent, stored, user, owner: owner, home: home),
        let change = try context.routers.presence(event, of: ordered, stored: stored)
      else { return }
      if event.kind == .heartbeat {
        try context.adoptions.judgeHeartbeat(
          of: &change.router, preferred: context.preferredCredentials(of: home),
          in: home.record.name)
      }
      try effects.apply([.router(change)])
    }
  }

  /// Whether the user may report it, and whether it is news.
  ///
  /// - Returns: the router with the event's number noted; nil for a repetition.
  private func admit(
    _ event: InboundEvent, of agent: BorderAgentID, _ stored: RouterRecord?, _ user: String,
    owner: String?, home: HomeContext
  ) throws -> RouterRecord? {
    try context.routers.authorize(user, of: agent, owner: owner, in: home.record)
    let ordered = try context.routers.inOrder(
      event, stored: stored, agent: agent, user: user, in: home.record)
    if ordered == nil { try effects.apply([.duplicate]) }
    return ordered
  }

  /// - Parameter router: the row with the event's number noted. Changed in place, which spares a copy for each message;
  ///   the caller needs it no more.
  private func announce(
    _ event: InboundEvent, of router: inout RouterRecord, stored: RouterRecord?,
    over credential: ThreadCredential?, user: String, home: HomeContext
  ) throws {
    let adoptions = context.adoptions
    let room = try context.ownership.makeRoom(
      for: context.configuration.team(user), stored, in: home.record)
    guard let room else {
      throw Rejection.tooManyRouters(most: context.configuration.routersPerTeam)
    }
    try effects.apply(room)
    if event.dataset != nil, !event.wasSealed {
      try effects.apply([.plaintextSeen(user: user, home: home.record.name)])
    }
    context.routers.takeDescription(of: event, by: user, into: &router)
    let preferred = try context.preferredNetwork(of: home)
    let report = try adoptions.judge(
      event.dataset, failure: event.adoptionFailure, of: &router,
      preferred: context.preferredCredentials(of: home), in: home.record.name)
    let (dataset, following) = try context.routers.announce(
      event, by: user, of: &router, stored: stored, over: credential, preferred: preferred,
      report: report, in: home.record)
    try adoptions.note(report, of: router, reported: dataset, in: home.record.name)
    try effects.apply(following)
  }

  private func applySSID(_ event: InboundEvent, to router: RouterRecord, home: HomeContext) throws {
    try effects.apply(
      context.routers.ssid(event, of: router, in: home.record) {
        try context.preferredNetwork(of: home)
      })
  }
}

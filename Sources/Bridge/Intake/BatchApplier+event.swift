// SPDX-License-Identifier: Apache-2.0

import BridgeProtocol
import KeychainCore
import ThreadCredentialStore
import ThreadDataset

/// From a checked event to the routers that it concerns: who may say it, and is it news?
extension BatchApplier {
  /// A Wi-Fi router with Thread in it is one border router, and a mesh of them announces each.
  static let mostRoutersOfAccessPoint = 16

  func apply(_ event: InboundEvent, user: String, home: HomeContext) throws {
    switch event.subject {
    case .accessPoint(let accessPoint):
      let routers = try ownRouters(behind: accessPoint, user: user, home: home)
      var damage: KeychainError?
      for router in routers {
        do {
          try applySSID(event, to: router, home: home)
        } catch let error as KeychainError where error.isItemDamaged {
          // The other routers of this access point have nothing to do with it.
          damage = error
        }
      }
      if let damage { throw damage }
    case .router(let agent):
      let stored = try RouterLedger.find(agent, home: home.record.id, tx)
      try apply(event, of: agent, stored: stored, user: user, home: home)
    }
  }

  /// One event must not make work without bound, nor touch what other teams own.
  private func ownRouters(
    behind accessPoint: String, user: String, home: HomeContext
  ) throws -> [RouterRecord] {
    let most = Self.mostRoutersOfAccessPoint
    let spokenFor = try RouterLedger.find(
      accessPoint: accessPoint, home: home.record.id, users: configuration.teammates(user),
      limit: most + 1, tx)
    guard spokenFor.count <= most else {
      throw Rejection(
        .tooManyRouters, field: "access_point",
        message: "more than \(most) border routers of this team have announced this "
          + "`access_point`; name each router's `border_agent_id` instead")
    }
    // The column tells who spoke last; whose router it is, the sealed item says.
    let team = configuration.team(user)
    let routers = try spokenFor.filter {
      let owner = try store.owner(of: $0.agent, in: home.record.name, tx)
      return owner.map { BrokerUser.isSame($0, team) } ?? true
    }
    guard !routers.isEmpty else {
      throw Rejection(
        .notFound, field: "access_point",
        message: "no border router of this team has announced this `access_point`; "
          + "name the router's `border_agent_id` instead")
    }
    return routers
  }

  private func apply(
    _ event: InboundEvent, of agent: BorderAgentID, stored: RouterRecord?, user: String,
    home: HomeContext
  ) throws {
    let known = stored.flatMap { $0.isPresent ? $0 : nil }
    switch event.kind {
    case .ssid:
      // A Wi-Fi watcher is often not the router and has a login of its own: it may say what the SSID
      // is, which changes no credentials.
      guard let known else { throw Rejection.unknownRouter }
      try applySSID(event, to: known, home: home)
    case .announce, .dataset, .leave:
      let credential = try store.credential(of: agent, in: home.record.name, tx)
      // An id goes on belonging to its team when its credentials were deleted.
      let owner = try credential?.team ?? store.formerOwner(of: agent, in: home.record.name, tx)
      try authorize(user, of: agent, owner: owner, home: home)
      guard let ordered = try inOrder(event, stored: stored, agent: agent, user: user, home: home)
      else { return }
      if event.kind == .leave {
        try applyLeave(
          to: known, ordered: ordered, credential: credential, owner: owner, home: home)
      } else {
        try applyAnnounce(
          event, to: ordered, stored: stored, credential: credential, user: user, home: home)
      }
    case .heartbeat, .offline:
      guard let known else { throw Rejection.unknownRouter }
      try authorize(
        user, of: agent, owner: store.owner(of: agent, in: home.record.name, tx), home: home)
      guard let ordered = try inOrder(event, stored: known, agent: agent, user: user, home: home)
      else { return }
      try applyPresence(event, to: ordered, stored: known, home: home)
    }
  }

  /// A border agent id belongs to the team that first stored it.
  private func authorize(
    _ user: String, of agent: BorderAgentID, owner: String?, home: HomeContext
  ) throws {
    let team = configuration.team(user)
    guard let owner, !BrokerUser.isSame(owner, team) else { return }
    throw Rejection(
      .notAuthorized, field: "border_agent_id",
      message: OwnershipAdvice.message(
        agent, team: team,
        home: configuration.topics.homes.count > 1 ? home.record.name : nil))
  }

  /// The router with the event's number taken note of; `nil` for a repetition.
  private func inOrder(
    _ event: InboundEvent, stored: RouterRecord?, agent: BorderAgentID, user: String,
    home: HomeContext
  ) throws -> RouterRecord? {
    var router =
      stored ?? RouterRecord(home: home.record.id, agent: agent, user: user, now: now)
    if !BrokerUser.isSame(router.user, user) {
      router.user = user
      router.order = SequenceWindow()
    }
    switch router.order.take(event.order) {
    case .news: return router
    case .duplicate:
      countDuplicate()
      return nil
    case .outOfOrder:
      // Noted, so that the same number is a mere repetition when it comes again.
      if let stored, BrokerUser.isSame(stored.user, user) { try RouterLedger.touch(router, tx) }
      throw Rejection(
        .outOfOrder, field: "seq",
        message: "a later event of this router was acted upon already; `seq` must rise")
    }
  }
}

extension Rejection {
  static let unknownRouter = Rejection(
    .notFound, field: "border_agent_id",
    message: "this border router has not announced itself; publish `announce` first")
}

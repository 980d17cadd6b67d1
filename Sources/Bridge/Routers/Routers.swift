// SPDX-License-Identifier: Apache-2.0

import Broker
import KeychainCore
import SQLiteDatabase
import ThreadCredentialStore
import ThreadDataset

/// What the events of border routers change, within one transaction: who may report it, whether it is news, and what
/// becomes of the router's row and credentials. What follows is returned.
final class Routers {
  /// A Wi-Fi router with Thread in it is one border router, and a mesh of them announces each.
  static let mostOfAccessPoint = 16

  let configuration: BridgeConfiguration
  let store: ThreadCredentialStore
  let now: WireTime
  let tx: WriteTransaction

  init(
    configuration: BridgeConfiguration, store: ThreadCredentialStore, now: WireTime,
    tx: WriteTransaction
  ) {
    self.configuration = configuration
    self.store = store
    self.now = now
    self.tx = tx
  }

  /// The routers of a user's team behind an access point. One event must not make work without bound, nor touch what
  /// other teams own.
  func behind(
    _ accessPoint: String, of user: String, in home: HomeRecord
  ) throws -> [RouterRecord] {
    let most = Self.mostOfAccessPoint
    let spokenFor = try RouterLedger.find(
      accessPoint: accessPoint, home: home.id, users: configuration.teams.teammates(of: user),
      limit: most + 1, tx)
    guard spokenFor.count <= most else {
      throw Rejection(
        .tooManyRouters, field: "access_point",
        message: "more than \(most) border routers of this team have announced this "
          + "`access_point`; name each router's `border_agent_id` instead")
    }
    // The column has the last login; whose router it is, the sealed item decides.
    let team = configuration.team(user)
    let routers = try spokenFor.filter {
      let owner = try store.owner(of: $0.agent, in: home.name, tx)
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

  /// A border agent id belongs to the team that first stored it.
  func authorize(
    _ user: String, of agent: BorderAgentID, owner: String?, in home: HomeRecord
  ) throws {
    let team = configuration.team(user)
    guard let owner, !BrokerUser.isSame(owner, team) else { return }
    throw Rejection(
      .notAuthorized, field: "border_agent_id",
      message: OwnershipAdvice.message(
        agent, home: configuration.topics.homes.count > 1 ? home.name : nil))
  }

  /// The router with the event's number noted; nil for a repetition.
  func inOrder(
    _ event: InboundEvent, stored: RouterRecord?, agent: BorderAgentID, user: String,
    in home: HomeRecord
  ) throws -> RouterRecord? {
    var router = stored ?? RouterRecord(home: home.id, agent: agent, user: user, now: now)
    if !BrokerUser.isSame(router.user, user) {
      router.user = user
      router.order = SequenceWindow()
    }
    switch router.order.take(event.order) {
    case .news: return router
    case .duplicate: return nil
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

  /// A login that makes up border routers fills neither the disk nor everybody's lists.
  static func tooManyRouters(most: Int) -> Rejection {
    Rejection(
      .tooManyRouters, field: "border_agent_id",
      message: "this team has \(most) border agent ids already (setting "
        + "`limits.routers_per_team`); publish `leave` for routers that are gone")
  }
}

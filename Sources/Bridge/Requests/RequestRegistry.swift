// SPDX-License-Identifier: Apache-2.0

import Broker
import CredentialService
import SQLiteDatabase
import ThreadCredentialStore
import ThreadDataset
import ThreadRequests
import ThreadkeeperSupport

/// The registry for one request: reads it, and collects what follows there from what the request has changed, as it
/// does from an event.
final class RequestRegistry: CredentialRegistry {
  private let ownership: Ownership
  private let homes: [String: HomeRecord]
  private let now: WireTime
  private let tx: WriteTransaction
  /// In order.
  private(set) var effects: [Effect] = []

  init(_ ownership: Ownership, homes: [String: HomeRecord]) {
    self.ownership = ownership
    self.homes = homes
    now = ownership.now
    tx = ownership.tx
  }

  func isActive(_ agent: BorderAgentID, in home: String) throws -> Bool {
    let router = try RouterLedger.find(agent, home: record(of: home).id, tx)
    return router.map { $0.isPresent && $0.isOnline } ?? false
  }

  func makeRoom(for agent: BorderAgentID, context: RequestContext) throws {
    let home = try record(of: context.home)
    let stored = try RouterLedger.find(agent, home: home.id, tx)
    guard let room = try ownership.makeRoom(for: context.team, stored, in: home) else {
      throw AnswerFailure(
        .tooManyRouters, field: "border_agent_id",
        "this team has \(ownership.configuration.routersPerTeam) border agent ids already (setting "
          + "`limits.routers_per_team`)",
        help: "delete credentials of routers that are gone with `threadkeeper credentials delete`")
    }
    effects += room
  }

  func stored(
    _ dataset: OperationalDataset, _ change: DatasetDecision, of agent: BorderAgentID,
    preferred: PreferredChange?, context: RequestContext
  ) throws {
    let home = try record(of: context.home)
    let row = try RouterLedger.find(agent, home: home.id, tx)
    var event = event(context, home)
    event.router = agent
    switch change {
    case .store: event.types.insert(.datasetStored)
    case .update(let names), .move(_, let names):
      event.types.insert(.datasetUpdated)
      event.detail.differs = names.map(\.rawValue)
      if case .move(let previous, _) = change {
        event.detail.previousExtendedPANID = previous?.description
      }
    case .keep, .ignoreOlder, .conflict: break
    }
    if let preferred {
      effects.append(
        .preferred(preferred, by: row?.shownName ?? agent.description, home: home.id))
      event.types.insert(.preferredChanged)
    }
    if !event.types.isEmpty { event.describe(dataset) }
    effects.append(.keysReported(dataset, home: home.id))
    guard let stored = row, stored.isPresent else {
      // No router has announced itself under this id: there is nothing else that could change.
      try RouterLedger.saveAbsent(
        agent, row, home: home.id, user: event.user ?? row?.user ?? "", team: context.team,
        credential: .stored, now: now, tx)
      if !event.types.isEmpty { effects.append(.event(event)) }
      return
    }
    var router = stored
    router.team = context.team
    router.credential = .stored
    if change.isStored || router.network == nil { router.describe(dataset, at: now) }
    write(router, stored, dataset, event, trigger: "request")
  }

  func deleted(_ agent: BorderAgentID, context: RequestContext) throws {
    let home = try record(of: context.home)
    effects.append(.routersChanged(home: home.id))
    guard let stored = try RouterLedger.find(agent, home: home.id, tx) else { return }
    guard stored.isPresent else {
      // Its owner is kept for as long as that of a router that leaves now.
      return try RouterLedger.saveAbsent(
        agent, stored, home: home.id, user: stored.user, team: stored.team ?? context.team,
        credential: .missing, now: now, tx)
    }
    var router = stored
    router.credential = .missing
    router.forgetDataset()
    var event = event(context, home)
    event.router = agent
    write(router, stored, nil, event, trigger: "deleted")
  }

  func preferredSet(_ change: PreferredChange, context: RequestContext) throws {
    let home = try record(of: context.home)
    effects.append(.preferred(change, by: context.shownActor, home: home.id))
    guard change.from != change.to else { return }
    var event = event(context, home)
    event.types = .preferredChanged
    if let to = change.to { event.describe(to) }
    if let from = change.from {
      if let to = change.to, from.extendedPANID == to.extendedPANID {
        event.detail.differs = to.essentialDifferences(from: from).map(\.rawValue)
      } else {
        event.detail.previousExtendedPANID = from.extendedPANID?.description
      }
    }
    effects.append(.event(event))
  }

  func askAgain(_ agent: BorderAgentID, context: RequestContext) throws {
    let home = try record(of: context.home)
    guard let router = try RouterLedger.find(agent, home: home.id, tx), router.isPresent else {
      throw AnswerFailure(
        .notFound, field: "border_agent_id", "no border router \(agent) is listed")
    }
    if let obstacle = router.askAgainObstacle {
      throw AnswerFailure(.conflict, field: "border_agent_id", obstacle)
    }
    effects.append(.askAgain(router))
  }

  func seenName(of network: ExtendedPANID, in home: String) throws -> String? {
    let home = try record(of: home).id
    if let known = try NetworkLedger.find(network, home: home, tx), known.routers > 0 {
      return known.name
    }
    return try RouterLedger.isReported(network, home: home, tx) ? "" : nil
  }

  /// `routers/list`, `networks/list` and `alerts/list`: the states as they are published.
  func states(_ command: RequestCommand, context: RequestContext) throws -> AnswerData {
    let home = try record(of: context.home)
    let limit = context.mostEntries ?? BridgeRegistry.listed
    var data = AnswerData()
    switch command {
    case .listRouters:
      data.routers = try RouterLedger.page(home: home.id, after: 0, limit: limit + 1, tx)
        .map { try JSONValue($0.state(home: home.name)) }
    case .listNetworks:
      let accepted = try AcceptedNetworkLedger.all(home: home.id, tx)
      data.networks = try NetworkLedger.page(home: home.id, after: 0, limit: limit + 1, tx)
        .map {
          try JSONValue(
            $0.network.state(in: home, isAccepted: accepted.contains($0.network.network)))
        }
    case .listAlerts:
      data.alerts = try AlertLedger.firing(home: home.id, limit: limit + 1, tx)
        .map { try JSONValue($0.state(home: home.name)) }
    default:
      throw AnswerFailure(.unsupported, "\(command.rawValue) is no list of the registry")
    }
    let count = max(
      data.routers?.count ?? 0, data.networks?.count ?? 0, data.alerts?.count ?? 0)
    guard count <= limit else {
      throw AnswerFailure(
        .tooLarge, "there are more than \(limit), which no answer can hold; their topics have them")
    }
    return data
  }

  private func record(of home: String) throws -> HomeRecord {
    guard let record = homes[home] else { throw LedgerError(table: "home", column: "name") }
    return record
  }

  private func event(_ context: RequestContext, _ home: HomeRecord) -> EventRecord {
    var event = EventRecord(time: now, home: home.id)
    if case .mqttUser(let user) = context.requester { event.user = user }
    return event
  }

  private func write(
    _ router: RouterRecord, _ stored: RouterRecord, _ dataset: OperationalDataset?,
    _ event: EventRecord, trigger: String
  ) {
    let change = RouterChange(router, stored: stored, trigger: trigger, now: now)
    change.dataset = .known(dataset)
    change.event = event
    effects.append(.router(change))
  }
}

extension EventRecord {
  fileprivate mutating func describe(_ dataset: OperationalDataset) {
    detail.networkName = dataset.networkName
    network = dataset.extendedPANID
  }
}

extension RequestContext {
  /// Who asks, for a sentence.
  fileprivate var shownActor: String {
    if case .mqttUser(let name) = requester { return "mqtt user \(ShownName.account(name))" }
    return actor
  }
}

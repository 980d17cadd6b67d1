// SPDX-License-Identifier: Apache-2.0

import Broker
import ConsentLedger
import ThreadCredentialStore
import ThreadDataset

/// The one place where what follows from the components' decisions is applied, in order.
struct EffectApplier {
  let context: TransactionContext
  let progress: TransactionProgress

  private var routers: RouterWriter { RouterWriter(context: context, progress: progress) }

  func apply(_ effects: [Effect]) throws {
    for effect in effects { try apply(effect) }
  }

  private func apply(_ effect: Effect) throws {
    switch effect {
    case .event(let event): try progress.append(event)
    case .log(let line): progress.outcome.news.add(line)
    case .question(let pending): try publish(pending)
    case .ended(let ended): try end(ended)
    case .askAgain(let router):
      try apply(context.adoptions.askAgain(router, in: context.home(router.home).record.name))
    case .answer(let answer, let isRefusal):
      progress.outcome.answers.append(answer)
      if isRefusal {
        progress.outcome.counts.requestsRefused += 1
      } else {
        progress.outcome.counts.requestsAnswered += 1
      }
    case .eventAnswer(let answer): progress.outcome.answers.append(answer)
    case .send(let message): progress.outcome.adoptionMessages.append(message)
    case .alert(let name, let facts, let subject, let home):
      let change = try context.alerts.set(
        name, about: subject, facts, in: context.home(home).record)
      try apply(change.effects)
    case .alertChanged(let news): try publish(news)
    case .preferred(let change, let who, let home):
      try apply(context.preferredNetworks.changed(change, by: who, in: context.home(home)))
    case .checkKeys(let home): try context.home(home).changes.needsKeyCheck = true
    case .checkButtons(let home): try checkButtons(of: context.home(home).record)
    case .checkHome(let home):
      let home = try context.home(home)
      home.changes.needsHomeCheck = true
      home.changes.needsKeyCheck = true
      home.changes.needsMoveCheck = true
    case .router(let change): try apply(routers.write(change))
    case .unlist(let router, let event): try apply(routers.unlist(router, event))
    case .restore(let router): try routers.restore(router)
    case .countNetwork(let router): try routers.countNetwork(of: router)
    case .recheckRouters(let home, let cursor):
      let home = try context.home(home)
      for router in try routers.nextToRecheck(in: home, after: cursor) {
        try apply(routers.recheck(router, home: home))
      }
    case .plaintextSeen(let user, let home): try notePlaintext(from: user, home: home)
    case .routerCame(let home): try context.home(home).changes.count(routers: 1)
    case .routersChanged(let home): try context.home(home).changes.hasChangedRouters = true
    case .keysReported(let dataset, let home):
      try HomeWatch(context: context, home: context.home(home)).noteKeys(dataset)
    case .network(let network, let home, let isGone):
      try write(network, home: home, isGone: isGone)
    case .networkShown(let network, let home): progress.networks.noteShown(network, home: home)
    case .duplicate: progress.outcome.counts.duplicates += 1
    case .delete(let id): try apply(context.ownership.delete(id))
    case .routerGone(let user, let home): try endPlaintext(of: user, home: home)
    case .routerForgotten: progress.outcome.counts.forgotten += 1
    }
  }

  private func write(_ changed: NetworkRecord, home: Int64, isGone: Bool) throws {
    var (network, event) = (changed, EventRecord(time: context.now, home: home))
    event.network = network.network
    network.generation = try progress.append(event)
    if isGone {
      try NetworkLedger.delete(network.network, home: home, context.tx)
    } else {
      try NetworkLedger.save(network, home: home, context.tx)
    }
  }

  /// Event, log, and what else an alert brings about.
  private func publish(_ news: AlertChange.News) throws {
    let alert = news.alert
    progress.outcome.news.add(news.type, alert)
    var event = EventRecord(time: context.now, types: news.type, home: alert.home)
    event.alert = alert.fingerprint
    // As it is now: it goes on, and may be forgotten, while the event waits for the broker.
    var state = try alert.state(home: context.home(alert.home).record.name)
    state.eventType = OutboundEventTypes.names.first { $0.type == news.type }?.name
    state.previousSeverity = news.previousSeverity
    event.json = WireJSON().encode(state)
    try progress.append(event)
    if news.type == .alertRaised { progress.noteRaised(alert) }
  }

  /// Once for each user, however many datasets it sends.
  private func notePlaintext(from user: String, home: String) throws {
    let home = try context.home(named: home)
    guard home.changes.plaintextUsers.insert(user).inserted else { return }
    try apply(
      .alert(
        .plaintextCredentials, .plaintextCredentials(user: user), about: user,
        home: home.record.id))
  }

  /// When no router of a user is left, there is nothing that it could send unsealed.
  private func endPlaintext(of user: String, home: Int64) throws {
    guard try !RouterLedger.hasRouters(of: user, home: home, context.tx) else { return }
    try apply(.alert(.plaintextCredentials, nil, about: user, home: home))
  }
}

extension BatchNews {
  mutating func add(_ line: LogLine) {
    switch line {
    case .notGiven(let record, let obstacle): add(notGiven: record, obstacle)
    case .adoptionChanged(let agent):
      add(
        .notice, "the preferred credentials are not given: what was asked for has changed",
        ["border_agent_id": "\(agent)"])
    }
  }
}

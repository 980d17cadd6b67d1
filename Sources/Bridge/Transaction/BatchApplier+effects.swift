// SPDX-License-Identifier: Apache-2.0

import ConsentLedger
import ThreadDataset

/// Where all that follows from the components' decisions is applied.
extension BatchApplier {
  func apply(_ effects: [Effect]) throws {
    for effect in effects {
      switch effect {
      case .event(let event): try append(event)
      case .log(let line): outcome.news.add(line)
      case .question(let pending): try publish(pending)
      case .ended(let ended):
        try publish(ended.record)
        try settleAdoption(ended.record)
        try answer(ended.settled(now))
      case .settled(let settled): try answer(settled)
      case .answer(let answer, let isRefusal):
        outcome.answers.append(answer)
        if isRefusal {
          outcome.counts.requestsRefused += 1
        } else {
          outcome.counts.requestsAnswered += 1
        }
      case .send(let message): outcome.adoptionMessages.append(message)
      case .alert(let name, let facts, let home): try setAlert(name, facts, in: self.home(home))
      case .preferred(let change, let who, let home):
        try preferredIsSet(change, by: who, in: self.home(home))
      case .checkKeys(let home): try self.home(home).needsKeyLook = true
      case .router(let change): try write(change)
      case .unlist(let router, let event): try unlist(router, event)
      case .plaintextSeen(let user, let home):
        try plaintextSeen(from: user, home: self.home(named: home))
      case .routerCame(let home): noteRouter(in: try self.home(home), change: 1)
      case .routersChanged(let home): try self.home(home).hasChangedRouters = true
      case .keysReported(let dataset, let home): try noteKeys(dataset, home: self.home(home))
      case .network(let network, let home, let isGone):
        try write(network, home: home, isGone: isGone)
      case .duplicate: countDuplicate()
      case .delete(let id): try apply(ownership.delete(id))
      case .routerGone(let user, let home): try plaintextEnded(of: user, home: self.home(home))
      case .routerForgotten: outcome.counts.forgotten += 1
      }
    }
  }

  private func write(_ changed: NetworkRecord, home: Int64, isGone: Bool) throws {
    var (network, event) = (changed, EventRecord(time: now, home: home))
    event.network = network.network
    network.generation = try append(event)
    if isGone {
      try NetworkLedger.delete(network.network, home: home, tx)
    } else {
      try NetworkLedger.save(network, home: home, tx)
    }
  }

  private func publish(_ question: PendingConsent) throws {
    let reason = question.reason(namingHome: configuration.topics.homes.count > 1)
    let home = try home(named: question.subject.home).record.id
    try append(EventRecord(question, reason, home: home, now: now))
    outcome.news.add(question, reason)
  }

  private func publish(_ decided: ConsentRecord) throws {
    // A home that the settings no longer name has no row only in a store that never had it.
    if let home = try? home(named: decided.subject.home),
      let event = EventRecord(decided, home: home.record.id, now: now)
    {
      try append(event)
    }
    outcome.news.add(decided)
  }

  /// What a decision about a router means for it.
  private func settleAdoption(_ decided: ConsentRecord) throws {
    guard let agent = Adoptions.router(of: decided) else { return }
    let home = servedHomes.first { $0.record.name == decided.subject.home }
    let router = try home.flatMap { try RouterLedger.find(agent, home: $0.record.id, tx) }
    try apply(
      adoptions.settle(decided, router?.isPresent == true ? router : nil) {
        try home.flatMap { try preferredNetwork(of: $0) }
      })
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

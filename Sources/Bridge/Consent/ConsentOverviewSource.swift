// SPDX-License-Identifier: Apache-2.0

import Broker
import ConsentLedger
import SQLiteDatabase

/// Makes `bridge/consent` from what waits in the ledger.
struct ConsentOverviewSource: Sendable {
  let topics: BaseTopics
  let questions: HomeAssistantQuestions

  /// Of all homes.
  func publications(_ tx: ReadTransaction) -> [Publication] {
    topics.homes.compactMap { publication(of: $0.name, tx) }
  }

  /// Nil where the ledger cannot be read: then nothing is known, and everything else continues.
  func publication(of home: String, _ tx: ReadTransaction) -> Publication? {
    guard let own = questions.waiting(in: home, tx) else { return nil }
    let asked = questions.asked(of: own, in: home, tx).map { pending in
      ConsentOverview.Asked(
        id: pending.id.description, message: pending.reason(namingHome: questions.namesHomes),
        expiresAt: WireTime(milliseconds: pending.expires),
        token: questions.token(of: pending))
    }
    return Publication(
      topic: OutboundTopic(base: topics.base(of: home)).consent,
      payload: WireJSON().encode(
        ConsentOverview(
          pending: own.count, head: own.first.map { .init($0) }, homeAssistant: asked)),
      retain: true)
  }
}

extension ConsentOverview.Head {
  init(_ pending: PendingConsent) {
    self.init(
      id: pending.id.description, requester: pending.requester.description,
      fingerprint: pending.requester.fingerprint, command: pending.subject.command,
      networkName: pending.subject.names,
      extendedPANID: pending.subject.onlyNetwork?.description,
      expiresAt: WireTime(milliseconds: pending.expires),
      borderAgentID: pending.subject.router?.agent.description)
  }
}

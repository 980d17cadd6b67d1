// SPDX-License-Identifier: Apache-2.0

import BridgeProtocol
import ConsentLedger
import KeychainCore
import MosquittoClient
import SQLiteDatabase

/// Makes `bridge/consent` from what waits in the ledger.
struct ConsentOverviewSource: Sendable {
  let topics: BaseTopics
  let ledger: ConsentLedger
  let clock: any Clock

  init(topics: BaseTopics, keychain: Keychain, clock: any Clock) {
    self.topics = topics
    ledger = ConsentLedger(keychain)
    self.clock = clock
  }

  /// Of all homes.
  func publications(_ tx: ReadTransaction) -> [Publication] {
    topics.homes.compactMap { publication(of: $0.name, tx) }
  }

  /// Nil where the ledger cannot be read: then nothing is known, and everything else continues.
  func publication(of home: String, _ tx: ReadTransaction) -> Publication? {
    guard let waiting = try? ledger.pending(now: clock.now().milliseconds, tx) else { return nil }
    let own = waiting.filter { $0.subject.home == home }
    return Publication(
      topic: OutboundTopic(base: topics.base(of: home)).consent,
      payload: WireJSON().encode(
        ConsentOverview(pending: own.count, head: own.first.map { .init($0) })), retain: true)
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

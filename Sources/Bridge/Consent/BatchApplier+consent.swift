// SPDX-License-Identifier: Apache-2.0

import BridgeProtocol
import ConsentLedger
import CredentialService
import ThreadCredentialStore
import ThreadRequests

/// What follows in the bridge from what the ledger has noted: events, the log, and what is to be
/// answered.
extension BatchApplier {
  var consents: ConsentLedger { ConsentLedger(store.keychain) }

  /// A new request waits.
  func tell(_ pending: PendingConsent) throws {
    try append(
      EventRecord(
        pending, reason(of: pending), home: home(named: pending.subject.home).record.id, now: now))
    outcome.news.add(pending, reason(of: pending))
  }

  /// For the person who decides.
  func reason(of pending: PendingConsent) -> String {
    pending.reason(namingHome: configuration.topics.homes.count > 1)
  }

  /// A request waits no more.
  func tell(_ ended: EndedConsent) throws {
    // A home that the settings no longer name has no row only in a store that never had it.
    if let home = try? home(named: ended.record.subject.home),
      let event = EventRecord(ended.record, home: home.record.id, now: now)
    {
      try append(event)
    }
    outcome.news.add(ended.record)
  }

  /// - Throws: `ConsentRefusal`.
  func approve(
    _ id: String, _ scope: ConsentScope, by approver: ConsentApprover
  ) throws -> EndedConsent {
    let ended = try consents.approve(id, scope, by: approver, now: now.milliseconds, tx)
    try tell(ended)
    try adoptionSettled(ended.record)
    return ended
  }

  /// - Throws: `ConsentRefusal`.
  func deny(_ id: String, by approver: ConsentApprover) throws -> EndedConsent {
    let ended = try consents.deny(id, by: approver, now: now.milliseconds, tx)
    try tell(ended)
    try adoptionSettled(ended.record)
    return ended
  }

  /// Into the audit: what a grant has given, once the answer is made.
  func noteGrantedDisclosure() throws {
    guard let granted else { return }
    self.granted = nil
    try consents.noteDisclosure(
      of: granted.request.subject, to: granted.request.requester, by: granted.grant.description, tx)
  }

  /// Into the audit: whom somebody's word has given credentials.
  func noteDisclosure(of data: AnswerData, by settled: SettledConsent) throws {
    let told = data.credentials ?? []
    let request = ConsentRequest(settled.question)
    try consents.noteDisclosure(
      of: ConsentSubject(
        home: request.subject.home, command: request.subject.command,
        networks: request.subject.networks.filter { network in
          told.contains { $0.network == network.id && $0.networkName == network.name }
        }),
      to: request.requester, by: settled.id, tx)
  }

  /// Into the audit, the history and the log: what a person has agreed to is not given.
  ///
  /// - Parameter id: of the consent by which it would be given. A grant says nothing of one router.
  func noteNotGiven(_ id: String, _ obstacle: ConsentObstacle) throws {
    guard let record = try consents.noteNotGiven(id, obstacle, tx) else { return }
    outcome.news.add(notGiven: record, obstacle)
  }

  /// What nobody has answered in time.
  func expireConsents() throws {
    for ended in try consents.expire(now: now.milliseconds, tx) {
      try tell(ended)
      try adoptionSettled(ended.record)
      try answer(ended.settled(now))
    }
  }
}

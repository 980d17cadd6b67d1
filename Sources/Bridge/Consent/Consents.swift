// SPDX-License-Identifier: Apache-2.0

import Broker
import ConsentLedger
import CredentialService
import KeychainCore
import SQLiteDatabase
import ThreadRequests

/// Questions to people, and their decisions, within one transaction: what the ledger keeps of them. What follows from
/// it is returned.
struct Consents {
  private let ledger: ConsentLedger
  let now: WireTime
  let tx: WriteTransaction

  init(_ keychain: Keychain, now: WireTime, _ tx: WriteTransaction) {
    ledger = ConsentLedger(keychain)
    self.now = now
    self.tx = tx
  }

  /// The questions that wait, oldest first.
  func pending() throws -> [PendingConsent] { try ledger.pending(now: now.milliseconds, tx) }

  /// - Throws: `ConsentRefusal`.
  func ask(_ request: ConsentRequest) throws -> (outcome: ConsentOutcome, effects: [Effect]) {
    let outcome = try ledger.ask(request, now: now.milliseconds, tx)
    if case .pending(let pending, isNew: true) = outcome { return (outcome, [.question(pending)]) }
    return (outcome, [])
  }

  /// A person decides.
  ///
  /// - Parameter scope: for how long it is approved; nil: it is denied.
  /// - Throws: `ConsentRefusal`.
  func decide(
    _ id: String, _ scope: ConsentScope?, by approver: ConsentApprover
  ) throws -> EndedConsent {
    if let scope {
      try ledger.approve(id, scope, by: approver, now: now.milliseconds, tx)
    } else {
      try ledger.deny(id, by: approver, now: now.milliseconds, tx)
    }
  }

  /// Takes back what was agreed to for good.
  ///
  /// - Throws: `ConsentRefusal`.
  func revoke(_ id: String, by approver: ConsentApprover) throws -> ConsentGrant {
    try ledger.revoke(id, by: approver, now: now.milliseconds, tx)
  }

  /// What was decided, and what came of it.
  func past(_ id: ConsentID) throws -> ConsentRecord? { try ledger.past(id, tx) }

  /// Questions that no person has answered in time.
  func expire() throws -> [Effect] {
    try ledger.expire(now: now.milliseconds, tx).map { .ended($0) }
  }

  /// Into the audit: what a grant has given, once the answer is made.
  func noteDisclosure(_ granted: GrantedDisclosure?) throws {
    guard let granted else { return }
    try ledger.noteDisclosure(
      of: granted.request.subject, to: granted.request.requester, by: granted.grant.description, tx)
  }

  /// Into the audit: to whom a person's approval has given credentials.
  func noteDisclosure(of data: AnswerData, by settled: SettledConsent) throws {
    let told = data.credentials ?? []
    let request = ConsentRequest(settled.question)
    try ledger.noteDisclosure(
      of: ConsentSubject(
        home: request.subject.home, command: request.subject.command,
        networks: request.subject.networks.filter { network in
          told.contains { $0.network == network.id && $0.networkName == network.name }
        }),
      to: request.requester, by: settled.id, tx)
  }

  /// Into the audit and the history: what a person has agreed to is not given.
  ///
  /// - Parameter id: of the consent by which it would be given. A grant is not about one router.
  func noteNotGiven(_ id: String, _ obstacle: ConsentObstacle) throws -> [Effect] {
    guard let record = try ledger.noteNotGiven(id, obstacle, tx) else { return [] }
    return [.log(.notGiven(record, obstacle))]
  }
}

// SPDX-License-Identifier: Apache-2.0

import KeychainCore
import SQLiteDatabase

/// What holds until a person takes it back.
extension ConsentLedger {
  static let mostGrants = 500

  /// Oldest first.
  package func grants(_ tx: ReadTransaction) throws -> [ConsentGrant] {
    try grantItems.all(tx).map(\.record)
  }

  /// What was given out is given out: this is about the next request.
  ///
  /// - Throws: `ConsentRefusal`: `not_found`.
  @discardableResult
  package func revoke(
    _ text: String, by approver: ConsentApprover, now: Int64, _ tx: WriteTransaction
  ) throws -> ConsentGrant {
    guard let id = ConsentID(text, .grant), let (item, grant) = try grantItems.find(id, tx) else {
      throw ConsentRefusal(.notFound, "there is no such grant")
    }
    try end(grant, item, by: approver.description, now: now, tx)
    try trimHistory(tx)
    return grant
  }

  /// For a login whose key counts no more: its grants end, and what it waits for expires.
  package func end(
    of requester: Requester, in home: String, by actor: String, now: Int64,
    _ tx: WriteTransaction
  ) throws {
    for (item, grant) in try grantItems.all(tx)
    where grant.requester.identity == requester && grant.subject.home == home {
      try end(grant, item, by: actor, now: now, tx)
    }
    for (item, waiting) in try pendingItems.all(tx)
    where waiting.requester.identity == requester && waiting.subject.home == home {
      var machine = ConsentMachine(waiting)
      try perform(.requesterEnded, on: &machine, item, now: now, tx)
    }
    try trimHistory(tx)
  }

  private func end(
    _ grant: ConsentGrant, _ item: Item, by actor: String, now: Int64, _ tx: WriteTransaction
  ) throws {
    try keychain.delete(item, in: tx)
    try remember(
      ConsentRecord(
        id: grant.id, outcome: .revoked, requester: grant.requester, subject: grant.subject,
        created: grant.created, decided: now, decidedBy: actor, scope: .always, grant: grant.id),
      tx)
  }

  /// The same grant is there already when the request waited longer than another one. One for an earlier
  /// network key is replaced: it covers nothing any more.
  func grant(
    to pending: PendingConsent, by approver: ConsentApprover, now: Int64, _ tx: WriteTransaction
  ) throws -> ConsentGrant {
    let subject = pending.subject.ofAnyRouter
    let own = try grantItems.all(tx).filter { $0.record.requester.isSame(as: pending.requester) }
    if let same = own.first(where: { $0.record.subject.isSame(as: subject) }) {
      return same.record
    }
    for (item, outdated) in own
    where outdated.subject.withoutKeys.isSame(as: subject.withoutKeys) {
      try end(outdated, item, by: approver.description, now: now, tx)
    }
    let count = try grantItems.all(tx).count
    guard count < Self.mostGrants else {
      throw ConsentRefusal(
        .conflict, "there are \(count) grants already; revoke some, or approve for once")
    }
    let grant = ConsentGrant(
      id: .make(.grant), requester: pending.requester, subject: subject, created: now,
      grantedBy: approver.description)
    try grantItems.add(grant, as: grant.id, tx)
    try keychain.note(.consentGranted, "\(grant.id) \(grant.subject) to \(grant.requester)", in: tx)
    return grant
  }
}

// SPDX-License-Identifier: Apache-2.0

import KeychainCore
import SQLiteDatabase

/// What holds until somebody takes it back.
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
    try keychain.delete(item, in: tx)
    try remember(
      ConsentRecord(
        id: id, outcome: .revoked, requester: grant.requester, subject: grant.subject,
        created: grant.created, decided: now, decidedBy: approver.description, scope: .always,
        grant: id), tx)
    try trimHistory(tx)
    return grant
  }

  /// For a login whose key counts no more: its grants go, and what it waits for expires.
  package func end(
    of requester: ConsentRequester.Identity, in home: String, by actor: String, now: Int64,
    _ tx: WriteTransaction
  ) throws {
    for (item, grant) in try grantItems.all(tx)
    where grant.requester.identity == requester && grant.subject.home == home {
      try keychain.delete(item, in: tx)
      try remember(
        ConsentRecord(
          id: grant.id, outcome: .revoked, requester: grant.requester, subject: grant.subject,
          created: grant.created, decided: now, decidedBy: actor, scope: .always, grant: grant.id),
        tx)
    }
    for (item, waiting) in try pendingItems.all(tx)
    where waiting.requester.identity == requester && waiting.subject.home == home {
      var over = waiting
      over.expires = min(over.expires, now)
      try pendingItems.replace(item, by: over, tx)
    }
    try trimHistory(tx)
  }

  /// One that says the same is there already when the request waited longer than another one.
  func grant(
    to pending: PendingConsent, by approver: ConsentApprover, now: Int64, _ tx: WriteTransaction
  ) throws -> ConsentGrant {
    let all = try grants(tx)
    let subject = pending.subject.ofAnyRouter
    let same = all.first {
      $0.requester.isSame(as: pending.requester) && $0.subject.isSame(as: subject)
    }
    if let same { return same }
    guard all.count < Self.mostGrants else {
      throw ConsentRefusal(
        .conflict, "there are \(all.count) grants already; revoke some, or approve for once")
    }
    let grant = ConsentGrant(
      id: .make(.grant), requester: pending.requester, subject: subject, created: now,
      grantedBy: approver.description)
    try grantItems.add(grant, as: grant.id, tx)
    try keychain.note(.consentGranted, "\(grant.id) \(grant.subject) to \(grant.requester)", in: tx)
    return grant
  }
}

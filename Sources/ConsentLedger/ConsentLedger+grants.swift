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

  /// One that says the same is there already when the request waited longer than another one.
  func grant(
    to pending: PendingConsent, by approver: ConsentApprover, now: Int64, _ tx: WriteTransaction
  ) throws -> ConsentGrant {
    let all = try grants(tx)
    let same = all.first {
      $0.requester.isSame(as: pending.requester) && $0.subject.isSame(as: pending.subject)
    }
    if let same { return same }
    guard all.count < Self.mostGrants else {
      throw ConsentRefusal(
        .conflict, "there are \(all.count) grants already; revoke some, or approve for once")
    }
    let grant = ConsentGrant(
      id: .make(.grant), requester: pending.requester, subject: pending.subject, created: now,
      grantedBy: approver.description)
    try grantItems.add(grant, as: grant.id, tx)
    try keychain.note(.consentGranted, "\(grant.id) \(grant.subject) to \(grant.requester)", in: tx)
    return grant
  }
}

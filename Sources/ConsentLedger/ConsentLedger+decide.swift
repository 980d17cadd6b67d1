// SPDX-License-Identifier: Apache-2.0

import KeychainCore
import SQLiteDatabase

/// The ends of a pending request.
extension ConsentLedger {
  /// - Throws: `ConsentRefusal`: `stale_id`, `not_authorized` for the requester itself, `conflict` when
  ///   there are too many grants.
  package func approve(
    _ id: String, _ scope: ConsentScope, by approver: ConsentApprover, now: Int64,
    _ tx: WriteTransaction
  ) throws -> EndedConsent {
    let (item, pending) = try waiting(id, now: now, tx)
    if let refusal = ApprovalRight.objection(to: approver, of: pending) { throw refusal }
    let grant = scope == .always ? try grant(to: pending, by: approver, now: now, tx) : nil
    try keychain.delete(item, in: tx)
    let ended = try end(
      pending, .approved, by: approver, scope: scope, grant: grant?.id, now: now, tx)
    try trimHistory(tx)
    return ended
  }

  /// The same question is refused until the request would have expired. About a router nobody asks who could
  /// be told no, so there it is refused for as long as a request waits, from now on.
  ///
  /// - Throws: `ConsentRefusal`: `stale_id`.
  package func deny(
    _ id: String, by approver: ConsentApprover, now: Int64, _ tx: WriteTransaction
  ) throws -> EndedConsent {
    var (item, pending) = try waiting(id, now: now, tx)
    let ended = try end(
      pending, .denied, by: approver, scope: nil, grant: nil, now: now, tx)
    pending.isDenied = true
    if pending.subject.router != nil { pending.expires = now + PendingConsent.patience }
    pending.replies = []
    try pendingItems.replace(item, by: pending, tx)
    try trimHistory(tx)
    return ended
  }

  /// What nobody answered in time.
  package func expire(now: Int64, _ tx: WriteTransaction) throws -> [EndedConsent] {
    var expired: [EndedConsent] = []
    for (item, pending) in try pendingItems.all(tx) where PendingLife.isOver(pending, now: now) {
      try keychain.delete(item, in: tx)
      guard !pending.isDenied else { continue }
      expired.append(
        try end(pending, .expired, by: nil, scope: nil, grant: nil, now: now, tx))
    }
    if !expired.isEmpty { try trimHistory(tx) }
    return expired
  }

  /// For a question that has no meaning any more: it expires.
  package func withdraw(_ text: String, now: Int64, _ tx: WriteTransaction) throws {
    guard let id = ConsentID(text, .request), let (item, waiting) = try pendingItems.find(id, tx),
      !waiting.isDenied
    else { return }
    var pending = waiting
    pending.expires = min(pending.expires, now)
    try pendingItems.replace(item, by: pending, tx)
  }

  private func waiting(
    _ text: String, now: Int64, _ tx: ReadTransaction
  ) throws -> (item: Item, pending: PendingConsent) {
    guard let id = ConsentID(text, .request) else {
      throw ConsentRefusal(
        .staleID, "no request has such an id: expected c- and 16 hexadecimal digits")
    }
    guard let (item, pending) = try pendingItems.find(id, tx), !pending.isDenied else {
      guard let past = try historyItems.find(id, tx)?.record else {
        throw ConsentRefusal(.staleID, "no request \(id) waits for consent")
      }
      throw ConsentRefusal(.staleID, "the request \(id) is \(past.outcome.rawValue) already")
    }
    guard !PendingLife.isOver(pending, now: now) else {
      throw ConsentRefusal(.staleID, "the request \(id) is expired already")
    }
    return (item, pending)
  }

  private func end(
    _ pending: PendingConsent, _ outcome: ConsentRecord.Outcome, by approver: ConsentApprover?,
    scope: ConsentScope?, grant: ConsentID?, now: Int64, _ tx: WriteTransaction
  ) throws -> EndedConsent {
    let record = ConsentRecord(
      id: pending.id, outcome: outcome, requester: pending.requester, subject: pending.subject,
      created: pending.created, decided: now, decidedBy: approver?.description, scope: scope,
      grant: grant)
    try remember(record, tx)
    return EndedConsent(record: record, replies: pending.replies)
  }
}

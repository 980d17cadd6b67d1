// SPDX-License-Identifier: Apache-2.0

import KeychainCore
import SQLiteDatabase
import ThreadRequests

/// What happens to the questions that wait; `ConsentMachine` decides.
extension ConsentLedger {
  /// - Throws: `ConsentRefusal`: `stale_id`, `not_authorized` for the requester itself, `conflict` when
  ///   there are too many grants.
  package func approve(
    _ id: String, _ scope: ConsentScope, by approver: ConsentApprover, now: Int64,
    _ tx: WriteTransaction
  ) throws -> EndedConsent {
    try decide(id, .approved(scope, by: approver), now: now, tx)
  }

  /// - Throws: `ConsentRefusal`: `stale_id`.
  package func deny(
    _ id: String, by approver: ConsentApprover, now: Int64, _ tx: WriteTransaction
  ) throws -> EndedConsent {
    try decide(id, .denied(by: approver), now: now, tx)
  }

  /// Questions that no person has answered in time.
  package func expire(now: Int64, _ tx: WriteTransaction) throws -> [EndedConsent] {
    let expired = try pendingItems.all(tx).compactMap { item, question in
      var machine = ConsentMachine(question)
      return try perform(.clock, on: &machine, item, now: now, tx)
    }
    if !expired.isEmpty { try trimHistory(tx) }
    return expired
  }

  /// For a question that has no meaning any more: it expires.
  package func withdraw(_ text: String, now: Int64, _ tx: WriteTransaction) throws {
    guard let id = ConsentID(text, .request), let (item, question) = try pendingItems.find(id, tx)
    else { return }
    var machine = ConsentMachine(question)
    try perform(.withdrawn, on: &machine, item, now: now, tx)
  }

  /// The same question, where it was denied a moment ago, is asked again at once.
  package func allowAgain(_ text: String, now: Int64, _ tx: WriteTransaction) throws {
    guard let id = ConsentID(text, .request), let (item, question) = try pendingItems.find(id, tx)
    else { return }
    var machine = ConsentMachine(question)
    try perform(.wantedAgain, on: &machine, item, now: now, tx)
  }

  private func decide(
    _ text: String, _ event: ConsentEvent, now: Int64, _ tx: WriteTransaction
  ) throws -> EndedConsent {
    guard let id = ConsentID(text, .request) else {
      throw ConsentRefusal(
        .staleID, "no request has such an id: expected c- and 16 hexadecimal digits")
    }
    guard let (item, question) = try pendingItems.find(id, tx), !question.isDenied else {
      guard let past = try historyItems.find(id, tx)?.record else {
        throw ConsentRefusal(.staleID, "no request \(id) waits for consent")
      }
      throw ConsentRefusal(.staleID, "the request \(id) is \(past.outcome.rawValue) already")
    }
    var machine = ConsentMachine(question)
    guard let ended = try perform(event, on: &machine, item, now: now, tx) else {
      throw ConsentRefusal(.staleID, "no request \(id) waits for consent")
    }
    try trimHistory(tx)
    return ended
  }

  /// - Returns: what was decided, where something was.
  @discardableResult
  func perform(
    _ event: ConsentEvent, on machine: inout ConsentMachine, _ item: Item, now: Int64,
    _ tx: WriteTransaction
  ) throws -> EndedConsent? {
    guard let question = machine.question else { return nil }
    var granted: ConsentID?
    var ended: EndedConsent?
    for effect in try machine.handle(event, now: now) {
      switch effect {
      case .save(let changed): try pendingItems.replace(item, by: changed, tx)
      case .delete: try keychain.delete(item, in: tx)
      case .grant(let pending, let approver):
        granted = try grant(to: pending, by: approver, now: now, tx).id
      case .remember(let outcome, let approver, let scope):
        let record = ConsentRecord(
          id: question.id, outcome: outcome, requester: question.requester,
          subject: question.subject, created: question.created, decided: now,
          decidedBy: approver?.description, scope: scope, grant: granted)
        try remember(record, tx)
        ended = EndedConsent(record: record, replies: question.replies)
      }
    }
    return ended
  }
}

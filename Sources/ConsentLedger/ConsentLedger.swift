// SPDX-License-Identifier: Apache-2.0

import Glibc
import KeychainCore
import SQLiteDatabase

/// Who asked for which credentials, and what people decided. All of it decides about access, so all
/// of it are keychain items, sealed and counted by the manifest:
///
/// | what | service | account | group |
/// |---|---|---|---|
/// | pending request | `thread-consent/pending` | `c-…` | `threadkeeper.internal` |
/// | "always" | `thread-consent/grant` | `g-…` | `threadkeeper.internal` |
/// | history | `thread-consent/history` | id of the request or grant | `threadkeeper.internal` |
///
/// Every call takes the transaction that it belongs to, and the time: milliseconds since 1970.
package struct ConsentLedger: Sendable {
  static let group = "threadkeeper.internal"

  package enum Service: String, Sendable {
    case pending = "thread-consent/pending"
    case grant = "thread-consent/grant"
    case history = "thread-consent/history"
  }

  let keychain: Keychain
  /// The number of the user that the daemon runs as.
  private let ownUser: UInt32
  let pendingItems: ConsentItem<PendingConsent>
  let grantItems: ConsentItem<ConsentGrant>
  let historyItems: ConsentItem<ConsentRecord>

  package init(_ keychain: Keychain, ownUser: UInt32 = geteuid()) {
    self.keychain = keychain
    self.ownUser = ownUser
    pendingItems = ConsentItem(.pending, keychain)
    grantItems = ConsentItem(.grant, keychain)
    historyItems = ConsentItem(.history, keychain)
  }

  /// The requests that wait, oldest first.
  package func pending(now: Int64, _ tx: ReadTransaction) throws -> [PendingConsent] {
    try pendingItems.all(tx).map(\.record).filter {
      !$0.isDenied && !PendingLife.isOver($0, now: now)
    }
  }

  /// Asks for consent. The same question of the same requester joins the one that waits already.
  ///
  /// - Throws: `ConsentRefusal`: `rate_limited` when too many wait, `consent_denied` when the same
  ///   question was refused a moment ago.
  package func ask(
    _ request: ConsentRequest, now: Int64, _ tx: WriteTransaction
  ) throws -> ConsentOutcome {
    let grants = try grantItems.all(tx).map(\.record)
    if let grant = grants.first(where: { GrantCoverage.covers($0, request) }) {
      return .granted(grant)
    }
    let waiting = try pendingItems.all(tx).filter { !PendingLife.isOver($0.record, now: now) }
    if let (item, same) = waiting.first(where: { $0.record.asksTheSame(as: request) }) {
      var machine = ConsentMachine(same)
      try perform(.asked(request), on: &machine, item, now: now, tx)
      return .pending(machine.question ?? same, isNew: false)
    }
    if let refusal = PendingLimit.refusal(
      of: request, beside: waiting.map(\.record), ownUser: ownUser)
    {
      throw refusal
    }
    let pending = PendingConsent(
      request, id: .make(.request), now: now,
      keyHasChanged: grants.contains { GrantCoverage.isOutdated($0, for: request) })
    try pendingItems.add(pending, as: pending.id, tx)
    return .pending(pending, isNew: true)
  }

  /// Whether an "always" covers it; changes nothing.
  package func grant(
    for request: ConsentRequest, _ tx: ReadTransaction
  ) throws -> ConsentGrant? {
    try grantItems.all(tx).first { GrantCoverage.covers($0.record, request) }?.record
  }

  /// Puts into the audit that credentials are given out.
  package func noteDisclosure(
    of subject: ConsentSubject, to requester: ConsentRequester, by id: String,
    _ tx: WriteTransaction
  ) throws {
    try keychain.note(.credentialsGiven, "\(subject) to \(requester) by \(id)", in: tx)
  }

  /// Puts into the history and the audit that an approval had no result: the decision stands, and nothing
  /// is given out.
  ///
  /// - Returns: nil when the history has no such decision any more.
  package func noteNotGiven(
    _ text: String, _ obstacle: ConsentObstacle, _ tx: WriteTransaction
  ) throws -> ConsentRecord? {
    guard let id = ConsentID(text, .request), let (item, past) = try historyItems.find(id, tx)
    else { return nil }
    var record = past
    record.given = false
    record.obstacle = obstacle
    try historyItems.replace(item, by: record, tx)
    try keychain.note(
      .credentialsNotGiven,
      "\(record.subject) to \(record.requester) by \(id): \(obstacle.message)", in: tx)
    return record
  }
}

// SPDX-License-Identifier: Apache-2.0

import ConsentLedger
import Logging
import ThreadRequests

/// Decisions of people at the command line and on the status page. Each call is a transaction of its own; what is decided is on disk before it
/// returns.
package struct ConsentDecisions: Sendable {
  private let transactions: TransactionRunner

  init(_ transactions: TransactionRunner) { self.transactions = transactions }

  /// Whether a question is to name its own.
  package var hasSeveralHomes: Bool { transactions.configuration.topics.homes.count > 1 }

  /// - Throws: `ConsentRefusal`, or what the store throws.
  @discardableResult
  package func approve(
    _ id: String, _ scope: ConsentScope, by approver: ConsentApprover
  ) throws -> ConsentRecord {
    try decide(by: approver) { transaction, approver in
      let ended = try transaction.context.consents.decide(id, scope, by: approver)
      try transaction.apply([.ended(ended)])
      // With what came of it.
      return try transaction.context.consents.past(ended.record.id) ?? ended.record
    }
  }

  /// - Throws: `ConsentRefusal`, or what the store throws.
  @discardableResult
  package func deny(_ id: String, by approver: ConsentApprover) throws -> ConsentRecord {
    try decide(by: approver) { transaction, approver in
      let ended = try transaction.context.consents.decide(id, nil, by: approver)
      try transaction.apply([.ended(ended)])
      return ended.record
    }
  }

  /// The same for a user at the command line.
  @discardableResult
  package func approve(
    _ id: String, _ scope: ConsentScope, by user: UInt32
  ) throws -> ConsentRecord {
    try approve(id, scope, by: .commandLine(user: user))
  }

  @discardableResult
  package func deny(_ id: String, by user: UInt32) throws -> ConsentRecord {
    try deny(id, by: .commandLine(user: user))
  }

  /// - Throws: `ConsentRefusal`, or what the store throws.
  @discardableResult
  package func revoke(_ id: String, by user: UInt32) throws -> ConsentGrant {
    let grant = try decide(by: .commandLine(user: user)) { transaction, approver in
      try transaction.context.consents.revoke(id, by: approver)
    }
    transactions.logger?.notice(
      "consent revoked",
      metadata: [
        "id": "\(grant.id)", "requester": "\(grant.requester)",
        "network": "\(grant.subject.networkNames)",
      ])
    return grant
  }

  private func decide<R>(
    by approver: ConsentApprover, _ body: (BridgeTransaction, ConsentApprover) throws -> R
  ) throws -> R {
    try transactions.run(as: approver.description) { try body($0, approver) }
  }
}

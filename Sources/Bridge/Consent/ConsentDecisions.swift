// SPDX-License-Identifier: Apache-2.0

import ConsentLedger
import Logging
import ThreadDataset
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

  /// - Throws: `ConsentRefusal`, or what the store throws.
  @discardableResult
  package func revoke(_ id: String, by approver: ConsentApprover) throws -> ConsentGrant {
    let grant = try decide(by: approver) { transaction, approver in
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

  /// Has a person asked again whether a router gets the preferred credentials.
  ///
  /// - Throws: `ConsentRefusal`, or what the store throws.
  package func askAgain(
    about agent: BorderAgentID, in home: String, by approver: ConsentApprover
  ) throws {
    try decide(by: approver) { transaction, _ in
      let context = transaction.context
      let id = try context.home(named: home).record.id
      guard let router = try RouterLedger.find(agent, home: id, context.tx), router.isPresent else {
        throw ConsentRefusal(.notFound, "no border router \(agent) is listed")
      }
      if let obstacle = router.askAgainObstacle { throw ConsentRefusal(.conflict, obstacle) }
      try transaction.apply([.askAgain(router)])
    }
    transactions.logger?.notice(
      "consent is to be asked for again",
      metadata: ["border_agent_id": "\(agent)", "home": "\(home)", "by": "\(approver)"])
  }

  private func decide<R>(
    by approver: ConsentApprover, _ body: (BridgeTransaction, ConsentApprover) throws -> R
  ) throws -> R {
    try transactions.run(as: approver.description) { try body($0, approver) }
  }
}

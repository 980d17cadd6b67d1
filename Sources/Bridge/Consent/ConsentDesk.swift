// SPDX-License-Identifier: Apache-2.0

import ConsentLedger
import KeychainCore
import Logging
import SQLiteDatabase
import ThreadCredentialStore

/// Where people decide, beside the broker: at the command line. Each call is a transaction of its own;
/// what it says is on disk before it returns.
package struct ConsentDesk: Sendable {
  let configuration: BridgeConfiguration
  let store: ThreadCredentialStore
  let answers: AnswerQueue
  let clock: any Clock
  let logger: Logger
  /// Called after the commit: there is something to publish.
  let committed: @Sendable () -> Void

  /// Whether a question is to name its own.
  package var hasSeveralHomes: Bool { configuration.topics.homes.count > 1 }

  /// - Throws: `ConsentRefusal`, or what the store says.
  @discardableResult
  package func approve(
    _ id: String, _ scope: ConsentScope, by user: UInt32
  ) throws -> ConsentRecord {
    try decide(by: user) { batch, approver in
      let ended = try batch.approve(id, scope, by: approver)
      try batch.answer(ended.settled(batch.now))
      // With what came of it.
      return try batch.consents.past(ended.record.id, batch.tx) ?? ended.record
    }
  }

  /// - Throws: `ConsentRefusal`, or what the store says.
  @discardableResult
  package func deny(_ id: String, by user: UInt32) throws -> ConsentRecord {
    try decide(by: user) { batch, approver in
      let ended = try batch.deny(id, by: approver)
      try batch.answer(ended.settled(batch.now))
      return ended.record
    }
  }

  /// - Throws: `ConsentRefusal`, or what the store says.
  @discardableResult
  package func revoke(_ id: String, by user: UInt32) throws -> ConsentGrant {
    let grant = try decide(by: user) { batch, approver in
      try batch.consents.revoke(id, by: approver, now: batch.now.milliseconds, batch.tx)
    }
    logger.notice(
      "consent revoked",
      metadata: [
        "id": "\(grant.id)", "requester": "\(grant.requester)",
        "network": "\(grant.subject.networkNames)",
      ])
    return grant
  }

  private func decide<R>(
    by user: UInt32, _ body: (BatchApplier, ConsentApprover) throws -> R
  ) throws -> R {
    try store.checkWritable()
    let approver = ConsentApprover.commandLine(user: user)
    let now = clock.now()
    let (result, batch) = try store.keychain.database.write { tx in
      let batch = try BatchApplier(configuration: configuration, store: store, now: now, tx)
      store.keychain.act(as: approver.description, in: tx)
      let result = try body(batch, approver)
      try batch.finish()
      return (result, batch)
    }
    batch.news.log(to: logger)
    answers.add(batch.answers, now: now)
    committed()
    return result
  }
}

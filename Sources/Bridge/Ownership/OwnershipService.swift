// SPDX-License-Identifier: Apache-2.0

import KeychainCore
import Logging
import ThreadCredentialStore
import ThreadDataset

/// Removes border agent ids, for the owner of the store. Each call is a transaction of its own and is on disk when it
/// returns.
package struct OwnershipService: Sendable {
  let transactions: TransactionRunner

  init(_ transactions: TransactionRunner) { self.transactions = transactions }

  /// For a command without a daemon: what there is to publish, the next daemon does.
  package init(
    _ configuration: BridgeConfiguration, keychain: Keychain, clock: any Clock = SystemClock()
  ) throws {
    transactions = try TransactionRunner(configuration, keychain: keychain, clock: clock)
  }

  /// Deletes all that is stored of a border agent id.
  ///
  /// - Parameter actor: who is named in the audit.
  /// - Throws: `OwnershipFailure`, or what the store throws.
  package func remove(
    _ agent: BorderAgentID, in home: String, by actor: String
  ) throws -> RemovedID {
    let removed = try transactions.run(as: actor) { transaction in
      let context = transaction.context
      let (removed, effects) = try context.ownership.remove(
        agent, in: context.home(named: home).record)
      try transaction.apply(effects)
      return removed
    }
    if let logger = transactions.logger {
      var metadata: Logger.Metadata = ["border_agent_id": "\(agent)", "home": "\(home)"]
      metadata["from"] = removed.team.map { "\($0)" }
      logger.notice("border router removed", metadata: metadata)
    }
    return removed
  }
}

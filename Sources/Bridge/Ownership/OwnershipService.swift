// SPDX-License-Identifier: Apache-2.0

import KeychainCore
import Logging
import ThreadCredentialStore
import ThreadDataset

/// Changes which team a border agent id belongs to, for the owner of the store. Each call is a transaction
/// of its own and is on disk when it returns.
///
/// Every call throws `OwnershipFailure`, or what the store throws.
package struct OwnershipService: Sendable {
  let transactions: TransactionRunner

  init(_ transactions: TransactionRunner) { self.transactions = transactions }

  /// For a command without a daemon: what there is to publish, the next daemon does.
  package init(
    _ configuration: BridgeConfiguration, keychain: Keychain, clock: any Clock = SystemClock()
  ) throws {
    transactions = try TransactionRunner(configuration, keychain: keychain, clock: clock)
  }

  /// Gives a border agent id, and the credentials stored under it, to a team.
  ///
  /// - Parameters:
  ///   - logins: the broker's users in the team.
  ///   - actor: who is named in the audit.
  package func transfer(
    _ agent: BorderAgentID, in home: String, to team: String, logins: [String], by actor: String
  ) throws -> OwnershipChange {
    try change("border agent id transferred", of: agent, in: home, by: actor) {
      try $0.transfer(agent, to: team, logins: logins, in: $1)
    }
  }

  /// Deletes the credentials and the owner of a border agent id; the router stays listed.
  package func release(
    _ agent: BorderAgentID, in home: String, by actor: String
  ) throws -> OwnershipChange {
    try change("border agent id released", of: agent, in: home, by: actor) {
      try $0.release(agent, in: $1)
    }
  }

  /// Deletes all that is stored of a border agent id.
  package func remove(
    _ agent: BorderAgentID, in home: String, by actor: String
  ) throws -> OwnershipChange {
    try change("border router removed", of: agent, in: home, by: actor) {
      try $0.remove(agent, in: $1)
    }
  }

  private func change(
    _ message: Logger.Message, of agent: BorderAgentID, in home: String, by actor: String,
    _ body: (Ownership, HomeRecord) throws -> (change: OwnershipChange, effects: [Effect])
  ) throws -> OwnershipChange {
    let change = try transactions.run(as: actor) { transaction in
      let context = transaction.context
      let (change, effects) = try body(context.ownership, context.home(named: home).record)
      try transaction.apply(effects)
      return change
    }
    if let logger = transactions.logger, change.isChange {
      var metadata: Logger.Metadata = ["border_agent_id": "\(agent)", "home": "\(home)"]
      metadata["from"] = change.previousTeam.map { "\($0)" }
      metadata["to"] = change.team.map { "\($0)" }
      logger.notice(message, metadata: metadata)
    }
    return change
  }
}

// SPDX-License-Identifier: Apache-2.0

import KeychainCore
import Logging
import ThreadDataset

/// A person says that a network, or a router, is there on purpose. Each call is a transaction of its own and is on
/// disk when it returns.
package struct AcceptanceService: Sendable {
  let transactions: TransactionRunner

  init(_ transactions: TransactionRunner) { self.transactions = transactions }

  /// For a command without a daemon: what there is to publish, the next daemon does.
  package init(
    _ configuration: BridgeConfiguration, keychain: Keychain, clock: any Clock = SystemClock()
  ) throws {
    transactions = try TransactionRunner(configuration, keychain: keychain, clock: clock)
  }

  /// Ends, or lets come back, the alerts about routers that are on a network which is not the preferred one and never
  /// were on that.
  ///
  /// - Returns: whether that changes anything, and whether a router is listed on the network.
  package func accept(
    network: ExtendedPANID, in home: String, isAccepted: Bool = true, by actor: String
  ) throws -> (isChange: Bool, isKnown: Bool) {
    let result = try transactions.run(as: actor) { transaction in
      let (context, tx) = (transaction.context, transaction.tx)
      let id = try context.home(named: home).record.id
      let isChange =
        try AcceptedNetworkLedger.contains(network, home: id, tx) != isAccepted
      let isKnown = try NetworkLedger.find(network, home: id, tx) != nil
      if isChange {
        if isAccepted {
          try AcceptedNetworkLedger.insert(network, home: id, tx)
        } else {
          try AcceptedNetworkLedger.delete(network, home: id, tx)
        }
        try transaction.apply([
          .networkShown(network, home: id), .recheckRouters(home: id, after: 0),
        ])
      }
      return (isChange: isChange, isKnown: isKnown)
    }
    if result.isChange {
      transactions.logger?.notice(
        isAccepted ? "network accepted" : "network not accepted any more",
        metadata: ["ext_pan_id": "\(network)", "home": "\(home)", "by": "\(actor)"])
    }
    return result
  }

  /// Ends the alert about a router that joined the preferred network and was not there before.
  ///
  /// - Returns: whether that changes anything.
  /// - Throws: `OwnershipFailure.unknownID` where the router is not listed, or what the store throws.
  package func accept(
    router agent: BorderAgentID, in home: String, by actor: String
  ) throws -> Bool {
    let isChange = try transactions.run(as: actor) { transaction in
      let context = transaction.context
      let id = try context.home(named: home).record.id
      guard let stored = try RouterLedger.find(agent, home: id, context.tx), stored.isPresent else {
        throw OwnershipFailure.unknownID
      }
      guard !stored.isKnown else { return false }
      var router = stored
      router.isKnown = true
      try transaction.apply([
        .router(RouterChange(router, stored: stored, trigger: "accepted", now: context.now))
      ])
      return true
    }
    if isChange {
      transactions.logger?.notice(
        "border router accepted",
        metadata: ["border_agent_id": "\(agent)", "home": "\(home)", "by": "\(actor)"])
    }
    return isChange
  }
}

// SPDX-License-Identifier: Apache-2.0

import ThreadCredentialStore
import ThreadDataset
import ThreadRequests

/// What is known of border routers beside their credentials, and hears, in the same transaction, what
/// a request has changed: the bridge's registry, where there is one.
package protocol CredentialRegistry {
  /// Whether the border router is there and can be reached now.
  func isActive(_ agent: BorderAgentID, in home: String) throws -> Bool

  /// Lets the requester's team have credentials under one more border agent id.
  ///
  /// - Throws: `AnswerFailure` with `too_many_routers` when the team has as many as it may.
  func makeRoom(for agent: BorderAgentID, context: RequestContext) throws

  /// The credentials are in the store already, and so is the preferred network.
  ///
  /// - Parameter change: `keep` when they were there before.
  func stored(
    _ dataset: OperationalDataset, _ change: DatasetDecision, of agent: BorderAgentID,
    preferred: PreferredChange?, context: RequestContext) throws

  func deleted(_ agent: BorderAgentID, context: RequestContext) throws

  func preferredSet(_ change: PreferredChange, context: RequestContext) throws

  /// A person wants to be asked again whether a router gets the preferred credentials.
  func askAgain(_ agent: BorderAgentID, context: RequestContext) throws

  /// The name of a network that a listed border router is on; empty where it is not known. Nil: none is there.
  func seenName(of network: ExtendedPANID, in home: String) throws -> String?

  /// What `routers/list`, `networks/list` and `alerts/list` come to.
  func states(_ command: RequestCommand, context: RequestContext) throws -> AnswerData
}

extension CredentialRegistry {
  package func askAgain(_ agent: BorderAgentID, context: RequestContext) throws {
    throw AnswerFailure(.notFound, field: "border_agent_id", "no border router \(agent) is listed")
  }
}

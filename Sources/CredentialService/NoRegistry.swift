// SPDX-License-Identifier: Apache-2.0

import ThreadCredentialStore
import ThreadDataset
import ThreadRequests

/// Where nobody listens to border routers.
package struct NoRegistry: CredentialRegistry {
  package init() {}

  package func isActive(_ agent: BorderAgentID, in home: String) -> Bool { false }

  package func makeRoom(for agent: BorderAgentID, context: RequestContext) {}

  package func stored(
    _ dataset: OperationalDataset, _ change: DatasetDecision, of agent: BorderAgentID,
    preferred: PreferredChange?, context: RequestContext
  ) {}

  package func deleted(_ agent: BorderAgentID, context: RequestContext) {}

  package func preferredSet(_ change: PreferredChange, context: RequestContext) {}

  package func seenName(of network: ExtendedPANID, in home: String) -> String? { nil }

  package func states(_ command: RequestCommand, context: RequestContext) throws -> AnswerData {
    throw AnswerFailure(.unsupported, "no daemon runs that could tell")
  }
}

// SPDX-License-Identifier: Apache-2.0

import ThreadDataset

/// Every topic that the keeper publishes, below the base topic of a home.
package struct OutboundTopic: Sendable {
  package let base: String

  package init(base: String) {
    self.base = base
  }

  // Retained, about the keeper.
  package var state: String { "\(base)/bridge/state" }
  package var info: String { "\(base)/bridge/info" }
  package var health: String { "\(base)/bridge/health" }
  package var alerts: String { "\(base)/bridge/alerts" }

  // Not retained.
  package var event: String { "\(base)/bridge/event" }
  package var alertEvent: String { "\(base)/bridge/event/alert" }

  // Retained, about one thing.
  package func router(_ agent: BorderAgentID) -> String { "\(base)/router/\(agent)" }
  package func availability(_ agent: BorderAgentID) -> String {
    "\(base)/router/\(agent)/availability"
  }
  package func network(_ network: ExtendedPANID) -> String { "\(base)/network/\(network)" }
  package func alert(_ fingerprint: AlertFingerprint) -> String { "\(base)/alert/\(fingerprint)" }

  // Not retained.
  package func routerEvent(_ agent: BorderAgentID) -> String { "\(base)/router/\(agent)/event" }
}

// SPDX-License-Identifier: Apache-2.0

import BridgeProtocol
import ThreadDataset

/// An event of a border router, before it has a sequence number. See docs/reference/mqtt-protocol.md.
package struct RouterEvent: Equatable, Sendable {
  package var kind: InboundEventKind
  package var agent: BorderAgentID
  /// 16 hex digits; of `announce` and `dataset`.
  package var extendedAddress: String?
  package var dataset: OperationalDataset?
  /// The network that it is on. Nil while Thread is disabled: a stopped router goes on naming its previous one.
  package var network: ExtendedPANID?
  package var threadState: ThreadState?
  /// Of `offline`.
  package var reason: OfflineReason?
  /// Of `announce` and `dataset`: why what threadkeeper has sent is not used; one of `AdoptionState.reported`.
  package var adoptionFailure: AdoptionState?

  package init(_ kind: InboundEventKind, of agent: BorderAgentID, reason: OfflineReason? = nil) {
    self.kind = kind
    self.agent = agent
    self.reason = reason
  }

  /// With what a report says of Thread, and for `announce` and `dataset` with all of it.
  init(_ kind: InboundEventKind, _ report: RouterReport, dataset: OperationalDataset? = nil) {
    self.init(kind, of: report.agent)
    threadState = report.state
    network = report.state == .disabled ? nil : report.network
    guard kind != .heartbeat else { return }
    extendedAddress = report.extendedAddress
    self.dataset = dataset
  }
}

// SPDX-License-Identifier: Apache-2.0

import Broker
import Home
import ThreadDataset
import Wire

/// An event of a border router, before it has a sequence number. See docs/reference/mqtt-protocol.md.
struct RouterEvent: Equatable, Sendable {
  var kind: InboundEventKind
  var agent: BorderAgentID
  /// 16 hex digits; of `announce` and `dataset`.
  var extendedAddress: String?
  var dataset: OperationalDataset?
  /// The network that it is on. Nil while Thread is disabled: a stopped router goes on naming its previous one.
  var network: ExtendedPANID?
  var threadState: ThreadState?
  var partition: UInt32?
  /// Of `offline`.
  var reason: OfflineReason?
  /// Of `offline`, with the reason `failing`.
  var httpStatus: Int?
  /// Of `announce` and `dataset`: why what threadkeeper has sent is not used; one of `AdoptionState.reported`.
  var adoptionFailure: AdoptionState?
  /// Of `announce` and `dataset`: why the router's dataset is of no use. For the log.
  var flaw: String?

  init(_ kind: InboundEventKind, of agent: BorderAgentID, reason: OfflineReason? = nil) {
    (self.kind, self.agent, self.reason) = (kind, agent, reason)
  }

  /// With what a report says of Thread, and for `announce` and `dataset` with all of it.
  init(_ kind: InboundEventKind, _ report: RouterReport, dataset: OperationalDataset? = nil) {
    self.init(kind, of: report.agent)
    threadState = report.state
    partition = report.partition
    network = report.state == .disabled ? nil : report.network
    guard kind != .heartbeat else { return }
    extendedAddress = report.extendedAddress
    flaw = report.dataset.flaw
    self.dataset = dataset
  }
}

/// What people call a router, for its announcements; what is nil stays as it was.
package struct RouterDescription: Sendable {
  package var name: String?
  package var vendor: String?
  package var model: String?
}

extension AgentEvent {
  init(_ event: RouterEvent, _ description: RouterDescription = .init()) {
    self.init(kind: event.kind)
    body.borderAgentID = event.agent
    if kind == .announce || kind == .dataset {
      body.name = description.name
      body.vendor = description.vendor
      body.model = description.model
    }
    body.extendedAddress = event.extendedAddress
    body.dataset = event.dataset?.hex
    body.network = event.network
    body.threadState = event.threadState
    body.partition = event.partition
    body.httpStatus = event.httpStatus
    body.reason = (event.reason?.word ?? event.adoptionFailure?.word)?.description
  }
}

import Broker
import Home
import ThreadDataset
import Wire

/// An event of a border router, before it has a sequence number. See docs/reference/mqtt-protocol.md.
struct RouterEvent: Equatable, Sendable {
  var kind: RouterMessage.Kind
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

  init(_ kind: RouterMessage.Kind, of agent: BorderAgentID, reason: OfflineReason? = nil) {
    (self.kind, self.agent, self.reason) = (kind, agent, reason)
  }

  /// With what a report says of Thread, and for `announce` and `dataset` with all of it.
  init(_ kind: RouterMessage.Kind, _ report: RouterReport, dataset: OperationalDataset? = nil) {
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

extension InboundEvent {
  init(_ event: RouterEvent, _ description: RouterDescription = .init()) {
    self.init(event.kind)
    agent = event.agent
    dataset = event.dataset.map { WireDataset($0.bytes) }
    if event.kind == .announce || event.kind == .dataset {
      message.name = description.name
      message.vendor = description.vendor
      message.model = description.model
    }
    message.extendedAddress = event.extendedAddress.flatMap { UInt64($0, radix: 16) }
    message.thread = ThreadReport(state: event.threadState, network: event.network, partition: event.partition)
    message.offlineReason = event.reason
    message.httpStatus = event.httpStatus.flatMap { UInt16(exactly: $0) }
    message.adoptionFailure = event.adoptionFailure
  }
}

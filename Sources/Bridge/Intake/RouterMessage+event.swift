// SPDX-License-Identifier: Apache-2.0

import Broker
import Home
import ThreadDataset

/// From an event as it is on the wire to what a home takes.
extension RouterMessage {
  /// - Parameters:
  ///   - dataset: of the event's dataset; nil where no Matter device can attach with it.
  ///   - signature: of the envelope that it came in.
  init(_ event: InboundEvent, dataset: DatasetSummary?, signature: Signature? = nil) {
    self.init(Kind(event.kind), Subject(event.subject))
    order =
      switch event.order {
      case .none: .none
      case .sequence(let number): .number(number)
      case .identifier(let text): .identifier(ExactName(text))
      }
    self.signature = signature
    name = event.name
    vendor = event.vendor
    model = event.model
    extendedAddress = event.extendedAddress?.reduce(0) { $0 << 8 | UInt64($1) }
    accessPoint = event.accessPoint
    ssid = event.ssid
    previousSSID = event.previousSSID
    self.dataset =
      dataset
      ?? event.partial?.extendedPANID.flatMap { network in
        // A router is listed without credentials.
        event.kind == .credentials
          ? DatasetSummary(network: network, name: event.partial?.networkName ?? "") : nil
      }
    lacks = event.partial?.missing ?? []
    thread = ThreadReport(
      state: event.threadState, network: event.currentNetwork, partition: event.partition)
    offlineReason = event.offlineReason
    httpStatus = event.httpStatus
    adoptionFailure = event.adoptionFailure
    borderAgent = event.borderAgent
    isPreferred = event.isPreferred
    trouble = event.trouble
  }
}

extension RouterMessage.Kind {
  fileprivate init(_ kind: InboundEventKind) {
    self =
      switch kind {
      case .announce: .announce
      case .dataset: .dataset
      case .leave: .leave
      case .heartbeat: .heartbeat
      case .offline: .offline
      case .ssid: .ssid
      case .credentials: .credentials
      }
  }
}

extension RouterMessage.Subject {
  fileprivate init(_ subject: InboundEvent.Subject) {
    self =
      switch subject {
      case .router(let agent): .router(agent)
      case .accessPoint(let name): .accessPoint(ExactName(name))
      case .network(let network): .network(network)
      case .agent(let name): .agent(ExactName(name))
      }
  }
}

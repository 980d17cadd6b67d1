// SPDX-License-Identifier: Apache-2.0

import Broker
import Home
import ThreadDataset

import enum Home.AdoptionState
import enum Home.OfflineReason
import enum Home.ThreadState

/// From an event as it is on the wire to what a home takes.
extension RouterMessage {
  /// - Parameters:
  ///   - dataset: of the event's dataset.
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
    self.dataset = dataset
    thread = ThreadReport(
      state: event.threadState.map { ThreadState($0) }, network: event.currentNetwork)
    offlineReason = event.offlineReason.map { OfflineReason($0) }
    adoptionFailure = event.adoptionFailure.flatMap { AdoptionState(reported: $0) }
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
      }
  }
}

extension RouterMessage.Subject {
  fileprivate init(_ subject: InboundEvent.Subject) {
    self =
      switch subject {
      case .router(let agent): .router(agent)
      case .accessPoint(let name): .accessPoint(ExactName(name))
      }
  }
}

extension ThreadState {
  fileprivate init(_ wire: Broker.ThreadState) {
    self =
      switch wire {
      case .disabled: .disabled
      case .detached: .detached
      case .child: .child
      case .router: .router
      case .leader: .leader
      }
  }
}

extension OfflineReason {
  fileprivate init(_ wire: Broker.OfflineReason) {
    self =
      switch wire {
      case .stopped: .stopped
      case .unreachable: .unreachable
      case .frozen: .frozen
      case .untrusted: .untrusted
      case .silent: .silent
      }
  }
}

extension AdoptionState {
  /// - Returns: nil for what no router reports.
  fileprivate init?(reported wire: Broker.AdoptionState) {
    switch wire {
    case .pendingChange: self = .pendingChange
    case .refused: self = .refused
    case .noAnswer: self = .noAnswer
    case .notAttached: self = .notAttached
    default: return nil
    }
  }
}

// SPDX-License-Identifier: Apache-2.0

/// The fields of an event by name, for those that take them from elsewhere than an event's own JSON.
package enum InboundEventField: String, CaseIterable, Sendable {
  case borderAgentID = "border_agent_id"
  case dataset
  case name, vendor, model
  case extendedAddress = "ext_address"
  case accessPoint = "access_point"
  case ssid
  case previousSSID = "previous_ssid"
  case currentNetwork = "ext_pan_id"
  case threadState = "thread_state"
  case reason
  case sequence = "seq"
  case identifier = "id"

  /// What an event of this kind reads.
  package static func all(of kind: InboundEventKind) -> [InboundEventField] {
    switch kind {
    case .announce, .dataset:
      [
        .borderAgentID, .dataset, .name, .vendor, .model, .extendedAddress, .accessPoint,
        .currentNetwork, .threadState, .sequence, .identifier,
      ]
    case .heartbeat: [.borderAgentID, .currentNetwork, .threadState, .sequence, .identifier]
    case .offline: [.borderAgentID, .reason, .sequence, .identifier]
    case .leave: [.borderAgentID, .sequence, .identifier]
    case .ssid: [.borderAgentID, .accessPoint, .ssid, .previousSSID]
    }
  }

  /// What an event of this kind cannot be without. An `ssid` event can have an access point in place of the id.
  package static func needed(by kind: InboundEventKind) -> [InboundEventField] {
    switch kind {
    case .announce, .heartbeat, .offline, .leave: [.borderAgentID]
    case .dataset: [.borderAgentID, .dataset]
    case .ssid: [.borderAgentID, .ssid]
    }
  }
}

extension InboundEventDecoder {
  /// An event of these fields, with the checks of one that came as JSON.
  ///
  /// - Parameter values: `seq` in decimal digits.
  /// - Throws: a `Rejection` that names the code and the field.
  package func event(
    _ kind: InboundEventKind, _ values: [InboundEventField: String]
  ) throws(Rejection) -> InboundEvent {
    var fields = InboundEventFields()
    for (field, value) in values { try fields.set(field, to: value) }
    return try event(kind, fields)
  }
}

extension InboundEventFields {
  fileprivate mutating func set(
    _ field: InboundEventField, to value: String
  ) throws(Rejection) {
    switch field {
    case .borderAgentID: borderAgentID = value
    case .dataset: dataset = value
    case .name: name = value
    case .vendor: vendor = value
    case .model: model = value
    case .extendedAddress: extendedAddress = value
    case .accessPoint: accessPoint = value
    case .ssid: ssid = value
    case .previousSSID: previousSSID = value
    case .currentNetwork: currentNetwork = value
    case .threadState: threadState = value
    case .reason: reason = value
    case .identifier: identifier = value
    case .sequence:
      guard let number = UInt64(value) else {
        throw Rejection(
          .wrongType, field: "seq", message: "expected a whole number from 0 to 2^64-1")
      }
      sequence = number
    }
  }
}

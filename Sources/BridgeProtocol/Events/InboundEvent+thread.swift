// SPDX-License-Identifier: Apache-2.0

import ThreadDataset

/// The fields that say where a router is, how its Thread interface is, why it is offline, and why it does not use what
/// it was sent.
extension InboundEvent {
  /// Reads the fields that belong to this kind of event; in others they are ignored, like every field that
  /// is not listed.
  mutating func takeThreadReport(of fields: InboundEventFields) throws(Rejection) {
    switch kind {
    case .announce, .dataset, .heartbeat:
      currentNetwork = try Self.network(fields.currentNetwork)
      threadState = try Self.value(fields.threadState, "thread_state", of: ThreadState.allCases)
      if kind != .heartbeat {
        adoptionFailure = try Self.value(fields.reason, "reason", of: AdoptionState.reported)
      }
    case .offline:
      offlineReason = try Self.value(fields.reason, "reason", of: OfflineReason.reported)
    case .leave, .ssid: break
    }
  }

  private static func network(_ text: String?) throws(Rejection) -> ExtendedPANID? {
    guard let text else { return nil }
    guard let network = ExtendedPANID(hex: text) else {
      throw Rejection(
        .badValue, field: "ext_pan_id", message: "expected 16 hex digits (8 bytes)")
    }
    return network
  }

  private static func value<Value: RawRepresentable<String>>(
    _ text: String?, _ field: String, of values: [Value]
  ) throws(Rejection) -> Value? {
    guard let text else { return nil }
    // The value found is not repeated: it may be anything.
    guard let value = values.first(where: { $0.rawValue == text }) else {
      throw Rejection(
        .badValue, field: field,
        message: "expected one of \(values.map(\.rawValue).joined(separator: ", "))")
    }
    return value
  }
}
